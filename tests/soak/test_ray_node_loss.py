"""A Ray cluster of two machines, one of which is lost in the middle of a sweep."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from workspace import SMALL, Workspace

pytestmark = pytest.mark.soak

# As long as no file `free` lies beside it, a read says that it has begun, and waits.
WAITING_MEMORY = '''
import os, time
from pathlib import Path
from engram_hydra.memories.memory import Hit, Memory

class Waiting(Memory):
    """Returns what was written last; waits for a sign."""

    def __init__(self, *, ties, lag):
        self.ids = []

    def write(self, items):
        self.ids += [item.id for item in items]

    def read(self, queries, k):
        import ray

        node = ray.get_runtime_context().get_node_id() if ray.is_initialized() else "none"
        here = Path(__file__).parent
        (here / f"reads_{node}_{os.getpid()}").touch()
        while not (here / "free").exists():
            time.sleep(0.1)
        last = [Hit(id, float(rank)) for rank, id in enumerate(self.ids)][::-1]
        return [last[:k] for _ in queries]
'''
SWEEP = ("-m", "method=custom", "method.name=waiting", "method._target_=waiting.Waiting", *SMALL)
LAGS = "+method.params.lag=0,1,2,3,4,5"


@pytest.fixture
def cluster(monkeypatch):
    """Two machines of one CPU each, and one that only leads; on the loopback interface."""
    pytest.importorskip("ray", reason="ray is an extra and not installed")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    lead = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    made = Cluster(initialize_head=True, head_node_args=lead)
    yield made
    made.shutdown()


def test_the_jobs_of_a_lost_machine_are_done_by_the_other(workspace, cluster, store_template):
    machines = [cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20) for _ in "ab"]
    (workspace.folder / "waiting.py").write_text(WAITING_MEMORY)
    launcher = ("hydra/launcher=ray", f"hydra.launcher.address={cluster.address}")
    sweep = subprocess.Popen(
        [sys.executable, "-m", "engram_hydra", *SWEEP, LAGS, *launcher],
        cwd=workspace.folder,
        env=os.environ | {"ENGRAM_CACHE": str(workspace.cache)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + 120
        while len(reading := list(workspace.folder.glob("reads_*"))) < 2:
            assert time.monotonic() < end, "the two machines never did a job each"
            time.sleep(0.1)
        assert {file.name.split("_")[1] for file in reading} == {m.node_id for m in machines}
        cluster.remove_node(machines[0], allow_graceful=False)
        (workspace.folder / "free").touch()
        said = sweep.communicate(timeout=240)[1]
    finally:
        sweep.kill()
    assert sweep.returncode == 0, said

    runs = workspace.runs()
    assert [run.info.status for run in runs if "engram.complete" not in run.data.tags] == [
        "RUNNING"
    ]
    assert len(runs) == 7
    alone = Workspace(workspace.folder / "alone", workspace.cache)
    (alone.folder / "mlruns").mkdir(parents=True)
    shutil.copy(store_template, alone.folder / "mlruns")
    for file in ("waiting.py", "free"):
        shutil.copy(workspace.folder / file, alone.folder)
    alone.ok(*SWEEP, LAGS)
    assert len(alone.found()) == 6
    assert workspace.found() == alone.found()
