"""What Hydra knows of the job that this process is at."""

from __future__ import annotations

from pathlib import Path


def in_sweep() -> bool:
    """Whether this is a job of a sweep; not so where Hydra runs none, as in a script of one's own."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return HydraConfig.initialized() and HydraConfig.get().mode is RunMode.MULTIRUN


def sweep_folder() -> Path:
    """The folder of the sweep, the same in every process of it."""
    from hydra.core.hydra_config import HydraConfig

    return Path(HydraConfig.get().sweep.dir)


def output_folder() -> Path:
    """The folder Hydra made for this job."""
    from hydra.core.hydra_config import HydraConfig

    return Path(HydraConfig.get().runtime.output_dir)
