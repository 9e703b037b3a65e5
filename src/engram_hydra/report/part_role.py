"""What a part is to its whole, from its gain alone and its cost in the whole."""

from __future__ import annotations

from engram_hydra.report.estimates import Estimate

NEEDED = "needed"
REDUNDANT = "redundant"
HELPFUL_ALONE = "helpful alone, harmful in the whole"
HARMFUL = "harmful in the whole"
NOT_CLEAR = "not clear"


def role_of(alone: Estimate, cost: Estimate) -> str:
    """By where both 95% intervals lie; ``cost`` is what the whole loses without the part.

    A part that the whole needs costs more than 0 when it is taken out; a redundant one gains alone,
    but the whole can do without it; a harmful one holds the whole back.
    """
    if cost.low > 0:
        return NEEDED
    if cost.high < 0:
        return HELPFUL_ALONE if alone.low > 0 else HARMFUL
    return REDUNDANT if alone.low > 0 else NOT_CLEAR


def role_note(alone: Estimate, cost: Estimate) -> str:
    """Why a part is redundant or harmful, in a sentence; empty for another."""
    role = role_of(alone, cost)
    gains = f"alone it gains {100 * alone.value:.1f} points"
    without = f"without it the whole gains {-100 * cost.value:.1f} points"
    if role == REDUNDANT:
        return (
            f"{role}: {gains}, while the interval of its cost in the whole "
            f"({100 * cost.value:+.1f}) includes 0"
        )
    if role == HELPFUL_ALONE:
        return f"{role}: {gains}, but {without}"
    return f"{role}: {without}" if role == HARMFUL else ""
