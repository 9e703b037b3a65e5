"""The sweeper of ``engram_hydra``: Hydra's basic one over several grids, strict before the first job."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper, BasicSweeperConf
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig, OmegaConf, open_dict

if TYPE_CHECKING:
    from engram_hydra.job_marks import Tally

log = logging.getLogger("engram_hydra.sweep")

Job = tuple[str, ...]  # its overrides


@dataclass
class EngramSweeperConf(BasicSweeperConf):
    """``grids``: mappings like ``params``, each swept together with it, one after the other."""

    _target_: str = "hydra_plugins.engram_hydra.EngramSweeper"
    grids: list[Any] | None = None


ConfigStore.instance().store(
    group="hydra/sweeper", name="engram", node=EngramSweeperConf, provider="engram_hydra"
)


class EngramSweeper(BasicSweeper):
    """Checks every job's values before the first one starts, runs no job twice, names every failure."""

    def __init__(
        self,
        max_batch_size: int | None,
        params: dict[str, str] | None,
        grids: list[Any] | None,
    ) -> None:
        super().__init__(max_batch_size, params)
        self.grids = [{}] if grids is None else grids

    def sweep(self, arguments: list[str]) -> list[JobReturn]:
        """Launch every job, ``max_batch_size`` at a time, and return what the good ones did.

        Raises SweepError where jobs failed, when all are over; EngramError at once where the launcher
        lost one.
        """
        from engram_hydra.address import check_address, is_server, ui_command
        from engram_hydra.cli import heed_sigterm
        from engram_hydra.errors import SweepError
        from engram_hydra.job_marks import tally
        from engram_hydra.server import await_server
        from engram_hydra.tracking import Store
        from hydra_plugins.engram_hydra._lost import explained

        assert self.config is not None and self.launcher is not None
        jobs = [list(job) for job in self._distinct(self.jobs(arguments))]
        store = self.config.tracking.uri
        check_address(store)  # before anything is written
        if is_server(store):
            await_server(store)
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        done: list[JobReturn] = []
        heed_sigterm()  # so that a launcher of processes can tell them
        try:
            for batch in self.split_overrides_to_chunks(jobs, self.max_batch_size):
                done += self.launcher.launch(batch, initial_job_idx=len(done))
        except Exception as error:
            raise explained(error, folder) from error
        except KeyboardInterrupt:
            again = "" if self.config.existing == "skip" else " with existing=skip"
            log.info(
                "%d of %d jobs were done; the same command%s goes on from there",
                tally(folder).done,
                len(jobs),
                again,
            )
            if ".hydra_joblib_launcher." in type(self.launcher).__module__:
                # Its workers are killed by now, and could not mark what they were at.
                Store.of(self.config.tracking).mark_killed("engram.sweep_id", folder.name)
            raise
        failed = [job for job in done if job.status is JobStatus.FAILED]
        log.info("%s", _total(tally(folder), len(jobs), len(failed)))
        log.info("look at the runs: %s", ui_command(store))
        if failed:
            raise SweepError([(" ".join(job.overrides or ()), job._return_value) for job in failed])
        return done

    def jobs(self, arguments: Sequence[str]) -> list[Job]:
        """The products of ``params`` with each grid; a grid goes before it, and arguments before both.

        Raises ConfigError where the sweeper's own options make no sense.
        """
        from engram_hydra.errors import ConfigError

        assert self.hydra_context is not None
        self._check_options()
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        jobs: list[Job] = []
        for grid in self.grids:
            given = [f"{key}={values}" for key, values in (*self.params.items(), *grid.items())]
            overrides = parser.parse_overrides([*given, *arguments])
            (product,) = self.split_arguments(overrides, None)
            jobs += map(tuple, product)
        if not jobs:
            raise ConfigError(
                "the sweep has no job: hydra.sweeper.grids is an empty list, or a glob matches nothing;"
                " name at least one grid and one value of each key."
            )
        return list(dict.fromkeys(jobs))

    def _check_options(self) -> None:
        """What the schema can't refuse: OmegaConf holds no list of mappings to its types."""
        from engram_hydra.errors import ConfigError

        size = self.max_batch_size
        if size is not None and size < 1:
            raise ConfigError(
                f"hydra.sweeper.max_batch_size={size} is out of range: it must be at least 1,"
                " or null for all jobs at once."
            )
        for grid in self.grids:
            if not isinstance(grid, Mapping) or not all(
                isinstance(values, (str, int, float)) for values in grid.values()
            ):
                raise ConfigError(
                    f"hydra.sweeper.grids holds {grid}, which is no grid: write a mapping from each key"
                    ' to its values, as in {method: coral, seed: "0,1"}.'
                )

    def _distinct(self, jobs: Iterable[Job]) -> list[Job]:
        """The jobs, all of them checked, without those whose result an earlier one stands for."""
        from engram_hydra.run_key import config_key, seed_of

        kept: dict[str, Job] = {}  # by run key
        skipped = defaultdict(list)
        for job in jobs:
            task = self._checked(job)
            standing = kept.setdefault(config_key(task), job)
            if standing is not job:
                why = "it is the same run" if seed_of(task) is not None else "it is deterministic"
                others = [word for word in job if word not in standing] or job
                skipped[standing, why].append(" ".join(others))
        for (standing, why), others in skipped.items():
            log.info(
                "%s stands for %s too, skipped: %s", " ".join(standing), ", ".join(others), why
            )
        return list(kept.values())

    def _checked(self, job: Job) -> DictConfig:
        """The options of a job, composed and valid. Raises ConfigError or what Hydra does if not."""
        from engram_hydra.validation import validate

        assert self.hydra_context is not None and self.config is not None
        loader = self.hydra_context.config_loader
        task = loader.load_sweep_config(self.config, list(job)).copy()
        with open_dict(task):
            del task["hydra"]
        validate(task)
        return task


def _total(marked: "Tally", jobs: int, failed: int) -> str:
    """How many jobs there were: ``20 jobs: 12 new, 8 stood already``."""
    parts = [f"{marked.done - marked.stood} new"]
    parts += [f"{marked.stood} stood already"] if marked.stood else []
    parts += [f"{failed} failed"] if failed else []
    return f"{jobs} job{'s' if jobs > 1 else ''}: {', '.join(parts)}"
