"""Runs in MLflow: what is left of one that ends well, badly, or not at all."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from engram_hydra import tracking
from engram_hydra.datasets.dataset import Dataset, Item, Question
from engram_hydra.errors import EngramError, TrackingError
from engram_hydra.tracking import Store, flatten, ui_command


def open_store(folder: Path, experiment: str = "engram_hydra") -> Store:
    return Store(f"sqlite:///{folder / 'mlflow.db'}", str(folder / "artifacts"), experiment)


@pytest.fixture
def store(tmp_path, store_template):
    """A store of its own for each test."""
    (tmp_path / "mlruns").mkdir()
    shutil.copy(store_template, tmp_path / "mlruns" / "mlflow.db")
    return open_store(tmp_path / "mlruns")


@pytest.fixture
def folder(tmp_path):
    """A job's output folder, with one file in it."""
    made = tmp_path / "job"
    (made / "below").mkdir(parents=True)
    (made / "rows.jsonl").write_text('{"ä": 1}\n', encoding="utf-8")
    (made / "below" / "more.txt").write_text("more")
    return made


def only_run(store):
    (run,) = store.runs()
    return run


def test_a_run_that_ends_well_leaves_all_of_it(store, folder):
    params = {f"p{number}": number for number in range(250)} | {"none": None, "flag": True}
    tags = {"engram.method": "bm25", "engram.variant": ""}
    with store.run("a name", folder, tags, params) as record:
        record.metrics |= {"share": 0.25, "count": 3}
        record.tags["engram.inert"] = "resist"
    run = only_run(store)
    assert run.info.run_id == record.run_id
    assert run.info.run_name == "a name"
    assert run.info.status == "FINISHED"
    assert run.info.end_time >= run.info.start_time
    assert run.data.metrics == {"share": 0.25, "count": 3.0}
    assert run.data.params == {name: str(value) for name, value in params.items()}
    expected = tags | {"engram.inert": "resist", "engram.complete": "true"}
    assert expected.items() <= run.data.tags.items()
    assert "engram.error" not in run.data.tags
    assert store.read_artifact(record.run_id, "rows.jsonl") == '{"ä": 1}\n'
    assert store.read_artifact(record.run_id, "below/more.txt") == "more"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("no such luck"), "FAILED"),
        (EngramError("a mistake"), "FAILED"),
        (KeyboardInterrupt("no such luck"), "KILLED"),
        (SystemExit(3), "KILLED"),
    ],
    ids=repr,
)
def test_a_run_that_ends_badly_is_marked_with_its_traceback(store, folder, caplog, error, status):
    with pytest.raises(type(error)) as raised, store.run("n", folder, {"engram.k": "3"}, {}) as rec:
        rec.metrics["share"] = 1.0
        raise error
    assert raised.value is error
    run = only_run(store)
    assert run.info.status == status
    assert run.data.tags["engram.k"] == "3"
    assert "engram.complete" not in run.data.tags
    assert type(error).__name__ in run.data.tags["engram.error"]
    assert run.data.metrics == {}
    assert store.read_artifact(rec.run_id, "rows.jsonl")  # what there is, to look into
    assert "Traceback" in caplog.text
    assert type(error).__name__ in caplog.text


def test_the_end_of_a_long_traceback_is_kept(store, folder):
    with pytest.raises(ValueError, match="x"), store.run("n", folder, {}, {}):
        raise ValueError("x" * 20_000 + " the reason")
    assert only_run(store).data.tags["engram.error"].endswith("the reason\n")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_finite_number_is_refused_and_nothing_logged(store, folder, value):
    told = pytest.raises(EngramError, match="the metrics bad are not finite numbers")
    with told, store.run("n", folder, {}, {"p": 1}) as record:
        record.metrics |= {"good": 1.0, "bad": value}
    run = only_run(store)
    assert run.info.status == "FAILED"
    assert run.data.metrics == {}
    assert "engram.complete" not in run.data.tags


def test_complete_is_the_last_word(store, folder, monkeypatch):
    said = []
    for name in ("log_batch", "log_artifacts", "set_terminated", "set_tag"):
        real = getattr(store.client, name)

        def call(*arguments, name=name, real=real, **more):
            said.append((name, arguments[1:]))
            return real(*arguments, **more)

        monkeypatch.setattr(store.client, name, call)
    with store.run("n", folder, {}, {"p": 1}) as record:
        record.metrics["share"] = 1.0
    assert said[-1] == ("set_tag", ("engram.complete", "true"))
    assert said[-2] == ("set_terminated", ("FINISHED",))
    assert {name for name, _ in said[:-2]} == {"log_batch", "log_artifacts"}


@pytest.mark.parametrize("step", ["log_batch", "log_artifacts", "set_terminated", "set_tag"])
def test_a_run_whose_logging_fails_is_not_complete(store, folder, monkeypatch, caplog, step):
    """Whichever step the store refuses, also while the failure is being marked."""
    error = OSError("disk full")

    def refuse(*arguments, **more):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(store.client, step, refuse)
        with pytest.raises(OSError) as raised, store.run("n", folder, {}, {"p": 1}) as record:
            record.metrics["share"] = 1.0
    assert raised.value is error
    run = only_run(store)
    assert "engram.complete" not in run.data.tags
    assert run.info.status == ("RUNNING" if step == "set_terminated" else "FAILED")
    assert "disk full" in caplog.text


def test_a_failure_is_not_hidden_by_a_store_that_is_gone(store, folder, monkeypatch, caplog):
    def refuse(*arguments, **more):
        raise OSError("store gone")

    for name in ("set_terminated", "set_tag", "log_artifacts"):
        monkeypatch.setattr(store.client, name, refuse)
    with pytest.raises(RuntimeError, match="the reason"), store.run("n", folder, {}, {}):
        raise RuntimeError("the reason")
    assert "store gone" in caplog.text


def test_the_log_that_becomes_an_artifact_tells_how_it_ended(store, folder):
    handler = logging.FileHandler(folder / "job.log")
    logger = logging.getLogger("engram_hydra")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with store.run("n", folder, {}, {}) as well:
            pass
        with pytest.raises(ValueError, match="oh"), store.run("n", folder, {}, {}) as badly:
            raise ValueError("oh")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        handler.close()
    assert f"done: run {well.run_id}" in store.read_artifact(well.run_id, "job.log")
    assert "ValueError: oh" in store.read_artifact(badly.run_id, "job.log")


# Opening


@pytest.mark.parametrize(
    "uri", ["file:mlruns", "file:///tmp/mlruns", "mlruns", "./mlruns", "/tmp/mlruns", ""]
)
def test_a_file_store_is_refused_in_a_sentence(tmp_path, uri):
    with pytest.raises(TrackingError, match="use sqlite:////absolute/path/") as refused:
        Store(uri, str(tmp_path / "artifacts"), "e")
    assert f"tracking.uri={uri} is a file store" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("database", "artifacts"),
    [
        ("mlflow.db", "file/artifacts"),  # below a file
        ("file/mlflow.db", "artifacts"),
        ("folder", "artifacts"),  # a folder where the database should be
        ("file", "artifacts"),  # a file that is no database
    ],
)
def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path, database, artifacts):
    (tmp_path / "file").write_text("no database " * 100)
    (tmp_path / "folder").mkdir()
    start = time.monotonic()
    with pytest.raises(TrackingError) as refused:
        Store(f"sqlite:///{tmp_path / database}", str(tmp_path / artifacts), "e")
    assert time.monotonic() - start < 20  # MLflow by itself tries for two minutes
    assert "can't be opened for writing" in str(refused.value)
    assert "tracking.uri" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_database_that_may_only_be_read_is_told(tmp_path, store, monkeypatch):
    """Root may write to any file, so SQLite itself is told to open it for reading."""
    import sqlite3

    real = sqlite3.connect

    def read_only(file, **more):
        return real(f"file:{file}?mode=ro", uri=True, **more)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(TrackingError, match="readonly"):
        open_store(tmp_path / "mlruns")


def test_an_experiment_is_made_once_and_the_look_leaves_no_trace(store, tmp_path):
    import sqlite3

    again = open_store(tmp_path / "mlruns")
    with closing(sqlite3.connect(tmp_path / "mlruns" / "mlflow.db")) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
    assert ("runs",) in tables
    assert not [name for (name,) in tables if name.startswith("engram")]
    assert again.experiment_id == store.experiment_id
    other = open_store(tmp_path / "mlruns", "other")
    assert other.experiment_id != store.experiment_id
    names = [experiment.name for experiment in store.client.search_experiments()]
    assert sorted(names) == ["Default", "engram_hydra", "other"]


def test_a_deleted_experiment_is_told(store, tmp_path):
    store.client.delete_experiment(store.experiment_id)
    with pytest.raises(TrackingError, match=f"experiments restore -x {store.experiment_id}"):
        open_store(tmp_path / "mlruns")


def test_names_of_folders_may_be_awkward(tmp_path, store_template, folder):
    awkward = tmp_path / "a folder #1 with ümlaut"
    awkward.mkdir()
    shutil.copy(store_template, awkward / "mlflow.db")
    store = open_store(awkward)
    with store.run("n", folder, {}, {}) as record:
        pass
    assert store.read_artifact(record.run_id, "below/more.txt") == "more"
    assert (awkward / "artifacts" / record.run_id / "artifacts" / "rows.jsonl").is_file()


OPEN = """
import sys
from pathlib import Path
from engram_hydra.tracking import Store
folder = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
store = Store(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}", str(folder / sys.argv[2]), "e")
with store.run("n", Path(sys.argv[3]), {}, {}):
    pass
print(store.experiment_id)
"""


@pytest.mark.slow
def test_four_processes_may_make_one_store_at_once(tmp_path, folder):
    """Also where their artifacts lie apart."""
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(tmp_path), artifacts, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for artifacts in ("mlruns/artifacts", "mlruns/artifacts", "elsewhere/a", "elsewhere/a")
    ]
    for job in jobs:
        assert job.stdout.readline() == "ready\n"
    for job in jobs:
        job.stdin.write("\n")
        job.stdin.flush()
    ended = [job.communicate(timeout=300) for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 4, ended
    assert len({out for out, _ in ended}) == 1
    store = Store(f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}", str(tmp_path / "a"), "e")
    assert len(list(store.runs("tags.`engram.complete` = 'true'"))) == 4


# Finding


def test_all_runs_are_found_newest_first_whatever_a_page_holds(store, folder, monkeypatch):
    monkeypatch.setattr(tracking, "RUNS_AT_ONCE", 2)
    made = [
        store.client.create_run(
            store.experiment_id, start_time=1000 + number, tags={"parity": str(number % 2)}
        ).info.run_id
        for number in range(7)
    ]
    assert [run.info.run_id for run in store.runs()] == made[::-1]
    odd = [run.info.run_id for run in store.runs("tags.parity = '1'")]
    assert odd == made[1::2][::-1]
    assert list(store.runs("tags.parity = '2'")) == []


def test_more_than_a_thousand_runs_are_asked_for_page_by_page(store, monkeypatch):
    class Page(list):
        token = None

    everything = list(range(2500))
    asked = []

    def search(experiments, filter_string, *, max_results, page_token, **more):
        assert experiments == [store.experiment_id]
        start = int(page_token or 0)
        asked.append((start, max_results))
        page = Page(everything[start : start + min(max_results, 1000)])
        page.token = str(start + len(page)) if start + len(page) < 2500 else None
        return page

    monkeypatch.setattr(store.client, "search_runs", search)
    assert list(store.runs()) == everything
    assert asked == [(0, 1000), (1000, 1000), (2000, 1000)]


def test_the_newest_run_with_a_tag_counts_complete_or_not(store, folder):
    assert store.newest("engram.run_key", "x") is None
    with store.run("n", folder, {"engram.run_key": "x"}, {}):
        pass
    time.sleep(0.002)  # start times are in milliseconds
    bad = store.run("n", folder, {"engram.run_key": "x"}, {})
    with pytest.raises(ValueError, match="oh"), bad as failed:
        raise ValueError("oh")
    time.sleep(0.002)
    with store.run("n", folder, {"engram.run_key": "y"}, {}) as other:
        pass
    assert store.newest("engram.run_key", "x") == failed.run_id
    assert store.newest("engram.run_key", "y") == other.run_id


def test_an_artifact_that_is_gone_is_told(store, folder):
    with store.run("n", folder, {}, {}) as record:
        pass
    with pytest.raises(TrackingError, match=f"run {record.run_id} has no readable artifact no.txt"):
        store.read_artifact(record.run_id, "no.txt")


def test_the_data_set_is_the_runs_input(store, folder):
    item = Item("a", 0, "text")
    question = Question("q", "text?", ("answer",), "single_hop")
    data = Dataset("tiny", (item, item), (question,), (), "ab" * 32, "made up")
    with store.run("n", folder, {}, {}) as record:
        store.log_dataset(record.run_id, data)
    (given,) = only_run(store).inputs.dataset_inputs
    assert given.dataset.name == "tiny"
    assert given.dataset.digest == "ab" * 18
    assert given.dataset.source == '{"uri": "made up"}'
    assert given.dataset.profile == '{"items": 2, "questions": 1}'
    assert [(tag.key, tag.value) for tag in given.tags] == [("mlflow.data.context", "evaluation")]


# Words


def test_flatten():
    nested = {"a": 1, "b": {"c": None, "d": {"e": [1, 2]}}, "empty": {}}
    assert dict(flatten(nested)) == {"a": 1, "b.c": None, "b.d.e": [1, 2]}


def test_the_command_can_be_pasted_into_a_shell(tmp_path):
    uri = f"sqlite:///{tmp_path}/it's a folder/mlflow.db"
    said = subprocess.run(
        ["sh", "-c", f"mlflow() {{ printf '%s\\n' \"$@\"; }}; {ui_command(uri)}"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    ).stdout
    assert said.splitlines() == ["ui", "--backend-store-uri", uri]
    assert ui_command("sqlite:////a/mlflow.db").endswith(" sqlite:////a/mlflow.db")
