"""A sweep that is killed again and again, started anew each time, and what is left in the end."""

from __future__ import annotations

import csv
import io
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from typing import Any

from filelock import FileLock

from workspace import Workspace

SWEEP = ("-m", "ablation=none,no_heirs,no_calc,no_immune", "seed=0,1,2,3,4")
CELLS = 20
COSTS = {"write_seconds", "read_ms_per_query"}  # times, which no two sweeps share

# Run before the command: the process kills itself at a moment that no clock would hit.
MOMENTS = {
    "as the store's tables are made": """
from mlflow.store.db import utils
utils._upgrade_db = die
""",
    "inside a write of vectors": """
import sqlite3
from contextlib import closing
from engram_hydra.embedders.cache import VectorCache
def half(self, rows):
    connection = self._connect()
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows[: len(rows) // 2])
    connection.execute("PRAGMA cache_spill = 1")
    die()
VectorCache._write = half
""",
    "among the artifacts": """
from mlflow import MlflowClient
log_artifact, calls = MlflowClient.log_artifact, []
def some(self, *args):
    calls.append(args)
    die() if len(calls) == 12 else log_artifact(self, *args)
MlflowClient.log_artifact = some
""",
    "between the artifacts and the completion tag": """
from mlflow import MlflowClient
set_tag, calls = MlflowClient.set_tag, []
def third(self, run_id, key, value):
    if key == "engram.complete":
        calls.append(run_id)
    die() if len(calls) == 3 else set_tag(self, run_id, key, value)
MlflowClient.set_tag = third
""",
}
DIE = "import os, signal\ndef die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"


def undisturbed(workspace: Workspace) -> float:
    """One sweep to its end, and how many seconds it took."""
    start = time.monotonic()
    workspace.ok(*SWEEP)
    return time.monotonic() - start


def kill_at(workspace: Workspace, moment: str) -> None:
    """Start the sweep, which kills itself at the moment; that it does is part of the test."""
    process = workspace.start(*SWEEP, before=DIE + MOMENTS[moment])
    output, errors = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL, f"{moment} never came:\n{output}\n{errors}"


def kill_after(workspace: Workspace, seconds: float) -> bool:
    """Start the sweep and kill it and all of its processes; false if it was over before."""
    process = workspace.start(*SWEEP)
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    over = process.poll() is not None
    if not over:
        os.killpg(process.pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == (0 if over else -signal.SIGKILL), f"{output}\n{errors}"
    return not over


def kill_at_random(workspace: Workspace, times: int, longest: float, seed: int) -> list[float]:
    """Kill the sweep so many times; the seconds after which it was. ``longest`` is an undisturbed one's."""
    draw = random.Random(seed)
    after: list[float] = []
    while len(after) < times:
        seconds = draw.uniform(0.1, longest)
        if kill_after(workspace, seconds):
            after.append(seconds)
        else:  # all is done: what is left of the kills has to have something to hit
            longest = seconds
    return after


def same(killed: Workspace, whole: Workspace) -> None:
    """All that must be as in an undisturbed sweep, and nothing left behind."""
    ours, theirs = killed.found(), whole.found()
    assert len(theirs) == CELLS
    assert ours == theirs
    assert vectors(killed) == vectors(whole)
    assert table(killed) == table(whole)
    locks = list(killed.folder.rglob("*.lock"))
    assert locks
    for lock in locks:
        with FileLock(lock, timeout=0):  # held by nobody
            pass
    assert not list(killed.folder.rglob("*-journal")), "a journal is left of a write"


def vectors(workspace: Workspace) -> list[Any]:
    """The rows of the cache in the order of their keys: that of its pages is the order of the writes."""
    (file,) = workspace.cache.rglob("*.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute("SELECT * FROM vectors ORDER BY key").fetchall()


def table(workspace: Workspace) -> list[dict[str, str]]:
    """The report's rows, times aside."""
    workspace.ok(module="engram_hydra.aggregate")
    (file,) = workspace.folder.glob("outputs/aggregate/*/*/report.csv")
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    assert rows
    return [row for row in rows if row["metric"] not in COSTS]
