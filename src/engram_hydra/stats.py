"""Confidence intervals: of a proportion, and of a mean over questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engram_hydra.errors import DataError

_CELLS = 1_000_000  # resampled values held in memory at once: 16 MB with their indices


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of ``successes`` out of ``n``, within [0, 1].

    Source: Wilson (1927), JASA 22(158):209-212; computed by statsmodels. For one deterministic run
    of a 0/1 metric; a mean over seeds is not binomial (see ``bootstrap_mean``).

    Raises DataError if ``n`` is not positive or ``successes`` not a whole number in 0..n.
    """
    if n < 1 or not 0 <= successes <= n or successes != int(successes):
        raise DataError(
            f"No Wilson interval for {successes} successes of {n}: give a whole number from 0 to n "
            "out of at least one question."
        )
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
    share = successes / n  # an end of the range in exact arithmetic if it is 0 or 1; rounding errs
    return max(0.0, min(share, float(low))), min(1.0, max(share, float(high)))


def bootstrap_mean(
    values: NDArray[np.float64],
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of ``values``, shape (n,), one per question.

    Questions are the unit, so for several seeds pass each question's mean over the seeds: the
    interval is then conditional on these seeds. For a paired difference pass each question's
    difference. The same values (in the same order) and seed give the same interval.

    Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.

    Raises DataError if ``values`` is empty or holds a NaN or an infinity.
    """
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise DataError(
            f"No bootstrap interval for values of shape {values.shape}: give one finite number for "
            "each of at least one question."
        )
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _CELLS // values.size)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(values.size, size=(rows, values.size))
        means[start : start + rows] = values[drawn].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
