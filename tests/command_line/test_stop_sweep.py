"""Ctrl-C and SIGTERM in the middle of a sweep whose jobs are in other processes."""

from __future__ import annotations

import os
import signal
import time

import pytest

from workspace import SLEEPER, SMALL


@pytest.mark.parametrize(
    ("how", "reaches"), [(signal.SIGINT, "all"), (signal.SIGTERM, "the first")]
)
def test_the_runs_of_a_stopped_joblib_sweep_are_marked(workspace, how, reaches):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="needs the extra joblib")
    (workspace.folder / "sleeper.py").write_text(SLEEPER)
    sweep = workspace.start(
        "-m",
        "hydra/launcher=joblib",
        "hydra.launcher.n_jobs=2",
        "method=custom",
        "method._target_=sleeper.Sleeper",
        *SMALL,
        "k=2,3,4",
    )
    deadline = time.monotonic() + 120
    while len(list(workspace.folder.glob("began_*"))) < 2:
        assert sweep.poll() is None, sweep.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (os.killpg if reaches == "all" else os.kill)(sweep.pid, how)
    _, errors = sweep.communicate(timeout=40)  # which every process of the sweep holds open
    assert sweep.returncode == (130 if how is signal.SIGINT else 143), errors
    assert "stopped." in errors.splitlines()  # whatever the processes of joblib say after it
    assert [run.info.status for run in workspace.runs()] == ["KILLED", "KILLED"]
