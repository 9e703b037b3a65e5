"""Every outcome of every decision, on both sides of each bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report import decisions as decide
from engram_hydra.report.decisions import REFUTED, SUPPORTED, UNDECIDED

MARGIN, ALPHA = 0.05, 0.05


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (0.01, 0.30, 0.049, SUPPORTED),
        (0.01, 0.30, 0.05, UNDECIDED),  # the interval alone is not enough
        (0.00, 0.30, 0.001, UNDECIDED),  # nor is the p
        (-0.10, 0.00, 0.9, REFUTED),
        (-0.10, -0.01, 0.001, REFUTED),  # worse, and surely
        (-0.01, 0.049, 0.9, REFUTED),  # not better by as much as the margin
        (0.00, 0.049, 0.9, REFUTED),
        (-0.01, 0.05, 0.9, UNDECIDED),
        (0.01, 0.04, 0.2, UNDECIDED),  # low > 0, so a small gain is not refuted
    ],
)
def test_h1(low: float, high: float, p: float, outcome: str) -> None:
    assert decide.h1(low, high, p, MARGIN, ALPHA) == outcome


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (-0.02, 0.049, 0.01, SUPPORTED),
        (0.00, 0.00, 0.01, SUPPORTED),
        (-0.02, 0.049, 0.05, UNDECIDED),
        (-0.02, 0.05, 0.01, UNDECIDED),
        (0.001, 0.04, 0.9, REFUTED),
    ],
)
def test_h2(low: float, high: float, p: float, outcome: str) -> None:
    assert decide.h2(low, high, p, MARGIN, ALPHA) == outcome


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (0.01, 0.2, 0.01, SUPPORTED),
        (0.01, 0.2, 0.05, UNDECIDED),
        (0.00, 0.2, 0.01, UNDECIDED),
        (-0.2, 0.0, 0.9, UNDECIDED),
        (-0.2, -0.01, 0.9, REFUTED),
    ],
)
def test_h3a(low: float, high: float, p: float, outcome: str) -> None:
    assert decide.h3a(low, high, p, ALPHA) == outcome


@pytest.mark.parametrize(
    ("low", "narrow", "p", "outcome"),
    [
        (-0.06, (-0.049, 0.049), 0.01, SUPPORTED),  # 95% reaches beyond, 90% does not
        (-0.04, (-0.03, 0.04), 0.05, UNDECIDED),
        (-0.06, (-0.05, 0.03), 0.01, UNDECIDED),
        (-0.02, (-0.01, 0.05), 0.01, UNDECIDED),
        (0.04, (0.051, 0.2), 0.9, UNDECIDED),  # only 90% lies beyond
        (0.05, (0.06, 0.2), 0.9, UNDECIDED),
        (0.051, (0.06, 0.2), 0.9, REFUTED),
        (-0.3, (-0.2, -0.1), 0.9, UNDECIDED),  # without the part it is better
    ],
)
def test_h3b(low: float, narrow: tuple[float, float], p: float, outcome: str) -> None:
    assert decide.h3b(low, narrow, p, MARGIN, ALPHA) == outcome


def test_m1_is_the_opposite_of_h1() -> None:
    assert [decide.m1(h1) for h1 in (REFUTED, SUPPORTED, UNDECIDED)] == [
        SUPPORTED,
        REFUTED,
        UNDECIDED,
    ]


@pytest.mark.parametrize(
    ("h1", "low", "high", "narrow", "outcome"),
    [
        (SUPPORTED, -0.06, 0.06, (-0.04, 0.04), SUPPORTED),
        (SUPPORTED, -0.06, 0.06, (-0.05, 0.04), UNDECIDED),
        (UNDECIDED, -0.04, 0.04, (-0.03, 0.03), UNDECIDED),
        (REFUTED, -0.04, 0.04, (-0.03, 0.03), REFUTED),
        (SUPPORTED, 0.051, 0.2, (0.06, 0.19), REFUTED),
        (SUPPORTED, -0.2, -0.051, (-0.19, -0.06), REFUTED),
        (UNDECIDED, 0.05, 0.2, (0.06, 0.19), UNDECIDED),
        (UNDECIDED, -0.2, -0.05, (-0.19, -0.06), UNDECIDED),
    ],
)
def test_m2(h1: str, low: float, high: float, narrow: tuple[float, float], outcome: str) -> None:
    assert decide.m2(h1, low, high, narrow, MARGIN) == outcome


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (0.01, 0.2, 0.01, SUPPORTED),
        (0.01, 0.2, 0.05, UNDECIDED),
        (0.00, 0.2, 0.01, UNDECIDED),
        (-0.1, 0.0, 0.9, REFUTED),
        (-0.1, 0.01, 0.9, UNDECIDED),
    ],
)
def test_m3(low: float, high: float, p: float, outcome: str) -> None:
    assert decide.m3(low, high, p, ALPHA) == outcome


def test_m4() -> None:
    assert decide.m4(0.03, 0.02) == decide.m4(0.03, -0.02) == SUPPORTED
    assert decide.m4(0.02, 0.03) == decide.m4(0.02, -0.03) == decide.m4(0, 0) == REFUTED
    assert (
        decide.m4(0.3 - 0.2, 0.1) == decide.m4(0.1, 0.3 - 0.2) == REFUTED
    )  # equal, but for rounding


def test_the_wrong_side_includes_its_bound() -> None:
    means = np.array([-0.06, -0.05, 0.0, 0.05, 0.05])
    assert decide.p_not_above(means, 0.05) == pytest.approx(3 / 6)
    assert decide.p_above_zero(means) == pytest.approx(4 / 6)
    assert decide.p_within(means, 0.05) == pytest.approx(3 / 6)


def test_identical_questions_are_a_bound_of_their_own() -> None:
    """Of 3 questions none differs with 0.95^3 where each does so with 5%."""
    assert decide.p_identical(3, 0.05) == pytest.approx(0.857375)
    assert decide.p_identical(58, 0.05) > 0.05 > decide.p_identical(59, 0.05)


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_within_both_margins_is_as_hard_as_the_harder_one(
    means: list[float], margin: float
) -> None:
    drawn = np.array(means)
    both = decide.p_within(drawn, margin)
    assert both == max(decide.p_not_above(drawn, margin), decide.p_not_above(-drawn, margin))
    assert 0 < both <= 1
