"""Surroundings that fail: a sentence, what was logged stays, and the same command goes on afterwards."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from faulty_disk import read_only, small_disk
from workspace import SMALL, Workspace

BM25 = ("method=bm25", *SMALL)
EARLIER = (*BM25, "k=4")


def logged(workspace: Workspace) -> dict[str, tuple[Any, str]]:
    """The complete runs: all that is in the store, and what they found."""
    return {
        run.info.run_id: (run.to_dictionary(), workspace.artifact(run, "per_question.jsonl"))
        for run in workspace.runs(complete="true")
    }


def refused(workspace: Workspace, *arguments: str, module: str = "engram_hydra") -> str:
    """What a command said that had to fail: no traceback, and no complete run gone or added."""
    before = logged(workspace)
    done = workspace.run(*arguments, module=module)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith(".\n")
    assert logged(workspace) == before
    return done.stderr


def goes_on(workspace: Workspace, *arguments: str) -> None:
    """The command, started again, adds the run it is of to those that are complete."""
    before = logged(workspace)
    workspace.ok(*arguments)
    after = logged(workspace)
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def shell(
    workspace: Workspace, script: str, *arguments: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What became of a run that a line of shell starts as ``"$@"``."""
    return subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-m", "engram_hydra", *arguments],
        cwd=folder or workspace.folder,
        env=workspace._environment({}),
        capture_output=True,
        text=True,
        timeout=600,
    )


# Disks


@pytest.mark.parametrize(
    ("option", "free", "words"),
    [
        ("paths.outputs", 0, "the job's output folder can't be made or written (No space left"),
        ("tracking.artifacts", 12 << 10, "can't be logged to"),
        ("tracking.uri", 0, "can't be opened for writing (database or disk is full)"),
        ("tracking.uri", 24 << 10, "can't be logged to"),
        ("tracking.uri", 40 << 10, "can't be logged to"),
    ],
)
def test_a_full_disk(workspace, option, free, words):
    disk = workspace.folder / "disk"
    place = str(disk)
    with small_disk(disk) as leave:
        if option == "tracking.uri":
            database = workspace.folder / "mlruns" / "mlflow.db"
            shutil.move(database, disk)
            database.symlink_to(disk / "mlflow.db")  # where the workspace looks
            place = f"sqlite:///{disk / 'mlflow.db'}"
        given = f"{option}={place}"
        workspace.ok(*EARLIER, given)
        leave(free)
        assert words in refused(workspace, *BM25, given)
        leave(2 << 20)
        goes_on(workspace, *BM25, given)


def test_a_log_that_finds_no_room(workspace):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    workspace.ok(*EARLIER)
    log = "hydra.job_logging.handlers.file.filename=/dev/full"
    first, second = refused(workspace, *BM25, log).splitlines()
    assert first.startswith("the job's log /dev/full can't be written (No space left on device): ")
    assert "can't be logged to" in second
    assert "No space left on device" in second
    goes_on(workspace, *BM25)


@pytest.mark.parametrize(
    ("folder", "words"),
    {
        "outputs": "set paths.outputs to a folder that can be",
        "mlruns": "can't be opened for writing",
        "mlruns/artifacts": "mlruns/artifacts is read-only",
    }.items(),
)
def test_a_read_only_folder(workspace, folder, words):
    workspace.ok(*EARLIER)
    with read_only(workspace.folder / folder):
        # It would be a new file beside a database that MLflow only reads.
        done = workspace.run(*BM25)
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
        assert words in done.stderr
    goes_on(workspace, *BM25)


# Stores


def test_a_deleted_experiment_is_restored_as_it_was(workspace):
    from mlflow import MlflowClient

    workspace.ok(*BM25)
    (run,) = workspace.runs(complete="true")
    client = MlflowClient(f"sqlite:///{workspace.folder / 'mlruns' / 'mlflow.db'}")
    client.delete_experiment(run.info.experiment_id)
    for module in ("engram_hydra", "engram_hydra.aggregate"):
        done = workspace.run(*(BM25 if module == "engram_hydra" else ()), module=module)
        assert done.returncode == 1
        assert f"`mlflow experiments restore -x {run.info.experiment_id}`" in done.stderr
    client.restore_experiment(run.info.experiment_id)
    assert f"stood already: run {run.info.run_id} of" in workspace.ok(*BM25)
    assert len(workspace.runs()) == 1


def test_a_moved_store_just_works(workspace):
    workspace.ok(*BM25)
    (run,) = workspace.runs(complete="true")
    shutil.move(workspace.folder / "mlruns", workspace.folder / "elsewhere")
    said = workspace.ok(*BM25, "paths.mlruns=elsewhere")
    assert "the store was moved or copied" in said
    assert f"stood already: run {run.info.run_id} of" in said
    assert not (workspace.folder / "mlruns").exists()


def test_a_clock_that_jumped_back(workspace):
    """As seen after it: an earlier run is dated in the future."""
    import sqlite3

    workspace.ok(*BM25)
    (ahead,) = workspace.runs()
    date = datetime.now() + timedelta(days=400)
    with sqlite3.connect(workspace.folder / "mlruns" / "mlflow.db") as database:
        database.execute("UPDATE runs SET start_time = ?", (int(date.timestamp() * 1000),))
    database.close()
    said = workspace.ok(*BM25, "existing=rerun")
    assert f"run {ahead.info.run_id} is dated {date:%Y-%m-%d}" in said
    newer, older = workspace.runs(complete="true")
    assert older.info.run_id == ahead.info.run_id
    assert newer.data.tags["engram.supersedes"] == older.info.run_id
    assert newer.info.start_time > older.info.start_time
    assert f"stood already: run {newer.info.run_id} of" in workspace.ok(*BM25)


# Limits

HUNGRY = """
import numpy

from engram_hydra.memories.memory import Memory


class Hungry(Memory):
    def __init__(self, *, ties):
        pass

    def write(self, items):
        numpy.ones(1 << 50)  # 8 PiB, more than there are addresses for

    def read(self, queries, k):
        return []
"""


@pytest.mark.parametrize("sweep", [False, True], ids=["run", "sweep"])
def test_memory_that_runs_out(workspace, sweep):
    (workspace.folder / "hungry.py").write_text(HUNGRY)
    workspace.ok(*EARLIER)
    mine = ("method=custom", "method._target_=hungry.Hungry", *SMALL)
    said = workspace.run("-m", *mine, "k=2,3") if sweep else workspace.run(*mine)
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert ("MemoryError: Unable" if sweep else "memory ran out (Unable to alloc") in said.stderr
    assert {run.info.status for run in workspace.runs(method="custom")} == {"FAILED"}
    assert len(workspace.runs(complete="true")) == 1


def test_few_file_descriptors_are_enough(workspace):
    done = shell(workspace, 'ulimit -n 32; exec "$@"', *BM25)
    assert done.returncode == 0, done.stderr
    assert len(workspace.runs(complete="true")) == 1


def test_too_few_file_descriptors(workspace):
    done = shell(workspace, 'ulimit -n 6; exec "$@"', *BM25)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith(".\n")
    assert not workspace.runs(complete="true")
    goes_on(workspace, *BM25)


# What a process is started with


@pytest.mark.parametrize(
    "script",
    ['exec "$@" <&-', 'exec "$@" <&- >&- 2>&-', 'exec env -i "$@"'],
    ids=["no stdin", "no stdin, stdout and stderr", "no variable, not even HOME"],
)
def test_a_process_that_lacks_what_others_have(workspace, script):
    done = shell(workspace, script, *BM25)
    assert done.returncode == 0, done.stderr
    assert len(workspace.runs(complete="true")) == 1


ASCII = 'LC_ALL=C PYTHONUTF8=0 PYTHONIOENCODING=ascii exec "$@"'


def test_a_locale_of_ascii(workspace):
    done = shell(workspace, ASCII, *BM25)
    assert done.returncode == 0, done.stderr
    assert len(workspace.runs(complete="true")) == 1


def test_a_folder_that_the_locale_has_no_letters_for(workspace):
    folder = workspace.folder / "é"
    folder.mkdir()
    done = shell(workspace, ASCII, *BM25, folder=folder)
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.endswith(
        "/\\xe9 has letters that this locale lacks (ascii): set PYTHONUTF8=1, or LC_ALL=C.UTF-8."
    )
    assert not list(folder.iterdir())
    shutil.copytree(workspace.folder / "mlruns", folder / "mlruns")
    again = shell(workspace, ASCII.replace("=0", "=1"), *BM25, folder=folder)
    assert again.returncode == 0, again.stderr
    assert "Logging error" not in again.stderr
