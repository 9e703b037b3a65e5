"""What a part is to its whole, on both sides of each bound."""

from __future__ import annotations

import pytest

from engram_hydra.report.estimates import Estimate
from engram_hydra.report.part_role import role_note, role_of

GAINS, MAY_NOT_GAIN = Estimate(0.2, 0.1, 0.3, 9), Estimate(0.2, 0.0, 0.3, 9)
MISSED, HARMS, NOT_MISSED = (Estimate(m, m - 0.1, m + 0.1, 9) for m in (0.2, -0.2, 0.05))


@pytest.mark.parametrize(
    ("alone", "cost", "role"),
    [
        (GAINS, MISSED, "needed"),
        (MAY_NOT_GAIN, MISSED, "needed"),
        (GAINS, NOT_MISSED, "redundant"),
        (GAINS, Estimate(0.1, 0.0, 0.2, 9), "redundant"),
        (GAINS, Estimate(-0.1, -0.2, 0.0, 9), "redundant"),
        (GAINS, HARMS, "helpful alone, harmful in the whole"),
        (MAY_NOT_GAIN, HARMS, "harmful in the whole"),
        (MAY_NOT_GAIN, NOT_MISSED, "not clear"),
    ],
)
def test_role(alone: Estimate, cost: Estimate, role: str) -> None:
    assert role_of(alone, cost) == role


def test_the_note_gives_both_numbers() -> None:
    assert role_note(GAINS, NOT_MISSED) == (
        "redundant: alone it gains 20.0 points, while the interval of its cost in the whole (+5.0) "
        "includes 0"
    )
    assert role_note(GAINS, HARMS) == (
        "helpful alone, harmful in the whole: alone it gains 20.0 points, but without it the whole "
        "gains 20.0 points"
    )
    assert role_note(MAY_NOT_GAIN, HARMS) == (
        "harmful in the whole: without it the whole gains 20.0 points"
    )
    assert role_note(GAINS, MISSED) == role_note(MAY_NOT_GAIN, NOT_MISSED) == ""
