"""How often an interval of a 0/1 metric holds the true rate: computed exactly, and simulated.

The exact rate is a sum over the number of successes x of the binomial probability of x times the
probability that the interval of x holds p. For Wilson's interval that is 0 or 1, from its closed form.
A bootstrapped mean is Binomial(n, x/n)/n, so which side of p an end lies on depends on how many of the
resamples lie below p, which is binomial again: nothing is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, norm

from engram_hydra.stats import bootstrap_mean, wilson

TAIL = 0.025


class Coverage(NamedTuple):
    """An interval's coverage at one n and p, exact and simulated."""

    interval: str
    n: int
    p: float
    exact: float
    simulated: float
    samples: int

    @property
    def errors(self) -> float:
        """The simulated rate's distance from the exact one in Monte-Carlo standard errors."""
        return (self.simulated - self.exact) / math.sqrt(
            self.exact * (1 - self.exact) / self.samples
        )


def between(n: int, below: int) -> float:
    """A rate midway between two that ``n`` questions can show, so that no end falls on it."""
    return (below + 0.5) / n


def exact_wilson(n: int, p: float) -> float:
    """From the score equation: p is held where |x/n - p| <= z sqrt(p (1 - p) / n)."""
    x = np.arange(n + 1)
    holds = np.abs(x / n - p) <= norm.ppf(1 - TAIL) * math.sqrt(p * (1 - p) / n)
    return float(binom.pmf(x, n, p) @ holds)


def exact_bootstrap(n: int, p: float, resamples: int) -> float:
    """For a p ``between`` two rates and resamples of which the interval's ends are two, like 1,001."""
    rank = round(TAIL * (resamples - 1))
    if not math.isclose(rank, TAIL * (resamples - 1)):
        raise ValueError(f"With {resamples} resamples the ends are interpolated: take 40 m + 1.")
    x = np.arange(n + 1)
    below = binom.cdf(math.floor(n * p), n, x / n)  # of one resample
    low_above = binom.cdf(rank, resamples, below)
    high_below = binom.sf(resamples - 1 - rank, resamples, below)
    return float(binom.pmf(x, n, p) @ (1 - low_above - high_below))


def simulated(
    interval: Callable[[np.ndarray, int], tuple[float, float]], n: int, p: float, samples: int
) -> float:
    """The share of samples whose interval, of (values, number of the sample), holds p."""
    rng = np.random.default_rng([n, round(1e6 * p)])
    held = 0
    for sample in range(samples):
        low, high = interval((rng.random(n) < p).astype(float), sample)
        held += low <= p <= high
    return held / samples


def coverages(n: int, p: float, samples: int, resamples: int) -> list[Coverage]:
    """Both intervals at one n and p; every sample is bootstrapped with a seed of its own."""

    def by_wilson(values: np.ndarray, _: int) -> tuple[float, float]:
        return wilson(int(values.sum()), n)

    def by_bootstrap(values: np.ndarray, sample: int) -> tuple[float, float]:
        return bootstrap_mean(values, seed=sample, resamples=resamples)

    exact = exact_wilson(n, p), exact_bootstrap(n, p, resamples)
    return [
        Coverage(name, n, p, expected, simulated(interval, n, p, samples), samples)
        for name, expected, interval in zip(
            ("Wilson", "bootstrap"), exact, (by_wilson, by_bootstrap), strict=True
        )
    ]


def table(rows: list[Coverage]) -> str:
    """The coverages as a Markdown table."""
    lines = [
        "| interval | n | p | exact | simulated | standard errors |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.interval} | {row.n} | {row.p:.4g} | {row.exact:.4f} | {row.simulated:.4f} "
        f"| {row.errors:+.1f} |"
        for row in rows
    ]
    return "\n".join(lines)
