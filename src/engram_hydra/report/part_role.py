"""What a part is to its whole, from its gain alone and the tested difference that it makes there."""

from __future__ import annotations

from engram_hydra.report.comparisons import ALPHA, BETTER, IDENTICAL, WORSE, Comparison
from engram_hydra.report.decisions import p_identical
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.pair_tests import p_text

MARGIN = 0.05  # as a fraction: what differs by less is as good as equal

NEEDED = "needed"
MAY_BE_NEEDED = "may be needed"
REDUNDANT = "redundant"
NOT_NEEDED = "not needed"
NEED_NOT_SHOWN = "need not shown"
HELPFUL_ALONE = "helpful alone, harmful in the whole"
HARMFUL = "harmful in the whole"
MAY_BE_HARMFUL = "may be harmful"
_MAY_BE = (MAY_BE_NEEDED, MAY_BE_HARMFUL)


def role_of(alone: Estimate, tested: Comparison) -> str:
    """``tested`` is the whole against itself without the part; empty where that was not tested.

    Needed or harmful is what the test shows, after Holm in its family; where only the unadjusted
    interval excludes 0, a part may be. One that the whole can do without must be equivalent: the 90%
    interval of its cost within 5 points of 0. It is redundant if it gains alone.
    """
    cost = tested.difference
    if isinstance(cost, str) or tested.narrow is None:
        return ""
    if tested.outcome == BETTER:
        return NEEDED
    if tested.outcome == WORSE:
        return HELPFUL_ALONE if alone.low > 0 else HARMFUL
    if is_equivalent(tested):
        return REDUNDANT if alone.low > 0 else NOT_NEEDED
    if cost.low > 0:
        return MAY_BE_NEEDED
    return MAY_BE_HARMFUL if cost.high < 0 else NEED_NOT_SHOWN


def is_equivalent(tested: Comparison) -> bool:
    """Whether the 90% interval of the difference lies within the margin on both sides.

    Where no question differs there is no spread to resample, so there must be enough of them.
    """
    if tested.narrow is None or isinstance(tested.difference, str):
        return False
    few = p_identical(tested.difference.n, MARGIN) >= ALPHA
    if tested.outcome == IDENTICAL and few:
        return False
    return tested.narrow[0] > -MARGIN and tested.narrow[1] < MARGIN


def role_note(alone: Estimate, tested: Comparison) -> str:
    """The part's role and the numbers it goes by; empty where the whole was not tested without it."""
    role = role_of(alone, tested)
    cost = tested.difference
    if not role or isinstance(cost, str) or tested.narrow is None:
        return ""
    without = Estimate(-cost.value, -cost.high, -cost.low, cost.n)
    numbers = f"alone {_signed(alone)}, without it {_signed(without)}"
    return f"{role} ({numbers}; {_because(role, tested)})"


def _because(role: str, tested: Comparison) -> str:
    """What the role goes by."""
    if role in (REDUNDANT, NOT_NEEDED):
        low, high = sorted(-100 * end + 0.0 for end in tested.narrow or ())
        return f"90% interval {low:.1f} to {high:.1f} within {100 * MARGIN:g} points of 0"
    holm = f"Holm p {p_text(tested.p_holm or 0.0)}"
    if role == NEED_NOT_SHOWN:
        return f"{holm}, smallest detectable difference {100 * (tested.detectable or 0):.1f}"
    return f"not shown after Holm, p {p_text(tested.p_holm or 0.0)}" if role in _MAY_BE else holm


def _signed(estimate: Estimate) -> str:
    value, low, high = (
        round(100 * x, 1) + 0.0 for x in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value:+.1f} ({low:.1f} to {high:.1f})"
