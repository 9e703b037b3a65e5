"""What is said of a metric: an estimate with its interval, its spread over seeds, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.stats import bootstrap_mean, wilson

NOT_RUN = "not run"
NOT_APPLICABLE = "n/a"
BOOTSTRAP_SEED = 0


class Cell(NamedTuple):
    """The runs that differ in nothing but their seed; ``audit`` is the rule of an audit run."""

    method: str
    ablation: str = "none"
    variant: str = ""
    audit: str = ""


@dataclass(frozen=True)
class Estimate:
    """A mean over ``n`` questions with its 95% interval; fractions, or a difference of two."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Estimate:
        """The mean of one value per question, with its bootstrap interval over the questions."""
        low, high = bootstrap_mean(values, seed=BOOTSTRAP_SEED)
        return cls(fmean(values), low, high, values.size)

    @classmethod
    def of_share(cls, values: NDArray[np.float64]) -> Estimate:
        """The mean of one value from 0 to 1 per question, as all tables and curves give it.

        With Wilson's interval where every question has 0 or 1: one run, or seeds that all agree. A
        mean over seeds that differ is not binomial, so it has the bootstrap's.
        """
        if not np.isin(values, (0, 1)).all():
            return cls.of(values)
        low, high = wilson(int(values.sum()), values.size)
        return cls(fmean(values), low, high, values.size)


@dataclass(frozen=True)
class Spread:
    """Over which seeds a mean was taken, and how far they differ (None with fewer than two).

    ``seeds`` reads ``0-4``, ``0-1,3`` or ``det.``; ``sd`` has ddof = 1.
    """

    seeds: str = ""
    sd: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, by_seed: dict[str, float]) -> Spread:
        """The spread of one value per seed, of which there is at least one."""
        values = by_seed.values()
        if len(by_seed) == 1:
            return cls(seed_list(by_seed))
        return cls(seed_list(by_seed), stdev(values), min(values), max(values))


def seed_list(seeds: Iterable[str]) -> str:
    """``det.``, or the seeds in order with runs of neighbours joined: ``0-2,4``."""
    if DETERMINISTIC in (seeds := list(seeds)):
        return "det."
    spans: list[list[int]] = []
    for seed in sorted(map(int, seeds)):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ",".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)


def fraction(value: Estimate | float | str, sign: str = "") -> str:
    """``0.248 [0.100,0.392]``, or the word that stands for it; with ``sign="+"`` for differences."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:{sign}.3f}"
    return f"{value.value:{sign}.3f} [{value.low:.3f},{value.high:.3f}]"


def points(value: Estimate | float | str) -> str:
    """A difference of fractions in points: ``+24.8 [10.0,39.2]``, or the word that stands for it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{100 * value:+.1f}"
    # Adding 0 makes a rounded -0.0 a plain one.
    mean, low, high = (round(100 * x, 1) + 0.0 for x in (value.value, value.low, value.high))
    return f"{mean:+.1f} [{low:.1f},{high:.1f}]"
