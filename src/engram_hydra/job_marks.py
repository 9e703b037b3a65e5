"""What the jobs of a sweep leave in their folders for their sweeper, whatever process they run in."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engram_hydra.hydra_job import output_folder

_DONE, _STOOD = "done", "stood"


class Tally(NamedTuple):
    """How many jobs of a sweep ended well, and for how many of these an earlier run stood."""

    done: int
    stood: int


def mark_done() -> None:
    """Of the job that this process is at: it ended well."""
    _mark(_DONE)


def mark_stood() -> None:
    """Of the job that this process is at, if it is at one: an earlier run stands for it."""
    from hydra.core.hydra_config import HydraConfig

    if HydraConfig.initialized():
        _mark(_STOOD)


def tally(sweep: Path) -> Tally:
    """Count the marks below the folder of a sweep."""
    return Tally(*(sum(1 for _ in sweep.rglob(f".hydra/{name}")) for name in (_DONE, _STOOD)))


def _mark(name: str) -> None:
    folder = output_folder() / ".hydra"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
