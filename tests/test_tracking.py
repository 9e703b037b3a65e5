"""Runs in MLflow: what is left of one that ends well, badly, or not at all."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from engram_hydra import tracking
from engram_hydra.address import ui_command
from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.errors import EngramError, TrackingError
from engram_hydra.tracking import Store, flatten


def open_store(folder: Path, experiment: str = "engram_hydra") -> Store:
    return Store(f"sqlite:///{folder / 'mlflow.db'}", str(folder / "artifacts"), experiment)


@pytest.fixture
def store(tmp_path, store_template):
    """A store of its own for each test."""
    (tmp_path / "mlruns").mkdir()
    shutil.copy(store_template, tmp_path / "mlruns" / "mlflow.db")
    return open_store(tmp_path / "mlruns")


@pytest.fixture
def job_log(tmp_path) -> Iterator[Path]:
    """The file a job logs to, as Hydra sets it up, with another file beside it."""
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "beside.txt").write_text("not the run's")
    handler = logging.FileHandler(folder / "job.log")
    logging.getLogger().addHandler(handler)
    logging.getLogger("engram_hydra").setLevel(logging.INFO)
    yield folder / "job.log"
    logging.getLogger("engram_hydra").setLevel(logging.NOTSET)
    logging.getLogger().removeHandler(handler)
    handler.close()


def only_run(store):
    (run,) = store.runs()
    return run


def artifacts(run):
    """The names of all files the run left."""
    root = Path(run.info.artifact_uri.removeprefix("file://"))
    return {file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()}


def test_a_run_that_ends_well_leaves_all_of_it(store):
    params = {f"p{number}": number for number in range(250)} | {"none": None, "flag": True}
    tags = {"engram.method": "bm25", "engram.variant": ""}
    with store.run("a name", tags, params) as record:
        record.metrics |= {"share": 0.25, "count": 3}
        record.tags["engram.inert"] = "resist"
        record.files |= {"rows.jsonl": '{"ä": 1}\n', "below/more.txt": "more"}
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
    assert (
        store.read_artifact(store.client.get_run(record.run_id).info, "rows.jsonl") == '{"ä": 1}\n'
    )
    assert store.read_artifact(store.client.get_run(record.run_id).info, "below/more.txt") == "more"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("no such luck"), "FAILED"),
        (EngramError("a mistake"), "FAILED"),
        (KeyboardInterrupt("no such luck"), "KILLED"),
        (SystemExit(3), "FAILED"),
    ],
    ids=repr,
)
def test_a_run_that_ends_badly_is_marked_with_its_traceback(store, job_log, caplog, error, status):
    with pytest.raises(type(error)) as raised, store.run("n", {"engram.k": "3"}, {}) as rec:
        rec.metrics["share"] = 1.0
        rec.files["rows.jsonl"] = "half of it"
        raise error
    assert raised.value is error
    run = only_run(store)
    assert run.info.status == status
    assert run.data.tags["engram.k"] == "3"
    assert "engram.complete" not in run.data.tags
    assert type(error).__name__ in run.data.tags["engram.error"]
    assert run.data.metrics == {}
    assert type(error).__name__ in store.read_artifact(
        store.client.get_run(rec.run_id).info, job_log.name
    )
    assert "Traceback" in caplog.text
    assert type(error).__name__ in caplog.text
    assert "rows.jsonl" not in artifacts(run)


def test_the_end_of_a_long_traceback_is_kept(store):
    with pytest.raises(ValueError, match="x"), store.run("n", {}, {}):
        raise ValueError("x" * 20_000 + " the reason")
    assert only_run(store).data.tags["engram.error"].endswith("the reason\n")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_finite_number_is_refused_and_nothing_logged(store, value):
    told = pytest.raises(EngramError, match="the metrics bad are not finite numbers")
    with told, store.run("n", {}, {"p": 1}) as record:
        record.metrics |= {"good": 1.0, "bad": value}
    run = only_run(store)
    assert run.info.status == "FAILED"
    assert run.data.metrics == {}
    assert "engram.complete" not in run.data.tags


STEPS = ("log_batch", "log_artifact", "set_terminated", "set_tag")


def test_complete_is_the_last_word(store, job_log, monkeypatch):
    said = []
    for name in STEPS:
        real = getattr(store.client, name)

        def call(*arguments, name=name, real=real, **more):
            said.append((name, arguments[1:]))
            return real(*arguments, **more)

        monkeypatch.setattr(store.client, name, call)
    with store.run("n", {}, {"p": 1}) as record:
        record.metrics["share"] = 1.0
        record.files["rows.jsonl"] = "rows"
    assert said[-1] == ("set_tag", ("engram.complete", "true"))
    assert said[-2] == ("set_terminated", ("FINISHED",))
    assert {name for name, _ in said[:-2]} == set(STEPS[:2])


@pytest.mark.parametrize("step", STEPS)
def test_a_run_whose_logging_fails_is_not_complete(store, job_log, monkeypatch, caplog, step):
    """Whichever step the store refuses, also while the failure is being marked."""
    error = OSError("disk full")

    def refuse(*arguments, **more):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(store.client, step, refuse)
        told = pytest.raises(
            TrackingError, match=r"the run n can't be logged to .* \(disk full\): "
        )
        with told as raised, store.run("n", {}, {"p": 1}) as record:
            record.metrics["share"] = 1.0
            record.files["rows.jsonl"] = "rows"
    assert raised.value.__cause__ is error
    run = only_run(store)
    assert "engram.complete" not in run.data.tags
    assert run.info.status == ("RUNNING" if step == "set_terminated" else "FAILED")
    assert "disk full" in caplog.text


def test_a_failure_is_not_hidden_by_a_store_that_is_gone(store, monkeypatch, caplog):
    def refuse(*arguments, **more):
        raise OSError("store gone")

    for name in ("set_terminated", "set_tag", "log_artifact"):
        monkeypatch.setattr(store.client, name, refuse)
    with pytest.raises(RuntimeError, match="the reason"), store.run("n", {}, {}):
        raise RuntimeError("the reason")
    assert "store gone" in caplog.text


def test_the_job_s_log_becomes_an_artifact_and_no_other_file_of_its_folder(store, job_log):
    """Whole folders would take the store along, where a run's folder is the current one."""
    with store.run("n", {}, {}) as record:
        record.files["rows.jsonl"] = "rows"
        logging.getLogger("engram_hydra").info("on the way")
    found = artifacts(only_run(store))
    assert {"rows.jsonl", "job.log"} <= found
    assert not any("beside" in name or "mlflow" in name for name in found)
    assert "on the way" in store.read_artifact(store.client.get_run(record.run_id).info, "job.log")


def test_done_is_said_only_when_the_run_is_complete(store, job_log, monkeypatch):
    def refuse(run_id, key, value):
        raise OSError("disk full")

    with store.run("n", {}, {}) as well:
        pass
    monkeypatch.setattr(store.client, "set_tag", refuse)
    with pytest.raises(TrackingError, match="disk full"), store.run("n", {}, {}) as badly:
        pass
    said = job_log.read_text()
    assert f"done: run {well.run_id}" in said
    assert f"done: run {badly.run_id}" not in said


# Opening


@pytest.mark.parametrize(
    "uri", ["file:mlruns", "file:///tmp/mlruns", "mlruns", "./mlruns", "/tmp/mlruns", ""]
)
def test_a_file_store_is_refused_in_a_sentence(tmp_path, uri):
    with pytest.raises(TrackingError, match="use sqlite:////absolute/path/") as refused:
        Store(uri, str(tmp_path / "artifacts"), "e")
    assert f"tracking.uri={uri} is a file store" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("uri", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_a_store_in_memory_is_refused(tmp_path, uri):
    with pytest.raises(TrackingError, match=f"tracking.uri={uri} is gone when the run ends: use "):
        Store(uri, str(tmp_path / "artifacts"), "e")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sign", "?%#")
def test_a_path_that_an_address_cannot_carry_is_refused(tmp_path, sign):
    with pytest.raises(
        TrackingError, match=r"holds one of [?] % #, .* set paths.mlruns to a folder"
    ):
        open_store(tmp_path / f"a{sign}b")
    assert not list(tmp_path.iterdir())


def test_files_that_go_elsewhere_than_asked_are_a_warning(store, tmp_path, caplog):
    open_store(tmp_path / "mlruns")
    assert not caplog.records
    again = Store(store.uri, str(tmp_path / "other"), "engram_hydra")
    with again.run("n", {}, {}) as record:
        record.files["rows.jsonl"] = "rows"
    assert (tmp_path / "mlruns" / "artifacts" / record.run_id).is_dir()
    (warning,) = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    first, second = ((tmp_path / name).as_uri() for name in ("mlruns/artifacts", "other"))
    assert f"files go to {first}, " in warning
    assert f"not to {second}" in warning


@pytest.mark.parametrize("how", [shutil.move, shutil.copytree])
def test_a_store_that_was_moved_or_copied_goes_with_the_files_beside_it(
    store, tmp_path, caplog, how
):
    """Also those that are in the old place alone stay found, and those of another experiment."""
    with store.run("n", {}, {}) as record:
        record.files["rows.jsonl"] = "rows"
    with open_store(tmp_path / "mlruns", "other").run("n", {}, {}) as other:
        other.files["rows.jsonl"] = "other rows"
    how(tmp_path / "mlruns", tmp_path / "new")
    with store.run("n", {}, {}) if how is shutil.copytree else nullcontext():
        pass  # the copy knows nothing of it
    new = open_store(tmp_path / "new")
    assert (
        "the store was moved or copied: files of the experiment engram_hydra are in" in caplog.text
    )
    with new.run("n", {}, {}) as later:
        later.files["rows.jsonl"] = "later rows"
    for run_id, rows in ((record.run_id, "rows"), (later.run_id, "later rows")):
        info = new.client.get_run(run_id).info
        assert info.artifact_uri == (tmp_path / f"new/artifacts/{run_id}/artifacts").as_uri()
        assert new.read_artifact(info, "rows.jsonl") == rows
        assert new.lost_files(new.client.get_run(run_id)) == []
    untouched = new.client.get_run(other.run_id).info.artifact_uri
    assert untouched == (tmp_path / f"mlruns/artifacts/{other.run_id}/artifacts").as_uri()
    caplog.clear()
    open_store(tmp_path / "new")
    assert not caplog.records


def test_a_run_whose_files_stayed_behind_is_not_lost(store, tmp_path):
    with store.run("n", {}, {}) as stayed:
        stayed.files["rows.jsonl"] = "stayed"
    with store.run("n", {}, {}) as moved:
        moved.files["rows.jsonl"] = "moved"
    (tmp_path / "a").mkdir()
    shutil.move(tmp_path / "mlruns" / "artifacts" / moved.run_id, tmp_path / "a" / moved.run_id)
    again = Store(store.uri, str(tmp_path / "a"), "engram_hydra")
    for run_id, rows in ((stayed.run_id, "stayed"), (moved.run_id, "moved")):
        assert again.read_artifact(again.client.get_run(run_id).info, "rows.jsonl") == rows


def test_a_run_is_newer_than_all_before_it_though_the_clock_was_set_back(store, caplog):
    ahead = int(1000 * time.time()) + 10**9
    before = store.client.create_run(store.experiment_id, start_time=ahead).info.run_id
    made = []
    for _ in range(2):
        with store.run("n", {}, {}) as record:
            made.append(record.run_id)
    assert [run.info.run_id for run in store.runs()] == [*made[::-1], before]
    assert f"run {before} is dated 20" in caplog.text


def test_clocks_that_differ_by_seconds_are_no_reason_to_warn(store, caplog):
    store.client.create_run(store.experiment_id, start_time=int(1000 * time.time()) + 5000)
    with store.run("n", {}, {}):
        pass
    assert not caplog.records


def test_artifacts_on_a_server_make_no_local_folder(tmp_path, store_template, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(store_template, tmp_path / "mlflow.db")
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", "s3://bucket/below", "e")
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.artifact_location == "s3://bucket/below"
    assert {file.name for file in tmp_path.iterdir()} <= {"mlflow.db", "store.lock"}


@pytest.mark.parametrize("elsewhere", [True, False])
def test_the_variable_that_mlflow_reads_is_not_used_and_that_is_said(
    store, tmp_path, monkeypatch, caplog, elsewhere
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://elsewhere" if elsewhere else store.uri)
    options = {"uri": store.uri, "artifacts": str(tmp_path / "mlruns" / "artifacts")}
    opened = Store.of(OmegaConf.create(options | {"experiment": "engram_hydra"}))
    assert opened.experiment_id == store.experiment_id
    assert ("MLFLOW_TRACKING_URI is not used" in caplog.text) is elsewhere


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


def test_names_of_folders_may_be_awkward(tmp_path, store_template):
    awkward = tmp_path / "a folder, with ümlaut & it's"
    awkward.mkdir()
    shutil.copy(store_template, awkward / "mlflow.db")
    store = open_store(awkward)
    with store.run("n", {}, {}) as record:
        record.files |= {"rows.jsonl": "rows", "below/more.txt": "more"}
    assert store.read_artifact(store.client.get_run(record.run_id).info, "below/more.txt") == "more"
    assert (awkward / "artifacts" / record.run_id / "artifacts" / "rows.jsonl").is_file()


OPEN = """
import sys
from pathlib import Path
from engram_hydra.tracking import Store
folder = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
store = Store(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}", str(folder / sys.argv[2]), "e")
with store.run("n", {}, {}):
    pass
print(store.experiment_id)
"""


@pytest.mark.slow
def test_four_processes_may_make_one_store_at_once(tmp_path):
    """Also where their artifacts lie apart."""
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(tmp_path), artifacts],
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


def test_all_runs_are_found_newest_first_whatever_a_page_holds(store, monkeypatch):
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


def test_the_runs_with_a_tag_stand_newest_first_complete_or_not(store):
    assert store.having("engram.run_key", "x") == []
    with store.run("n", {"engram.run_key": "x"}, {}) as good:
        pass
    time.sleep(0.002)  # start times are in milliseconds
    bad = store.run("n", {"engram.run_key": "x"}, {})
    with pytest.raises(ValueError, match="oh"), bad as failed:
        raise ValueError("oh")
    time.sleep(0.002)
    with store.run("n", {"engram.run_key": "y"}, {}) as other:
        pass
    found = [run.info.run_id for run in store.having("engram.run_key", "x")]
    assert found == [failed.run_id, good.run_id]
    assert [run.info.run_id for run in store.having("engram.run_key", "y")] == [other.run_id]


@pytest.mark.parametrize("name", ["rows.jsonl", "inside/deep/one.png"])
@pytest.mark.parametrize("how", ["gone", "cut short", "longer"])
def test_a_file_that_is_not_as_it_was_logged_counts_as_lost(store, name, how):
    with store.run("n", {}, {}) as record:
        record.files |= {"rows.jsonl": "{}é\n", "inside/deep/one.png": b"\x89PNG\r\n", "empty": ""}
    run = only_run(store)
    assert store.lost_files(run) == []
    file = Path(run.info.artifact_uri.removeprefix("file://")) / name
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1] if how == "cut short" else b"something longer")
    assert store.lost_files(run) == [name]


def test_an_artifact_that_is_gone_is_told(store):
    with store.run("n", {}, {}) as record:
        pass
    with pytest.raises(TrackingError, match=f"run {record.run_id} has no readable artifact no.txt"):
        store.read_artifact(store.client.get_run(record.run_id).info, "no.txt")


def test_what_is_wrong_with_an_artifact_is_told_in_words(store):
    with store.run("n", {}, {}) as record:
        record.files |= {"rows.jsonl": b"\xff\xfe"}
    info = store.client.get_run(record.run_id).info
    for name, why in (
        ("rows.jsonl", "what is there is no text"),
        ("no.txt", "No such file or dir"),
    ):
        with pytest.raises(TrackingError, match=rf"{name} \({why}.*\): put it back") as told:
            store.read_artifact(info, name)
        assert "Errno" not in str(told.value) and "codec" not in str(told.value)


def test_the_data_set_is_the_runs_input(store):
    item = Item("a", 0, "text")
    question = Question("q", "text?", ("answer",), "single_hop")
    history = History("tiny", (item, item), (question,))
    data = Dataset("tiny", (history,), "ab" * 32, "made up")
    with store.run("n", {}, {}) as record:
        store.log_dataset(record.run_id, data)
    (given,) = only_run(store).inputs.dataset_inputs
    assert given.dataset.name == "tiny"
    assert given.dataset.digest == "ab" * 18
    assert given.dataset.source == '{"uri": "made up"}'
    assert given.dataset.profile == '{"histories": 1, "items": 2, "questions": 1}'
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
    assert said.splitlines() == ["ui", "--host", "127.0.0.1", "--backend-store-uri", uri]
    assert ui_command("sqlite:////a/mlflow.db").endswith(" sqlite:////a/mlflow.db")


def test_an_artifact_is_not_read_through_a_link_out_of_its_folder(store, tmp_path):
    with store.run("n", {}, {}) as record:
        record.files["a.txt"] = "x"
    info = store.client.get_run(record.run_id).info
    outside = tmp_path / "outside.txt"
    outside.write_text("not for a report")
    file = Path(info.artifact_uri.removeprefix("file://")) / "a.txt"
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(TrackingError, match="leads out of"):
        store.read_artifact(info, "a.txt")


def test_a_local_artifact_is_read_where_it_lies_and_another_through_mlflow(store, monkeypatch):
    with store.run("n", {}, {}) as record:
        record.files["a b%.txt"] = "ä"
    info = store.client.get_run(record.run_id).info
    asked = []
    elsewhere = Path(info.artifact_uri.removeprefix("file://"))

    def download(run_id, name, folder):
        asked.append((run_id, name))
        return str(elsewhere / name)

    monkeypatch.setattr(store.client, "download_artifacts", download)
    assert store.read_artifact(info, "a b%.txt") == "ä"
    assert asked == []
    info._artifact_uri = "mlflow-artifacts:/1/artifacts"
    assert store.read_artifact(info, "a b%.txt") == "ä"
    assert asked == [(record.run_id, "a b%.txt")]


def test_a_data_set_that_two_runs_log_at_once_is_logged_by_both(store, monkeypatch):
    """MLflow looks whether it has the data set and then adds it, which another run may do between."""
    from mlflow.exceptions import MlflowException

    log_inputs, refused = store.client.log_inputs, []

    def racing(run_id, **more):
        if not refused:
            refused.append(run_id)
            raise MlflowException("UNIQUE constraint failed: datasets.name")
        log_inputs(run_id, **more)

    monkeypatch.setattr(store.client, "log_inputs", racing)
    with store.run("n", {}, {}) as record:
        store.log_dataset(record.run_id, Dataset("tiny", (), "ab" * 32, "made up"))
    assert refused == [record.run_id]
    (logged,) = only_run(store).inputs.dataset_inputs
    assert logged.dataset.name == "tiny"
