"""Intervals, paired tests, corrections, and what a comparison could have seen.

Questions are the unit throughout: for several seeds pass each question's mean over them, and what
follows is conditional on these seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engram_hydra.errors import DataError

Values = NDArray[np.float64]

RESAMPLES = 10_000
DECIMALS = 12  # of a resampled mean
POWER_80 = 2.8  # z of 97.5% plus z of 80%: what 80% power needs, in standard errors
FEWEST_LEFT = 6  # the exact test of six questions, all one way, is the first below .05
_KEPT = 10_000_000  # draws of one size that are kept for the next values: 80 MB
_AT_ONCE = 1_000_000  # numbers drawn at once where they are not kept


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


def bootstrap_means(values: Values, *, seed: int, resamples: int = RESAMPLES) -> Values:
    """Means over resampled questions: ``values`` (rows, n) give (rows, resamples).

    All rows see the same resampled questions, so what is worked out from several rows' means (a
    difference, cost - gain/2) is bootstrapped jointly. The same n and seed draw the same questions.
    Means are rounded to 12 decimals, so that a resample whose differences cancel is 0 and no rest of
    rounding puts an interval beside 0 that ends at it.

    Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, sections 6.2 and 13.3.

    Raises DataError if there is no question, or a value is no finite number.
    """
    _check(values)
    n = values.shape[-1]
    if resamples * n <= _KEPT:
        sums = _times(values, _counts(n, seed, resamples))
    else:
        rng = np.random.default_rng(seed)
        sums = np.hstack([_times(values, _draw(rng, n, rows)) for rows in _blocks(n, resamples)])
    return _mean(sums, n)


def stratified_bootstrap_means(
    strata: Sequence[Values], *, seed: int, resamples: int = RESAMPLES
) -> Values:
    """As ``bootstrap_means``, with questions resampled within each stratum, (rows, n_s) each.

    The mean is over all questions, so a stratum weighs as much as it has of them.
    """
    total = sum(values.shape[-1] for values in strata)
    seeds = np.random.SeedSequence(seed).generate_state(len(strata))
    sums = [
        values.shape[-1] * bootstrap_means(values, seed=int(own), resamples=resamples)
        for values, own in zip(strata, seeds, strict=True)
    ]
    return _mean(np.sum(sums, axis=0), total)


def percentile_interval(means: Values, confidence: float = 0.95) -> tuple[Values, Values]:
    """The two ends of the percentile interval over the last axis of resampled means."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=-1)
    return low, high


def bootstrap_mean(
    values: Values, *, seed: int, resamples: int = RESAMPLES, confidence: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of ``values``, shape (n,), one per question.

    The same values (in the same order) and seed give the same interval. With few questions and a mean
    near 0 or 1 it is too narrow: of zeros alone it is [0, 0].

    Raises DataError if ``values`` is empty or holds a NaN or an infinity.
    """
    if values.ndim != 1:
        raise DataError(f"No bootstrap interval for values of shape {values.shape}: give one row.")
    low, high = percentile_interval(
        bootstrap_means(values[None], seed=seed, resamples=resamples), confidence
    )
    return float(low[0]), float(high[0])


def mcnemar(a: Values, b: Values) -> float:
    """Two-sided p of McNemar's exact test: two 0/1 columns of the same questions, shape (n,).

    1 where no question tells them apart. Source: McNemar (1947), Psychometrika 12(2):153-157, with
    binomial probabilities; computed by statsmodels.

    Raises DataError where the columns differ in length or hold anything but 0 and 1.
    """
    if a.shape != b.shape or not a.size or not (set(np.unique(a)) | set(np.unique(b))) <= {0, 1}:
        raise DataError(
            "McNemar's test compares two columns of 0 and 1 over the same questions: for means over "
            "seeds take the sign-flip test."
        )
    from statsmodels.stats.contingency_tables import mcnemar as exact

    table = [[int(np.sum((a == x) & (b == y))) for y in (1, 0)] for x in (1, 0)]
    return min(1.0, float(exact(table, exact=True).pvalue))


def sign_flip(differences: Values, *, seed: int, flips: int = RESAMPLES) -> Values:
    """Two-sided p of the paired sign-flip test of each row of ``differences``, (rows, n).

    Under the null each question's difference is as likely with the other sign. p = (1 + flips whose
    mean is at least as far from 0) / (1 + flips), so never 0; 1 for a row of zeros.

    Source: Fisher (1935), The Design of Experiments, section 21; the estimate of p by Phipson & Smyth
    (2010), SAGMB 9(1):39.

    Raises DataError if there is no question, or a value is no finite number.
    """
    _check(differences)
    n = differences.shape[-1]
    observed = np.abs(differences.sum(axis=-1))
    reached = observed - 1e-9 * (1 + observed)  # equal sums may differ by rounding
    rng = np.random.default_rng(seed)
    count = np.zeros(differences.shape[0])
    for rows in _blocks(n, flips):
        signs = rng.integers(2, size=(rows, n), dtype=np.int8) * 2.0 - 1
        count += (np.abs(differences @ signs.T) >= reached[:, None]).sum(axis=-1)
    return (1 + count) / (1 + flips)


def share_p(count: int, resamples: int = RESAMPLES) -> float:
    """p of ``count`` of ``resamples`` on the wrong side: (1 + count) / (1 + resamples)."""
    return (1 + count) / (1 + resamples)


def holm(p: Sequence[float] | Values) -> Values:
    """Holm's adjusted p values, in the order of ``p``, at most 1.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2):65-70. Here rather than statsmodels',
    which collects garbage at every call: 0.2 s for each of a report's many families.

    Raises DataError where a p is not in [0, 1].
    """
    raw = np.asarray(p, dtype=np.float64)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise DataError(f"Holm's correction takes p values from 0 to 1, not {raw.tolist()}.")
    order = np.argsort(raw)
    steps = raw[order] * np.arange(raw.size, 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def smallest_detectable(differences: Values, *, zero_one: bool) -> float:
    """The mean difference that these questions would show at 80% power: 2.8 sd / sqrt(n), ddof = 1.

    ``zero_one``: of a 0/1 metric, where fewer than six discordant questions can't reach .05, so it is
    never below 6 / n. Infinite for a single question.

    Raises DataError if there is no question, or a value is no finite number.
    """
    _check(differences)
    n = differences.size
    sd = float(differences.std(ddof=1)) if n > 1 else np.inf
    least = FEWEST_LEFT / n if zero_one else 0.0
    return max(POWER_80 * sd / float(np.sqrt(n)), least)


def is_saturated(anchor: Values) -> bool:
    """Whether fewer than six questions are left to win above ``anchor``, shape (n,), in [0, 1]."""
    _check(anchor)
    left = anchor.size - float(anchor.sum())
    return round(left, 9) < FEWEST_LEFT  # a sum of fifths may miss a whole number


def identical_bound(n: int) -> float:
    """The true rate of difference that n identical questions leave possible: 3 / n, at most 1.

    Source: the rule of three, Hanley & Lippman-Hand (1983), JAMA 249(13):1743-1745.
    """
    return min(1.0, 3 / n)


def _check(values: Values) -> None:
    if not values.size or not np.isfinite(values).all():
        raise DataError(
            f"No bootstrap interval or test for values of shape {values.shape}: give one finite number "
            "for each of at least one question."
        )


@lru_cache(maxsize=2)
def _counts(n: int, seed: int, resamples: int) -> Values:
    """How often each question stands in each resample, (resamples, n): the same for every row."""
    rng = np.random.default_rng(seed)
    counts = np.vstack([_draw(rng, n, rows) for rows in _blocks(n, resamples)])
    counts.setflags(write=False)
    return counts


def _blocks(n: int, draws: int) -> list[int]:
    """The draws in parts whose numbers fit in memory at once."""
    step = max(1, _AT_ONCE // n)
    return [min(step, draws - start) for start in range(0, draws, step)]


def _draw(rng: np.random.Generator, n: int, rows: int) -> Values:
    drawn = rng.integers(n, size=(rows, n))
    drawn += n * np.arange(rows)[:, None]
    counts: Values = np.bincount(drawn.ravel(), minlength=rows * n).astype(np.float64)
    return counts.reshape(rows, n)


def _times(values: Values, draws: Values) -> Values:
    """Sums of (rows, n) weighted by each of (draws, n): (rows, draws)."""
    product: Values = values @ draws.T
    return product


def _mean(sums: Values, n: int) -> Values:
    means: Values = np.round(sums / n, DECIMALS)
    return means
