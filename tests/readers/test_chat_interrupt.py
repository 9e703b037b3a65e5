"""Ctrl-C while an endpoint hangs: the reader is gone at once, and says nothing untrue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chat_server import ChatServer, Fault

INTERRUPTED = 130

ASKING = """
import logging, signal, sys
from pathlib import Path
from chat_reading import BATCH, FakeOptions
from engram_hydra.readers.answer_cache import AnswerCache
from engram_hydra.readers.openai_chat import ChatReader

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs of the background
logging.basicConfig(level=logging.INFO)
reader = ChatReader(FakeOptions(sys.argv[1], concurrency=3), AnswerCache(Path(sys.argv[2])))
try:
    reader.answers(BATCH, 0)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("fault", ["hang", "slow_body", "server_error"])
def test_an_interrupt_ends_it_at_once(tmp_path: Path, fault: Fault) -> None:
    """While it waits for an endpoint that hangs or trickles, or between two tries."""
    tests = str(Path(__file__).parents[1])
    with ChatServer("none", then=fault) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", ASKING, server.url, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([tests, *filter(None, sys.path)])},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while len(server.requests) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        started = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        took = time.monotonic() - started
    assert process.returncode == INTERRUPTED, said
    assert took < 2
    assert "Traceback" not in said
    assert ("asking again" in said) is (fault == "server_error")
    # One answer, three asked for when it ended: nothing was asked afterwards.
    assert len(server.requests) == 4
