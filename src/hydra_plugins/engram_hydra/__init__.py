"""The sweeper of ``engram_hydra``: Hydra's basic one, strict before the first job and to the last."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper, BasicSweeperConf
from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from omegaconf import open_dict

log = logging.getLogger("engram_hydra.sweep")


@dataclass
class EngramSweeperConf(BasicSweeperConf):
    _target_: str = "hydra_plugins.engram_hydra.EngramSweeper"


ConfigStore.instance().store(
    group="hydra/sweeper", name="engram", node=EngramSweeperConf, provider="engram_hydra"
)


class EngramSweeper(BasicSweeper):
    """Checks every job's values before the first one starts, runs no job twice, names every failure."""

    def setup(self, **kwargs: Any) -> None:
        super().setup(**kwargs)
        assert self.launcher is not None
        self.launcher = self.collector = _FailureCollector(self.launcher)
        self.jobs: dict[str, tuple[str, ...]] = {}  # run key to the job that stands for it

    def sweep(self, arguments: list[str]) -> Any:
        from engram_hydra.errors import SweepError
        from engram_hydra.tracking import ui_command

        returns = super().sweep(arguments)
        assert self.config is not None
        log.info("look at the runs with: %s", ui_command(self.config.tracking.uri))
        if self.collector.failures:
            raise SweepError(self.collector.failures)
        return returns

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Nothing left to do: ``get_job_batch`` has composed and checked every job."""

    def get_job_batch(self) -> Sequence[Sequence[str]]:
        """The jobs of this batch, without those whose result an earlier one already stands for."""
        from engram_hydra.run_key import config_key, seed_of
        from engram_hydra.validation import validate

        assert self.hydra_context is not None and self.config is not None
        kept, skipped = [], defaultdict(list)
        for overrides in super().get_job_batch():
            cfg = self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides))
            task = cfg.copy()
            with open_dict(task):
                del task["hydra"]
            validate(task)
            words = tuple(overrides)
            standing = self.jobs.setdefault(config_key(task), words)
            if standing is words:
                kept.append(overrides)
            else:
                why = "it is the same run" if seed_of(task) is not None else "it is deterministic"
                skipped[standing, why].append(" ".join(w for w in words if w not in standing))
        for (standing, why), others in skipped.items():
            log.info(
                "%s stands for %s too, skipped: %s", " ".join(standing), ", ".join(others), why
            )
        return kept


class _FailureCollector(Launcher):
    """Passes the jobs on, and keeps the failed ones back so that the sweep goes on."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self.failures: list[tuple[str, BaseException]] = []

    def setup(self, **kwargs: Any) -> None:
        self.launcher.setup(**kwargs)

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        if not job_overrides:
            return []
        done = []
        for job in self.launcher.launch(job_overrides, initial_job_idx):
            if job.status is JobStatus.FAILED:
                self.failures.append((" ".join(job.overrides or ()), job._return_value))
            else:
                done.append(job)
        return done
