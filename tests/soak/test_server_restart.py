"""Eight clients sweep the same cells on one server, which dies in the middle, and its database too."""

from __future__ import annotations

import shutil
import time
from collections import Counter

import pytest
from mlflow import MlflowClient

from engram_hydra.tracking import Store

from tracking_server import postgres, tracking_server
from workspace import SMALL, Workspace

pytestmark = pytest.mark.soak

CLIENTS = 8
CELLS = 20
SECONDS = 900


def sweep(client=0):
    """The arguments of a sweep over the same cells, in an order of each client's own."""
    turn = client % 5
    seeds = ",".join(str((seed + turn) % 5) for seed in range(5))
    ks = "5,6,7,8" if client < 4 else "8,7,6,5"
    return ("-m", "method=random", f"seed={seeds}", f"k={ks}", *SMALL)


def complete(client):
    """How many runs are complete, all experiments together."""
    found = client.search_experiments()
    query = "tags.`engram.complete` = 'true'"
    return len(client.search_runs([one.experiment_id for one in found], query, max_results=1000))


def wait_for(client, count):
    end = time.monotonic() + SECONDS
    while (there := complete(client)) < count:
        assert time.monotonic() < end, f"{there} of {count} runs in {SECONDS} s"
        time.sleep(0.5)
    assert there < CELLS, "too late: the sweep was over"


def test_nothing_is_lost_or_doubled_by_restarts(workspace, tmp_path_factory, store_template):
    alone = Workspace(workspace.folder / "alone", workspace.cache)
    (alone.folder / "mlruns").mkdir(parents=True)
    shutil.copy(store_template, alone.folder / "mlruns")
    alone.ok(*sweep())
    expected = {
        run.data.tags["engram.run_key"]: alone.artifact(run, "per_question.jsonl")
        for run in alone.runs(complete="true")
    }
    assert len(expected) == CELLS

    folder = tmp_path_factory.mktemp("server")
    with postgres() as database, tracking_server(database.uri, folder) as server:
        client = MlflowClient(server.uri)
        sweeps = [workspace.start(*sweep(n), *server.arguments) for n in range(CLIENTS)]
        try:
            for count in (3, 8):
                wait_for(client, count)
                server.kill()
                server.start()
            wait_for(client, 13)
            database.stop("immediate")
            time.sleep(3)
            database.start()
            said = [one.communicate(timeout=SECONDS)[1] for one in sweeps]
        finally:
            for one in sweeps:
                one.kill()
        assert [one.returncode for one in sweeps] == [0] * CLIENTS, said
        store = Store(server.uri, None, "engram_hydra")
        runs = list(store.runs())
        assert Counter(run.data.tags.get("engram.complete") for run in runs) == {"true": CELLS}
        assert {run.info.status for run in runs} == {"FINISHED"}
        assert {
            run.data.tags["engram.run_key"]: store.read_artifact(run.info, "per_question.jsonl")
            for run in runs
        } == expected
        assert [name for run in runs for name in store.lost_files(run)] == []
        report = workspace.ok(*server.arguments, module="engram_hydra.aggregate")
        assert server.uri in report
