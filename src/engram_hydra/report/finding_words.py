"""How the main findings write numbers and places."""

from __future__ import annotations

from engram_hydra.report.estimates import Estimate
from engram_hydra.report.statements import Place
from engram_hydra.report.verdicts import Verdict


def on(place: Place | Verdict) -> str:
    """``on fc_sh_6k (answer_in_top_1)``."""
    return f"on {place.dataset} ({place.metric})"


def ends(estimate: Estimate) -> str:
    """The interval in points: ``9.0 to 28.2``."""
    low, high = (round(100 * end, 1) + 0.0 for end in (estimate.low, estimate.high))
    return f"{low:.1f} to {high:.1f}"


def points(value: float) -> str:
    """A fraction as signed points: ``+18.6``."""
    return f"{round(100 * value, 1) + 0.0:+.1f}"


def with_ends(estimate: Estimate) -> str:
    """``+18.6 (9.0 to 28.2)``."""
    return f"{points(estimate.value)} ({ends(estimate)})"


def negative(cost: Estimate) -> Estimate:
    """What a whole gains without a part, from the part's cost."""
    return Estimate(-cost.value, -cost.high, -cost.low, cost.n)
