"""The numbers behind a verdict: a paired difference with its intervals, its test, and its runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from engram_hydra.report.cells import DETERMINISTIC, Run, Selection
from engram_hydra.report.estimates import BOOTSTRAP_SEED, Cell, Estimate, Spread, seed_list
from engram_hydra.report.estimator import SEEDS, Estimator
from engram_hydra.report.statements import Statements
from engram_hydra.report.why_missing import why_missing
from engram_hydra.stats import (
    bootstrap_means,
    is_saturated,
    mcnemar,
    percentile_interval,
    sign_flip,
    smallest_detectable,
)

SUBEM = "subem"
_DIGITS = (
    12  # means are rounded to them, so that one on a margin is not put to either side by rounding
)


@dataclass(frozen=True)
class Contrast:
    """A mean difference over ``n`` questions, in fractions.

    ``estimate`` has the deciding interval, ``narrow`` the ends of the one that must lie within a
    margin, ``p`` is two-sided, ``means`` are the bootstrap's, shape (resamples,).
    """

    estimate: Estimate
    narrow: tuple[float, float]
    p: float
    smallest: float
    identical: bool
    means: NDArray[np.float64]


class Evidence:
    """What the runs on one data set say of one metric; ``estimator`` is None where there are none."""

    def __init__(self, estimator: Estimator | None, metric: str, statements: Statements) -> None:
        self.metric = metric
        # A reader without a model resolves conflicts by itself, so it says nothing of a memory.
        answered = metric != SUBEM or (estimator is not None and _has_model_reader(estimator))
        self._estimator = estimator if answered else None
        self.selection = Selection({}, []) if estimator is None else estimator.selection
        self._confidences = (
            statements.confidence / 100,
            statements.equivalence_confidence / 100,
        )

    def missing(self, cells: Iterable[Cell]) -> dict[Cell, str]:
        """Each cell whose runs are not all there, with what lacks of it in words."""
        lacking = {}
        for cell in cells:
            seeds = self._of(cell)
            if not seeds:
                lacking[cell] = _name(cell)
                if cell in self._cells():
                    lacking[cell] += f" ({self.metric} not logged)"
            elif DETERMINISTIC not in seeds and (absent := set(SEEDS) - set(seeds)):
                lacking[cell] = f"{_name(cell)} seed {seed_list(absent)}"
            if cell in lacking and (reason := why_missing(self.selection, cell)):
                lacking[cell] += f" ({reason})"
        return lacking

    def why_missing(self, cells: Iterable[Cell]) -> str:
        """Why there is none of what is missing, if all of it was left out: ``ignored: other k``."""
        reasons = [why_missing(self.selection, cell) for cell in self.missing(cells)]
        return reasons[0] if len({*reasons}) == 1 else ""

    def runs(self, cells: Iterable[Cell]) -> list[Run]:
        """The runs of the cells, in their order."""
        return [run for cell in cells for run in self._of(cell).values()]

    def seeds(self, cells: Collection[Cell]) -> str:
        """The seeds of the stochastic cells as ``0-4``, or ``det.`` if there is none."""
        found = {seed for cell in cells for seed in self._of(cell)} - {DETERMINISTIC}
        return seed_list(found or {DETERMINISTIC}) if self.runs(cells) else ""

    def has(self, cell: Cell) -> bool:
        """Whether there is any run of the cell."""
        return cell in self._cells()

    def contrast(self, weights: Mapping[Cell, float]) -> Contrast | None:
        """The mean of a weighted sum of cells; None unless all their runs are there.

        ``p`` is McNemar's where two deterministic runs of zeros and ones differ by weights 1 and −1,
        else from a sign-flip test on the seed means.

        Raises DataError if the runs saw different questions.
        """
        if self._estimator is None or self.missing(weights):
            return None
        values, _ = self._estimator.paired(list(weights), self.metric)
        if isinstance(values, str):
            return None
        factors = np.array(list(weights.values()))
        differences = np.round(factors @ values, _DIGITS)
        means: NDArray[np.float64] = np.round(
            bootstrap_means(differences[None], seed=BOOTSTRAP_SEED)[0], _DIGITS
        )
        (low, high), narrow = (_ends(means, confidence) for confidence in self._confidences)
        pair = all(DETERMINISTIC in self._of(cell) for cell in weights) and list(factors) == [1, -1]
        if pair and np.isin(values, (0, 1)).all():
            p = mcnemar(values[0], values[1])
        else:
            p = float(sign_flip(differences[None], seed=BOOTSTRAP_SEED)[0])
        return Contrast(
            Estimate(round(fmean(differences), _DIGITS), low, high, differences.size),
            narrow,
            p,
            smallest_detectable(differences, zero_one=not self.metric.startswith("ndcg")),
            not differences.any(),
            means,
        )

    def spread(self, cell: Cell) -> Spread:
        """How far the means of the cell's seeds differ."""
        return Spread.of({seed: run.metrics[self.metric] for seed, run in self._of(cell).items()})

    def saturated(self, anchor: Cell) -> str:
        """What is left to win above the anchor if it is too little, else an empty string."""
        if self._estimator is None or self.missing([anchor]):
            return ""
        values, _ = self._estimator.paired([anchor], self.metric)
        if isinstance(values, str) or not is_saturated(values[0]):
            return ""
        left = round(values[0].size - float(values[0].sum()), 1)
        name = anchor.method.title()
        return f"saturated: {left:g} of {values[0].size} questions are left to win above {name}"

    def _cells(self) -> dict[Cell, dict[str, Run]]:
        return self._estimator.cells if self._estimator else {}

    def _of(self, cell: Cell) -> dict[str, Run]:
        return self._estimator.runs(cell, self.metric) if self._estimator else {}


def _ends(means: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    low, high = percentile_interval(means, confidence)
    return round(float(low), _DIGITS), round(float(high), _DIGITS)


def _has_model_reader(estimator: Estimator) -> bool:
    """Whether a language model answered: the name of such a reader has its model after a colon."""
    runs = [run for of_cell in estimator.cells.values() for run in of_cell.values()]
    return any(":" in run.tags.get("engram.reader", "") for run in runs)


def _name(cell: Cell) -> str:
    return " ".join(part for part in cell if part not in ("", "none"))
