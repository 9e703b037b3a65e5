"""How each statement is decided: pure functions of numbers, all differences as fractions.

``low`` and ``high`` are the ends of a difference's 95% interval, ``narrow`` those of the 90% one, and
``p`` the one the statement goes by. On a margin means not within it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engram_hydra.stats import share_p

SUPPORTED = "supported"
REFUTED = "refuted"
UNDECIDED = "undecided"
NOT_APPLICABLE = "not applicable"
NOT_RUN = "not run"

Interval = tuple[float, float]


def h1(low: float, high: float, p: float, margin: float, alpha: float) -> str:
    """One beats another; refuted too where it does not by as much as the margin."""
    if low > 0 and p < alpha:
        return SUPPORTED
    return REFUTED if high <= 0 or (low <= 0 and high < margin) else UNDECIDED


def h2(low: float, high: float, p: float, margin: float, alpha: float) -> str:
    """One does not beat another."""
    if low <= 0 and high < margin and p < alpha:
        return SUPPORTED
    return REFUTED if low > 0 else UNDECIDED


def h3a(low: float, high: float, p: float, alpha: float) -> str:
    """A part costs most of the gain; the interval is that of cost − gain/2."""
    if low > 0 and p < alpha:
        return SUPPORTED
    return REFUTED if high < 0 else UNDECIDED


def h3b(low: float, narrow: Interval, p: float, margin: float, alpha: float) -> str:
    """A part costs little."""
    if _within(narrow, margin) and p < alpha:
        return SUPPORTED
    return REFUTED if low > margin else UNDECIDED


def m1(h1: str) -> str:
    """The opposite of H1."""
    return {SUPPORTED: REFUTED, REFUTED: SUPPORTED}.get(h1, UNDECIDED)


def m2(h1: str, low: float, high: float, narrow: Interval, margin: float) -> str:
    """One beats Dense and ties Tide; the intervals are those of its difference to Tide."""
    if h1 == SUPPORTED and _within(narrow, margin):
        return SUPPORTED
    return REFUTED if h1 == REFUTED or low > margin or high < -margin else UNDECIDED


def m3(low: float, high: float, p: float, alpha: float) -> str:
    """One part costs more than another."""
    if low > 0 and p < alpha:
        return SUPPORTED
    return REFUTED if high <= 0 else UNDECIDED


def m4(range_: float, gap: float) -> str:
    """Seeds differ by more than the means do; both lose what rounding adds to them."""
    return SUPPORTED if round(range_, 12) > round(abs(gap), 12) else REFUTED


def p_not_above(means: NDArray[np.float64], margin: float) -> float:
    """Share of resamples at or above the margin, shape of ``means`` (resamples,): H2's p."""
    return share_p(int((means >= margin).sum()), means.size)


def p_above_zero(means: NDArray[np.float64]) -> float:
    """Share of resamples at or below 0: H3a's p, of cost − gain/2."""
    return share_p(int((means <= 0).sum()), means.size)


def p_within(means: NDArray[np.float64], margin: float) -> float:
    """The larger of the shares at or beyond either margin: H3b's p."""
    beyond = max((means <= -margin).sum(), (means >= margin).sum())
    return share_p(int(beyond), means.size)


def p_identical(n: int, margin: float) -> float:
    """How likely ``n`` questions are all equal where the true rate of difference is the margin.

    A mean difference of the margin needs at least that rate, since no question differs by more than 1.
    Where no difference was seen the bootstrap has no variance, so its p can't be smaller than this.
    Source: the binomial probability of 0 of n.
    """
    return float((1 - margin) ** n)


def _within(interval: Interval, margin: float) -> bool:
    return -margin < interval[0] and interval[1] < margin
