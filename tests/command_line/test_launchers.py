"""Sweeps whose jobs run in other processes: the same runs, with their threads, and errors in a sentence."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from workspace import SMALL, Workspace

FAKE_SLURM = Path(__file__).resolve().parents[1] / "fake_slurm"
JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
LOCAL = ("hydra/launcher=submitit_local",)
SLURM = ("hydra/launcher=slurm",)
RAY = ("hydra/launcher=ray", "hydra.launcher.max_retries=1")
NEEDS = {
    JOBLIB: "hydra_plugins.hydra_joblib_launcher",
    LOCAL: "hydra_plugins.hydra_submitit_launcher",
    SLURM: "hydra_plugins.hydra_submitit_launcher",
    RAY: "ray",
}

TROUBLE_MEMORY = '''
import os, signal
from pathlib import Path
from engram_hydra.memories.memory import Hit, Memory

class Odd(Exception):
    """Can't leave its process."""

    def __init__(self, *, code):
        super().__init__(f"code {code}")
        self.file = open(os.devnull)

class Trouble(Memory):
    """Raises, dies, or dies the first time only."""

    def __init__(self, *, ties, trouble):
        self.trouble, self.ids = trouble, []

    def write(self, items):
        self.ids += [item.id for item in items]

    def read(self, queries, k):
        if self.trouble == "raises":
            raise Odd(code=3)
        died = Path("died")
        if self.trouble == "dies" or self.trouble == "dies_once" and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return [[Hit(i, -float(n)) for n, i in enumerate(self.ids[:k])] for _ in queries]
'''


@pytest.fixture
def launched(workspace):
    """Runs a sweep on a launcher, or skips the test where its extra is not installed."""

    def run(launcher, *arguments, **environment):
        if importlib.util.find_spec(NEEDS[launcher]) is None:
            pytest.skip(f"{launcher[0]} is an extra and not installed: no module {NEEDS[launcher]}")
        return workspace.run("-m", *launcher, *arguments, *SMALL, **environment)

    return run


@pytest.fixture
def trouble(workspace, launched):
    """Sweeps over kinds of trouble; the exit code and the last lines said."""
    (workspace.folder / "trouble.py").write_text(TROUBLE_MEMORY)

    def run(launcher, kinds):
        mine = ("method=custom", "method.name=mine", "method._target_=trouble.Trouble")
        return launched(launcher, *mine, f"+method.params.trouble={kinds}")

    return run


def threads(workspace):
    """All numbers of threads that the runs' tags, variables and libraries tell."""
    told = set()
    for run in workspace.runs(complete="true"):
        own = json.loads(workspace.artifact(run, "environment.json"))["threads"]
        del own["cpus"]
        told |= {run.data.tags["engram.threads"], *map(str, own.values())}
    return told


@pytest.mark.parametrize(
    ("launcher", "each"),
    [(JOBLIB, max(1, len(os.sched_getaffinity(0)) // 2)), (LOCAL, None), (SLURM, 1), (RAY, 1)],
    ids=["joblib", "submitit_local", "slurm", "ray"],
)
def test_the_runs_are_those_of_one_process(workspace, launched, store_template, launcher, each):
    path = f"{FAKE_SLURM}{os.pathsep}{os.environ['PATH']}"
    sweep = ("method=dense,random", "seed=0,1")
    done = launched(launcher, *sweep, PATH=path)
    assert done.returncode == 0, done.stderr
    if each:
        assert threads(workspace) == {str(each)}

    alone = Workspace(workspace.folder / "alone", workspace.cache)
    (alone.folder / "mlruns").mkdir(parents=True)
    shutil.copy(store_template, alone.folder / "mlruns")
    alone.ok("-m", *sweep, *SMALL)
    assert len(alone.found()) == 3
    assert workspace.found() == alone.found()


def test_slurm_is_told_what_a_job_needs(workspace, launched):
    path = f"{FAKE_SLURM}{os.pathsep}{os.environ['PATH']}"
    needs = ("partition=short", "mem_gb=3", "timeout_min=7", "array_parallelism=1")
    asked = [f"hydra.launcher.{need}" for need in needs]
    done = launched(SLURM, *asked, "method=bm25,random", PATH=path)
    assert done.returncode == 0, done.stderr
    (script,) = workspace.folder.rglob("*_submission.sh")
    options = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", script.read_text(), re.MULTILINE))
    assert {
        "job-name": "engram_hydra",
        "partition": "short",
        "cpus-per-task": "1",
        "mem": "3GB",
        "time": "7",
        "array": "0-1%1",
    }.items() <= options.items()


@pytest.mark.parametrize("launcher", [JOBLIB, LOCAL], ids=["joblib", "submitit_local"])
def test_an_error_that_cant_leave_its_process_is_named_and_the_sweep_goes_on(
    workspace, trouble, launcher
):
    done = trouble(launcher, "raises,none")
    assert done.returncode == 1
    assert re.search("1 job of the sweep failed.*\n.*trouble=raises .*: Odd: code 3", done.stderr)
    assert len(workspace.runs(complete="true")) == 1


@pytest.mark.parametrize(
    ("launcher", "words"),
    [(JOBLIB, "a worker process of the sweep died"), (LOCAL, "a job was lost")],
    ids=["joblib", "submitit_local"],
)
def test_a_worker_that_dies_is_told_in_a_sentence(trouble, launcher, words):
    done = trouble(launcher, "none,dies")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert words in done.stderr


def test_where_there_is_no_slurm_a_sentence_says_so(launched):
    done = launched(SLURM, "method=bm25,random", PATH="/usr/bin:/bin")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("hydra/launcher=slurm needs SLURM's sbatch")


def test_a_lost_job_is_done_again_by_ray_and_a_failed_one_is_not(workspace, trouble):
    done = trouble(RAY, "none,raises,dies_once,dies")
    assert done.returncode == 1
    assert "2 jobs of the sweep failed, all others are done:" in done.stderr
    assert re.search("trouble=raises .*: Odd: code 3", done.stderr)
    assert re.search("trouble=dies .*: its worker was lost 2 times, and no retry", done.stderr)
    assert len(workspace.runs(complete="true")) == 2
    tries = Counter(run.data.params["method.params.trouble"] for run in workspace.runs())
    assert tries == {"none": 1, "raises": 1, "dies_once": 2, "dies": 2}


@pytest.mark.parametrize(
    ("option", "words"),
    {
        "address=127.0.0.1:1": "no Ray cluster answers at 127.0.0.1:1 (ConnectionRefusedError",
        "num_cpus=100000": "hydra.launcher.num_cpus=100000 is more than this machine has: at most ",
        "num_cpus=0": "hydra.launcher.num_cpus=0 is out of range: it must be at least 1.",
        "num_cpu=1": "hydra.launcher.num_cpu is no option: hydra.launcher takes ",
    }.items(),
)
def test_what_ray_cant_do_is_told_in_a_sentence(launched, option, words):
    done = launched(RAY, f"hydra.launcher.{option}", "method=bm25,random")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(words)


def test_without_ray_its_extra_is_named(workspace):
    (workspace.folder / "ray.py").write_text("raise ImportError('hidden')")
    done = workspace.run("-m", *RAY, "method=bm25,random", *SMALL)
    assert done.returncode == 2
    assert done.stderr.endswith(
        'needs the package ray (hidden): `pip install "engram-hydra[ray]"`.\n'
    )
