"""Ctrl-C and SIGTERM: the run ends as KILLED, soon, and with it all of its processes."""

from __future__ import annotations

import os
import signal
import time

import pytest

from longmemeval_file import entry, write
from workspace import SLEEPER


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_run_is_marked_and_ends_soon(workspace, tmp_path, workers, how, code):
    (workspace.folder / "sleeper.py").write_text(SLEEPER)
    histories = [entry(number, sessions=30) for number in range(8)]
    for history in histories:  # each is more than a pipe holds
        for session in history["haystack_sessions"]:
            session[0]["content"] *= 700
    file = write(tmp_path, histories)
    run = workspace.start(
        "method=custom",
        "method._target_=sleeper.Sleeper",
        "dataset=longmemeval_sample",
        f"dataset.path={file}",
        f"workers={workers}",
    )
    deadline = time.monotonic() + 60
    while len(list(workspace.folder.glob("began_*"))) < workers:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(run.pid, how)
    _, errors = run.communicate(timeout=20)  # which every process of the run holds open
    assert run.returncode == code
    assert errors.splitlines()[-1] == "stopped."
    (marked,) = workspace.runs()
    assert marked.info.status == "KILLED"
    assert ("Terminated" if how is signal.SIGTERM else "KeyboardInterrupt") in marked.data.tags[
        "engram.error"
    ]
    assert "engram.complete" not in marked.data.tags
    assert "Traceback" in workspace.artifact(marked, "engram_hydra.log")
