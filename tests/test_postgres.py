"""Runs on a real tracking server with PostgreSQL behind it: the same as on a file beside the project."""

from __future__ import annotations

import json
import logging
import threading
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from engram_hydra.errors import TrackingError
from engram_hydra.tracking import Store

from lossy_proxy import lossy_proxy
from tracking_server import postgres, tracking_server
from workspace import SMALL

pytestmark = pytest.mark.slow

WAITING_MEMORY = '''
import time
from pathlib import Path
from engram_hydra.memories.memory import Hit, Memory

class Waiting(Memory):
    """Returns what was written last; says that it reads, and waits for a sign."""

    def __init__(self, *, ties):
        self.ids = []

    def write(self, items):
        self.ids += [item.id for item in items]

    def read(self, queries, k):
        here = Path(__file__).parent
        with (here / "reads").open("a") as reads:
            reads.write("read\\n")
        while not (here / "free").exists():
            time.sleep(0.1)
        last = [Hit(id, float(rank)) for rank, id in enumerate(self.ids)][::-1]
        return [last[:k] for _ in queries]
'''
WAITING = ("method=custom", "method.name=waiting", "method._target_=waiting.Waiting", *SMALL)
TIMES = ("seconds", "_ms_", "mib", "tokens_per_second")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with (
        postgres() as database,
        tracking_server(database.uri, tmp_path_factory.mktemp("server")) as made,
    ):
        yield made


@pytest.fixture
def store(server, request):
    """An experiment of its own for each test."""
    return Store(server.uri, None, request.node.name)


def result(run):
    """What no clock has touched."""
    return {k: v for k, v in run.data.metrics.items() if not any(word in k for word in TIMES)}


def test_a_run_and_the_report_are_the_same_over_a_server(server, workspace):
    run = ("method=dense", *SMALL)
    workspace.ok(*run)
    workspace.ok(*run, *server.arguments)
    (here,) = workspace.runs()
    client = MlflowClient(server.uri)
    experiment = client.get_experiment_by_name("engram_hydra")
    (there,) = client.search_runs([experiment.experiment_id])
    assert there.info.status == "FINISHED"
    assert there.data.tags["engram.complete"] == "true"
    assert there.data.tags["engram.run_key"] == here.data.tags["engram.run_key"]
    assert there.data.params == here.data.params
    assert result(there) == result(here) != {}
    assert there.info.artifact_uri.startswith("mlflow-artifacts:/")
    store = Store(server.uri, None, "engram_hydra")
    for file in ("per_question.jsonl", "run.trec"):
        assert store.read_artifact(there.info, file) == workspace.artifact(here, file) != ""
    assert "tracking" not in json.dumps(there.data.params)

    again = workspace.run(*run, *server.arguments)
    assert f"run {there.info.run_id} of " in again.stdout
    assert len(client.search_runs([experiment.experiment_id])) == 1

    said = workspace.ok(*server.arguments, module="engram_hydra.aggregate")
    assert server.uri in said
    assert "mlflow ui" not in said
    (report,) = workspace.folder.glob("outputs/aggregate/*/*/report.md")
    assert there.info.run_id in (report.parent / "runs.json").read_text()
    assert f"{server.uri}/#/experiments/" in report.read_text()
    assert len(workspace.runs()) == 1  # the report is no run of the file either


def test_what_a_lost_server_did_not_take_is_logged_by_the_next_and_not_computed_again(
    server, workspace
):
    (workspace.folder / "waiting.py").write_text(WAITING_MEMORY)
    command = ("-m", *WAITING, *server.arguments, "tracking.experiment=lost")
    sweep = workspace.start(*command, MLFLOW_HTTP_REQUEST_MAX_RETRIES="1")
    try:
        end = time.monotonic() + 120
        while not (workspace.folder / "reads").exists():
            assert time.monotonic() < end, "it never read"
            time.sleep(0.1)
        server.kill()
        (workspace.folder / "free").touch()
        said = sweep.communicate(timeout=120)[1]
    finally:
        sweep.kill()
        server.start()
    assert sweep.returncode == 1
    (place,) = workspace.folder.glob("outputs/sweeps/*/*/0/kept")
    last = said.splitlines()[-1]
    assert f"the server {server.uri} could not be reached to log run " in last
    assert "Connection refused" in last
    assert f"the results are kept in {place}, " in last
    once = (workspace.folder / "reads").read_text()
    store = Store(server.uri, None, "lost")
    (lost,) = store.runs()
    assert lost.info.status == "RUNNING"

    again = workspace.run(*command)
    assert again.returncode == 0, again.stderr
    assert f"only logged now: the results kept in {place}" in again.stdout
    assert (workspace.folder / "reads").read_text() == once
    run, lost = store.runs()
    assert run.info.status == "FINISHED"
    assert run.data.tags["engram.complete"] == "true"
    assert run.data.tags["engram.supersedes"] == lost.info.run_id
    assert lost.info.status == "FAILED"
    assert run.info.run_id in lost.data.tags["engram.error"]
    assert run.data.params == lost.data.params
    kept = json.loads((place / "run.json").read_text())
    assert run.data.metrics == kept["metrics"] != {}
    for file in kept["files"]:
        assert store.read_artifact(run.info, file) == (place / "files" / file).read_text() != ""
    assert store.lost_files(run) == []
    third = workspace.run(*command)
    assert f"run {run.info.run_id} of " in third.stdout
    assert len(list(store.runs())) == 2


def test_processes_that_make_an_experiment_at_once_get_one(server):
    found = []

    def make():
        found.append(Store(server.uri, None, "made at once").experiment_id)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_run_whose_answer_was_lost_is_not_there_twice(server, store):
    with lossy_proxy(server.uri, "/runs/create") as (address, answers):
        through = Store(address, None, "test_a_run_whose_answer_was_lost_is_not_there_twice")
        with through.run("n", {"engram.k": "1"}, {"p": 1}) as record:
            record.metrics["share"] = 0.5
    assert answers == [200, 200]
    (run,) = store.runs()
    assert run.info.run_id == record.run_id
    assert run.data.metrics == {"share": 0.5}


@pytest.mark.parametrize(
    "step", ["runs/log-batch", "rows.jsonl", "runs/update", "runs/set-tag"], ids=lambda s: s[-9:]
)
def test_whatever_answer_is_lost_the_run_is_whole(server, step, request):
    with lossy_proxy(server.uri, step) as (address, answers):
        store = Store(address, None, request.node.name)
        with store.run("n", {}, {"p": 1}) as record:
            record.metrics["share"] = 0.5
            record.files["rows.jsonl"] = "rows" * 1000
        assert len(answers) > 1
        (run,) = store.runs()
        assert run.data.metrics == {"share": 0.5}
        assert run.data.params == {"p": "1"}
        assert run.data.tags["engram.complete"] == "true"
        history = store.client.get_metric_history(record.run_id, "share")
        assert len(history) == 1
        assert store.read_artifact(run.info, "rows.jsonl") == "rows" * 1000


def test_files_of_any_kind_go_through_the_server(store):
    with store.run("n", {}, {}) as record:
        record.files |= {"a b.txt": "ä", "below/empty.txt": "", "below/bytes.bin": b"\0\1"}
    info = store.client.get_run(record.run_id).info
    assert store.read_artifact(info, "a b.txt") == "ä"
    assert store.read_artifact(info, "below/empty.txt") == ""
    assert store.read_artifact(info, "below/bytes.bin") == "\0\1"
    with pytest.raises(TrackingError, match=r"no readable artifact none[.]txt"):
        store.read_artifact(info, "none.txt")


def test_an_experiment_whose_files_lie_in_the_server_s_own_folders_is_refused(server, tmp_path):
    MlflowClient(server.uri).create_experiment("its own", str(tmp_path / "theirs"))
    with pytest.raises(TrackingError, match="takes none from here: start it with --artifacts-dest"):
        Store(server.uri, None, "its own")


def test_a_deleted_experiment_on_a_server_is_told(server, store):
    store.client.delete_experiment(store.experiment_id)
    with pytest.raises(TrackingError, match=f"experiments restore -x {store.experiment_id}"):
        Store(server.uri, None, "test_a_deleted_experiment_on_a_server_is_told")


def test_a_password_is_sent_and_logged_nowhere(server, store, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ann")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "s3cret")
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ValueError, match="oh"), store.run("n", {}, {}) as record:
        raise ValueError("oh")
    assert "s3cret" not in caplog.text
    assert "s3cret" not in json.dumps(store.client.get_run(record.run_id).to_dictionary())
    assert not [
        f for f in Path(server.folder).rglob("*") if f.is_file() and b"s3cret" in f.read_bytes()
    ]
