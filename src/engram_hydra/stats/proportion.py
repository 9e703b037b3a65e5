"""The interval of a proportion."""

from __future__ import annotations

from engram_hydra.errors import DataError


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of ``successes`` out of ``n``, within [0, 1].

    Source: Wilson (1927), JASA 22(158):209-212; computed by statsmodels. For one deterministic run
    of a 0/1 metric; a mean over seeds is not binomial (see ``bootstrap.py``).

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
