"""Which earlier runs stand for a new one, and that two processes at one cell take turns."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from engram_hydra.errors import ExistingRunError, TrackingError
from engram_hydra.existing import alone, standing_run
from engram_hydra.tracking import Store

TAGS = {
    "engram.run_key": "0123456789abcdef" * 4,
    "engram.variant": "as_shipped",
    "engram.as_shipped": "true",
    "engram.exploratory": "false",
    "engram.git_dirty": "false",
}
KEY = TAGS["engram.run_key"]

HOLDER = """
import sys, time
from pathlib import Path
from engram_hydra.existing import alone

with alone(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture
def store(tmp_path: Path, store_template: Path) -> Store:
    shutil.copy(store_template, tmp_path / "mlflow.db")
    return Store(f"sqlite:///{tmp_path / 'mlflow.db'}", str(tmp_path / "artifacts"), "engram_hydra")


def complete(store: Store, **changed: str) -> str:
    """Id of a run that ended well, its tags as TAGS but for some."""
    tags = TAGS | {f"engram.{name}": value for name, value in changed.items()}
    with store.run("n", tags, {}) as record:
        record.files["per_question.jsonl"] = "{}\n"
    return record.run_id


def lose_file(store: Store, run_id: str) -> None:
    artifacts = store.client.get_run(run_id).info.artifact_uri.removeprefix("file://")
    Path(artifacts, "per_question.jsonl").unlink()


def test_a_complete_run_stands_for_the_next_unless_one_says_rerun(store: Store) -> None:
    assert standing_run(store, TAGS, "skip") is None
    run_id = complete(store)
    assert standing_run(store, TAGS, "skip") == run_id
    assert standing_run(store, TAGS, "rerun") is None
    with pytest.raises(ExistingRunError, match=f"run {run_id} of .* is this very run, complete"):
        standing_run(store, TAGS, "fail")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda store, id: store.client.set_terminated(id, "RUNNING"), "it is RUNNING"),
        (lambda store, id: store.client.set_terminated(id, "FAILED"), "it is FAILED"),
        (lambda store, id: store.client.set_terminated(id, "KILLED"), "it is KILLED"),
        (lambda store, id: store.client.delete_tag(id, "engram.complete"), "no completion tag"),
        (lose_file, "its artifact per_question.jsonl is missing or cut short"),
    ],
    ids=["running", "failed", "killed", "no completion tag", "missing artifact"],
)
def test_whatever_is_not_complete_stands_for_nothing(
    store: Store, spoil: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = complete(store)
    run_id = complete(store)
    spoil(store, run_id)
    caplog.set_level("INFO", "engram_hydra")
    assert standing_run(store, TAGS, "skip") == good
    assert f"run {run_id} is no result for this one: " in caplog.text
    assert said in caplog.text
    spoil(store, good)
    assert standing_run(store, TAGS, "fail") is None


@pytest.mark.parametrize(
    ("label", "value"),
    [("variant", "tide_w_0.10"), ("as_shipped", "false"), ("exploratory", "true")],
)
def test_a_run_that_a_report_would_place_elsewhere_stands_for_nothing(
    store: Store, label: str, value: str
) -> None:
    """As where a change of values was declared in ``conf/`` after its first run."""
    complete(store, **{label: value})
    assert standing_run(store, TAGS, "skip") is None


def test_a_run_of_a_dirty_tree_stands_for_another_of_one_only(store: Store) -> None:
    """For a report ignores it, and running it again once all is committed would mend that."""
    dirty = complete(store, git_dirty="true")
    assert standing_run(store, TAGS, "skip") is None
    assert standing_run(store, TAGS | {"engram.git_dirty": "true"}, "skip") == dirty


def hold(folder: Path, key: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), key], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_only_one_process_is_at_a_run_until_it_dies(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "engram_hydra")
    with alone(tmp_path, KEY):
        pass
    assert caplog.text == ""
    holder = hold(tmp_path, KEY)
    other = hold(tmp_path, "f" * 64)  # which is no hindrance
    other.kill()
    timer = threading.Timer(0.5, holder.send_signal, [signal.SIGKILL])
    timer.start()
    with alone(tmp_path, KEY):
        assert holder.wait(timeout=5) == -signal.SIGKILL
    assert "another process is at this very run: waiting for it" in caplog.text
    other.wait()


def test_a_lock_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("a file")
    told = r"can't be had .*: make its folder writable"
    with pytest.raises(TrackingError, match=told), alone(tmp_path, KEY):
        pass
