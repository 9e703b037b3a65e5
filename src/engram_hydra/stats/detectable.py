"""What a comparison could have seen: the smallest difference, saturation, and identical runs."""

from __future__ import annotations

import math

import numpy as np

from engram_hydra.errors import DataError
from engram_hydra.stats.checks import Floats, finite, within

_Z = 2.8  # normal quantiles: 1.96 for a two-sided 5% test and 0.84 for 80% power
_FEWEST = 6  # discordant questions all on one side before an exact test reaches 5%: 2 / 2**6 < 0.05


def smallest_detectable(differences: Floats, *, zero_one: bool) -> float:
    """The smallest true mean difference found with 80% power at the 5% level.

    ``differences`` has shape (n,), one per question, in the unit of the result. It is
    2.8 sd / sqrt(n) with ddof = 1, and with ``zero_one`` (a 0/1 metric, or means of one over seeds)
    at least 6/n. One question detects nothing: infinity. It is 0 for equal differences of another
    metric, where ``identical_bound`` says more.

    Source: Cohen (1988), Statistical Power Analysis, chapter 2, in its normal approximation.

    Raises DataError if ``differences`` is empty, holds a NaN or an infinity, or with ``zero_one``
    one beyond -1 and 1.
    """
    statistic = "smallest detectable difference"
    values = (
        within(differences, -1, 1, statistic) if zero_one else finite(differences, 1, statistic)
    )
    if values.size == 1:
        return math.inf
    smallest = _Z * float(np.std(values, ddof=1)) / math.sqrt(values.size)
    return max(smallest, _FEWEST / values.size) if zero_one else smallest


def is_saturated(anchor: Floats) -> bool:
    """Whether fewer than six questions are left to win above ``anchor``, shape (n,), from 0 to 1.

    Values are an anchor's metric per question (a mean over seeds if it has several).

    Raises DataError if ``anchor`` is empty or a value is not from 0 to 1.
    """
    values = within(anchor, 0, 1, "saturation")
    left = values.size - math.fsum(values)
    return round(left, 9) < _FEWEST


def identical_bound(n: int) -> float:
    """The true rate of difference that no difference in ``n`` questions rules out at 95%; at most 1.

    Source: the rule of three, Hanley & Lippman-Hand (1983), JAMA 249(13):1743-1745.

    Raises DataError if ``n`` is not positive.
    """
    if n < 1:
        raise DataError(f"No bound for {n} identical questions: give at least one question.")
    return min(1.0, 3 / n)
