"""What an endpoint can't do: take its time with an answer, or fill the memory."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from chat_reading import ANSWERS, Reading
from engram_hydra.errors import ReaderError
from engram_hydra.readers.bounded_client import MAX_BYTES

from chat_server import ChatServer, Fault


@pytest.mark.parametrize("fault", ["slow_headers", "slow_body", "slow_error"])
def test_the_time_is_for_the_whole_answer(tmp_path: Path, fault: Fault) -> None:
    """A byte comes every 0.1 s, for ever, so that no single read takes long."""
    with ChatServer(then=fault) as server:
        reading = Reading(server.url, tmp_path, timeout=0.5, retries=1)
        started = time.monotonic()
        with pytest.raises(ReaderError, match=r"the last one: no whole answer within 0\.5 s\)"):
            reading.answers()
        assert 1 <= time.monotonic() - started < 5
        server.then = "none"
        assert reading.answers() == ANSWERS[:1]


@pytest.mark.parametrize("fault", ["endless", "endless_error"])
def test_the_size_has_a_limit(tmp_path: Path, fault: Fault) -> None:
    with ChatServer(then=fault) as server:
        with pytest.raises(ReaderError, match=r"a reply of more than 4,194,304 bytes\)"):
            Reading(server.url, tmp_path, retries=1).answers()
        assert len(server.requests) == 2


@pytest.mark.parametrize(("size", "taken"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_what_counts_is_the_size_after_decompression(
    tmp_path: Path, size: int, taken: bool
) -> None:
    class Server(ChatServer):
        def encoded(self, body: bytes) -> tuple[bytes, str]:
            return gzip.compress(body.ljust(size)), "gzip"

    with Server() as server:
        reading = Reading(server.url, tmp_path, retries=0)
        if taken:
            assert reading.answers() == ANSWERS[:1]
        else:
            with pytest.raises(ReaderError, match="a reply of more than"):
                reading.answers()
