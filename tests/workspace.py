"""The real command line in a folder of its own, and what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Small enough to take no time, large enough for every metric.
SMALL = ("dataset.facts=60", "dataset.single_hop=10", "dataset.two_hop=5")

# A method, ``sleeper.Sleeper``, that is long at work and leaves a file as it begins.
SLEEPER = """
import time
from pathlib import Path

from engram_hydra.memories.memory import Hit, Memory


class Sleeper(Memory):
    def __init__(self, *, ties):
        pass

    def write(self, items):
        Path(f"began_{time.monotonic_ns()}").touch()
        time.sleep(120)

    def read(self, queries, k):
        return []
"""


@dataclass
class Workspace:
    """Runs commands with ``folder`` as the current one and a vector cache shared by all tests."""

    folder: Path
    cache: Path

    def run(
        self, *arguments: str, module: str = "engram_hydra", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """The finished process, whatever its exit code."""
        if module == "engram_hydra.aggregate":  # or no change could be tested before its commit
            arguments = ("dirty=take", *arguments)
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env=self._environment(environment),
            capture_output=True,
            text=True,
            timeout=900,
        )

    def start(self, *arguments: str, before: str = "", **environment: str) -> subprocess.Popen[str]:
        """A run under way, in a process group of its own, as a terminal's foreground has it.

        ``before`` is Python that its process runs first.
        """
        heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        run = "import runpy; runpy.run_module('engram_hydra', run_name='__main__', alter_sys=True)"
        return subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{heeds}{run}", *arguments],
            cwd=self.folder,
            env=self._environment(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        env = os.environ | {"ENGRAM_CACHE": str(self.cache)} | more
        env.pop("PYTHONPATH", None)
        return env

    def ok(self, *arguments: str, **more: str) -> str:
        """What a command that must succeed wrote to standard output."""
        done = self.run(*arguments, **more)
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stderr}"
        return done.stdout

    def runs(self, **tags: str) -> list[Any]:
        """MLflow's runs, newest first, that carry these ``engram.*`` tags."""
        from mlflow import MlflowClient

        client = MlflowClient(f"sqlite:///{self.folder / 'mlruns' / 'mlflow.db'}")
        experiment = client.get_experiment_by_name("engram_hydra")
        if experiment is None:
            return []
        found = client.search_runs([experiment.experiment_id], max_results=1000)
        return [
            run
            for run in found
            if all(run.data.tags.get(f"engram.{tag}") == value for tag, value in tags.items())
        ]

    def artifact(self, run: Any, name: str) -> str:
        """The text of a run's artifact."""
        return (Path(run.info.artifact_uri.removeprefix("file://")) / name).read_text("utf-8")

    def found(self) -> dict[str, str]:
        """What each complete run logged of its questions, by its key; no key is there twice."""
        found: dict[str, str] = {}
        for run in self.runs(complete="true"):
            key = run.data.tags["engram.run_key"]
            assert key not in found, f"{run.info.run_name} was run twice"
            found[key] = self.artifact(run, "per_question.jsonl")
        return found

    def rows(self, run: Any) -> list[dict[str, Any]]:
        """A run's per-question rows."""
        return [json.loads(line) for line in self.artifact(run, "per_question.jsonl").splitlines()]
