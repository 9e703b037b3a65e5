"""The real command line in a folder of its own, and what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Small enough to take no time, large enough for every metric.
SMALL = ("dataset.facts=60", "dataset.single_hop=10", "dataset.two_hop=5")


@dataclass
class Workspace:
    """Runs commands with ``folder`` as the current one and a vector cache shared by all tests."""

    folder: Path
    cache: Path

    def run(
        self, *arguments: str, module: str = "engram_hydra", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """The finished process, whatever its exit code."""
        env = os.environ | {"ENGRAM_CACHE": str(self.cache)} | environment
        env.pop("PYTHONPATH", None)
        if module == "engram_hydra.aggregate":  # or no change could be tested before its commit
            arguments = ("dirty=take", *arguments)
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=900,
        )

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

    def rows(self, run: Any) -> list[dict[str, Any]]:
        """A run's per-question rows."""
        return [json.loads(line) for line in self.artifact(run, "per_question.jsonl").splitlines()]
