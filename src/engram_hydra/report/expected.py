"""Which runs a whole table needs: its standing rows, on the seeds that each method has."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import Coral
from engram_hydra.memories.build import memory_class
from engram_hydra.options import switches_of
from engram_hydra.report.ablation_table import standing_rows
from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import SEEDS


def expected_seeds(*, known_conflicts: bool) -> dict[Cell, tuple[str, ...]]:
    """The seeds of each standing row in order: 0 to 4, or ``deterministic``.

    On data without known conflicts the methods that are told them have no run to give.
    """
    expected: dict[Cell, tuple[str, ...]] = {}
    for cell in standing_rows():
        options = OmegaConf.load(Path(conf_dir()) / "method" / f"{cell.method}.yaml")
        assert isinstance(options, DictConfig)
        cls = memory_class(options)
        if cls.sees_conflicts and not known_conflicts:
            continue
        declared = switches_of(OmegaConf.structured(Coral))  # no other row has an ablation
        on = {part: off != cell.ablation for part, off in declared.items()}
        expected[cell] = SEEDS if cls.is_stochastic(on) else (DETERMINISTIC,)
    return expected
