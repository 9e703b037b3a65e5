"""What a part is to its whole, on both sides of each bound."""

from __future__ import annotations

import pytest

from engram_hydra.report.comparisons import ALPHA, Comparison
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.pair_tests import NARROW
from engram_hydra.report.part_role import MARGIN, is_equivalent, role_note, role_of
from engram_hydra.report.statements import load_statements

GAINS, MAY_NOT_GAIN = Estimate(0.2, 0.1, 0.3, 100), Estimate(0.2, 0.0, 0.3, 100)
WIDE, WITHIN = (-0.05, 0.04), (-0.049, 0.049)


def against(
    outcome: str, cost: Estimate, narrow: tuple[float, float] = WIDE, p: float = 0.066
) -> Comparison:
    return Comparison(
        "f", 7, "m", "Coral", "no x", cost, outcome, p, p, detectable=0.08, narrow=narrow
    )


def between(low: float, high: float, n: int = 100) -> Estimate:
    return Estimate((low + high) / 2, low, high, n)


@pytest.mark.parametrize(
    ("alone", "test", "role"),
    [
        (GAINS, against("better", between(0.1, 0.3)), "needed"),
        (MAY_NOT_GAIN, against("better", between(0.1, 0.3)), "needed"),
        (GAINS, against("not shown", between(0.1, 0.3)), "may be needed"),
        (GAINS, against("worse", between(-0.3, -0.1)), "helpful alone, harmful in the whole"),
        (MAY_NOT_GAIN, against("worse", between(-0.3, -0.1)), "harmful in the whole"),
        (GAINS, against("not shown", between(-0.3, -0.1)), "may be harmful"),
        (GAINS, against("not shown", between(-0.06, 0.06), WITHIN), "redundant"),
        (MAY_NOT_GAIN, against("not shown", between(-0.06, 0.06), WITHIN), "not needed"),
        (GAINS, against("not shown", between(-0.06, 0.06)), "need not shown"),
        (GAINS, against("not shown", between(-0.1, 0.0)), "need not shown"),
        (GAINS, against("identical", between(0, 0, 59), (0, 0)), "redundant"),
        (GAINS, against("identical", between(0, 0, 58), (0, 0)), "need not shown"),
        (GAINS, Comparison("f", 7, "m", "Coral", "no x", "not run", "not run"), ""),
    ],
)
def test_role(alone: Estimate, test: Comparison, role: str) -> None:
    assert role_of(alone, test) == role


@pytest.mark.parametrize("narrow", [(-0.05, 0.0), (0.0, 0.05)])
def test_on_the_margin_is_not_within_it(narrow: tuple[float, float]) -> None:
    assert not is_equivalent(against("not shown", between(-0.06, 0.06), narrow))
    assert is_equivalent(
        against("not shown", between(-0.06, 0.06), (0.9 * narrow[0], narrow[1] / 2))
    )


def test_the_note_says_what_the_role_goes_by() -> None:
    assert role_note(GAINS, against("not shown", between(-0.16, -0.04))) == (
        "may be harmful (alone +20.0 (10.0 to 30.0), without it +10.0 (4.0 to 16.0); not shown after "
        "Holm, p .066)"
    )
    assert role_note(GAINS, against("better", between(0.1, 0.3), p=0.002)) == (
        "needed (alone +20.0 (10.0 to 30.0), without it -20.0 (-30.0 to -10.0); Holm p .002)"
    )
    assert role_note(GAINS, against("not shown", between(-0.06, 0.02), (-0.049, 0.01))) == (
        "redundant (alone +20.0 (10.0 to 30.0), without it +2.0 (-2.0 to 6.0); 90% interval -1.0 to 4.9 "
        "within 5 points of 0)"
    )
    assert role_note(GAINS, against("not shown", between(-0.06, 0.06))).endswith(
        "; Holm p .066, smallest detectable difference 8.0)"
    )
    assert role_note(GAINS, Comparison("f", 7, "m", "Coral", "no x", "n/a", "n/a")) == ""


def test_the_margins_are_those_that_were_stated() -> None:
    stated = load_statements()
    assert (stated.alpha, stated.margin_share) == (ALPHA, MARGIN)
    assert stated.equivalence_confidence == 100 * NARROW
