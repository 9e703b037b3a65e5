"""A Hydra launcher over Ray's task API: a job is a task, done again if its worker is lost."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import (
    JobReturn,
    JobStatus,
    configure_log,
    filter_overrides,
    run_job,
    setup_globals,
)
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

log = logging.getLogger("engram_hydra.sweep")

SECONDS_TO_STOP = 20  # for runs to mark themselves as stopped, before their workers are ended
GIB = 2**30


@dataclass
class RayLauncherConf:
    """What ``conf/hydra/launcher/ray.yaml`` sets, and explains."""

    _target_: str = "hydra_plugins.engram_ray_launcher.RayLauncher"
    address: str | None = None
    num_cpus: int = 1
    memory_gb: float | None = None
    max_retries: int = 3
    runtime_env: dict[str, Any] = field(default_factory=dict)


# Not as hydra/launcher, where another plugin's `ray` would be the same name.
ConfigStore.instance().store(
    group="schema/launcher", name="ray", node=RayLauncherConf, provider="engram_ray_launcher"
)


class RayLauncher(Launcher):
    """Runs each job as a Ray task with ``num_cpus`` CPUs, which Ray makes its number of threads.

    A job whose worker or node is lost is done again, up to ``max_retries`` times; one that raises is
    not. Every machine needs the same installation at the same path, and the same files.
    """

    def __init__(
        self,
        address: str | None,
        num_cpus: int,
        memory_gb: float | None,
        max_retries: int,
        runtime_env: DictConfig,
    ) -> None:
        self.address = address
        self.num_cpus = num_cpus
        self.max_retries = max_retries
        self.options = {
            "num_cpus": num_cpus,
            "memory": memory_gb and int(memory_gb * GIB),
            "max_retries": max_retries,
            "runtime_env": OmegaConf.to_container(runtime_env, resolve=True),
        }

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        _check_ranges(config.hydra.launcher)
        self.config = config
        self.shared = (hydra_context, config, task_function)

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> list[JobReturn]:
        """Do every job and return what became of each, in the order of ``job_overrides``.

        Raises ConfigError where Ray is missing, can't be reached, or has too few CPUs.
        """
        from engram_hydra.cli import heed_sigterm
        from hydra_plugins.engram_ray_launcher._cluster import connected

        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        Path(self.config.hydra.sweep.dir).mkdir(parents=True, exist_ok=True)
        ray = connected(self.address, self.num_cpus, self.max_retries)
        heed_sigterm()  # once more, for Ray has set a handler of its own
        shared = ray.put((*self.shared, Singleton.get_state()))
        task = ray.remote(**self.options)(_job)
        jobs = dict(enumerate(job_overrides, start=initial_job_idx))
        log.info("%d jobs on Ray, %d CPUs in all", len(jobs), ray.cluster_resources()["CPU"])
        refs = []
        for number, overrides in jobs.items():
            log.info("\t#%d : %s", number, " ".join(filter_overrides(overrides)))
            refs.append(task.options(name=f"job {number}").remote(shared, number, list(overrides)))
        try:
            return [
                self._outcome(ray, ref, overrides)
                for ref, overrides in zip(refs, jobs.values(), strict=True)
            ]
        except BaseException:  # Ctrl-C, above all: in a task that runs Ray raises it too
            for ref in refs:
                ray.cancel(ref)
            ray.wait(refs, num_returns=len(refs), timeout=SECONDS_TO_STOP, fetch_local=False)
            raise

    def _outcome(self, ray: Any, ref: Any, overrides: Sequence[str]) -> JobReturn:
        """What became of a job; FAILED where it has nothing to say for itself, and the others go on."""
        from engram_hydra.errors import EngramError

        lost = (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.NodeDiedError,
            ray.exceptions.OutOfMemoryError,
            ray.exceptions.ObjectLostError,
        )
        try:
            done: JobReturn = ray.get(ref)
            return done
        except lost as error:
            times = "once" if self.max_retries == 0 else f"{self.max_retries + 1} times"
            problem: Exception = EngramError(
                f"its worker was lost {times}, and no retry is left ({type(error).__name__}): if for want"
                " of memory, set hydra.launcher.memory_gb to what a run needs."
            )
        except ray.exceptions.RayError as error:
            problem = error
        return JobReturn(overrides=list(overrides), status=JobStatus.FAILED, _return_value=problem)


def _check_ranges(options: DictConfig) -> None:
    """Raise ConfigError for numbers that Ray would refuse in words of its own, or take in another sense."""
    from engram_hydra.errors import ConfigError

    for name, least in {"num_cpus": 1, "max_retries": 0, "memory_gb": 0.1}.items():
        if options[name] is not None and options[name] < least:
            raise ConfigError(
                f"hydra.launcher.{name}={options[name]} is out of range: it must be at least {least}."
            )


def _job(shared: tuple[Any, ...], number: int, overrides: list[str]) -> JobReturn:
    """One job, in a worker process."""
    context, config, task_function, state = shared
    setup_globals()
    Singleton.set_state(state)  # brings the resolvers and the schemas of the process that sweeps
    sweep_config = context.config_loader.load_sweep_config(config, overrides)
    with open_dict(sweep_config):
        sweep_config.hydra.job.id = f"{sweep_config.hydra.job.name}_{number}"
        sweep_config.hydra.job.num = number
    HydraConfig.instance().set_config(sweep_config)
    return run_job(
        hydra_context=context,
        config=sweep_config,
        task_function=task_function,
        job_dir_key="hydra.sweep.dir",
        job_subdir_key="hydra.sweep.subdir",
    )
