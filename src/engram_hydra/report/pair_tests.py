"""Every pair of cells of one metric, tested in one pass of resampling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.estimates import BOOTSTRAP_SEED, Cell, Estimate, seed_list
from engram_hydra.report.estimator import Estimator
from engram_hydra.stats import bootstrap_means, mcnemar, percentile_interval, sign_flip

Pair = tuple[Cell, Cell]
Floats = NDArray[np.float64]

PER_SEED = "McNemar's p on seed"  # begins a note on what single seeds say
NARROW = 0.90  # confidence of the interval that must lie within a margin
_DIGITS = 12  # of a difference: 0.6 - 0.4 and 0.2 are the same


@dataclass(frozen=True)
class Test:
    """The first of two cells minus the second.

    ``values`` are their seed means by question, shape (2, n), and ``seeds`` those they are means of;
    ``narrow`` are the ends of the difference's 90% interval; ``p`` is two-sided, from the test that
    ``name`` says.
    """

    values: Floats
    difference: Estimate
    narrow: tuple[float, float]
    p: float
    name: str
    seeds: str
    notes: tuple[str, ...]

    @cached_property
    def differences(self) -> Floats:
        """Of each question, shape (n,)."""
        return _differences(self.values)


@dataclass(frozen=True)
class Untested:
    """Why a pair has no test: ``word`` is ``not run`` or ``n/a``."""

    word: str
    notes: tuple[str, ...]


def pair_tests(
    estimator: Estimator, metric: str, pairs: Iterable[Pair]
) -> dict[Pair, Test | Untested]:
    """McNemar's exact test where both are single deterministic runs of a 0/1 metric, else sign flips.

    Intervals are percentile bootstrap ones over the questions. Raises DataError where two runs saw
    different questions or hold a bad number.
    """
    found: dict[Pair, Test | Untested] = {}
    paired: dict[Pair, tuple[Floats, list[str]]] = {}
    for pair in pairs:
        values, notes = estimator.paired(pair, metric)
        if isinstance(values, str):
            found[pair] = Untested(values, tuple(notes))
        else:
            paired[pair] = values, notes
    if not paired:
        return found
    differences = np.array([_differences(values) for values, _ in paired.values()])
    means = bootstrap_means(differences, seed=BOOTSTRAP_SEED)
    lows, highs = percentile_interval(means)
    narrow = np.transpose(percentile_interval(means, NARROW))
    flipped = sign_flip(differences, seed=BOOTSTRAP_SEED)
    for n, (pair, (values, notes)) in enumerate(paired.items()):
        by_seed = _by_seed(estimator, pair, metric)
        exact = not by_seed and bool(np.isin(values, (0, 1)).all())
        found[pair] = Test(
            values,
            Estimate(fmean(differences[n]), float(lows[n]), float(highs[n]), values.shape[1]),
            (float(narrow[n, 0]), float(narrow[n, 1])),
            mcnemar(*values) if exact else float(flipped[n]),
            "exact McNemar" if exact else "sign-flip",
            seed_list(by_seed or [DETERMINISTIC]),
            (*notes, *_described(by_seed)),
        )
    return found


def _differences(values: Floats) -> Floats:
    differences: Floats = np.round(values[0] - values[1], _DIGITS)
    return differences


def _by_seed(estimator: Estimator, pair: Pair, metric: str) -> dict[str, tuple[Floats, Floats]]:
    """Both columns on each common seed, a deterministic run on all of them; empty if both are."""
    a, b = (estimator.by_seed(cell, metric) for cell in pair)
    columns = {
        seed: (a.get(seed, a.get(DETERMINISTIC)), b.get(seed, b.get(DETERMINISTIC)))
        for seed in sorted({*a, *b} - {DETERMINISTIC})
    }
    return {seed: (x, y) for seed, (x, y) in columns.items() if x is not None and y is not None}


def _described(by_seed: dict[str, tuple[Floats, Floats]]) -> list[str]:
    """McNemar's test of each seed, as a description: seeds are no questions."""
    if not by_seed or not all(np.isin(pair, (0, 1)).all() for pair in by_seed.values()):
        return []
    if all((x == y).all() for x, y in by_seed.values()):
        return []
    ps = ", ".join(p_text(mcnemar(x, y)) for x, y in by_seed.values())
    return [f"{PER_SEED} {seed_list(by_seed)}: {ps}"]


def p_text(p: float) -> str:
    """``.012``, ``1.000``, or ``<.001``."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
