"""What a comparison could have seen, against simulated power and exact tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from engram_hydra.errors import DataError
from engram_hydra.stats import identical_bound, is_saturated, smallest_detectable


def test_smallest_detectable_is_found_in_four_of_five() -> None:
    """Its power by the normal distribution: 80% within what rounding to 2.8 leaves."""
    differences = np.random.default_rng(0).normal(0, 0.3, 64)
    smallest = smallest_detectable(differences, zero_one=False)
    error = differences.std(ddof=1) / 8
    assert norm.sf(norm.isf(0.025) - smallest / error) == pytest.approx(0.8, abs=0.001)


def test_zero_one_differences_need_six_questions() -> None:
    """Six on one side are the fewest that an exact test finds at 5%."""
    assert binomtest(6, 6).pvalue < 0.05 < binomtest(5, 5).pvalue
    differences = np.zeros(100)
    assert smallest_detectable(differences, zero_one=True) == 6 / 100
    assert smallest_detectable(differences, zero_one=False) == 0
    differences[:40] = np.tile([1.0, -1.0], 20)
    expected = 2.8 * differences.std(ddof=1) / 10
    assert smallest_detectable(differences, zero_one=True) == pytest.approx(expected)
    assert expected > 6 / 100


def test_one_question_detects_nothing() -> None:
    assert smallest_detectable(np.array([1.0]), zero_one=True) == math.inf


@pytest.mark.parametrize("differences", [[], [math.nan, 0], [5.0, 0.0]])
def test_smallest_detectable_refuses(differences: list[float]) -> None:
    with pytest.raises(DataError, match="smallest detectable"):
        smallest_detectable(np.array(differences), zero_one=True)


@pytest.mark.parametrize(("lost", "saturated"), [(0, True), (5, True), (6, False), (50, False)])
def test_saturated_if_fewer_than_six_are_left(lost: int, saturated: bool) -> None:
    assert is_saturated(np.repeat([0.0, 1.0], [lost, 100 - lost])) is saturated


def test_six_left_in_seed_means_are_six() -> None:
    """Thirty questions lost in one seed of five are six, also with each mean one rounding off."""
    lost = np.nextafter(0.8, 1)
    assert not is_saturated(np.full(30, lost))
    assert is_saturated(np.repeat([lost, 1.0], [29, 71]))


@pytest.mark.parametrize("anchor", [[], [math.nan], [1.2], [-0.1], [[1.0]]])
def test_saturation_refuses(anchor: list[float]) -> None:
    with pytest.raises(DataError, match="saturation"):
        is_saturated(np.array(anchor))


@pytest.mark.parametrize("n", [60, 100, 1000])
def test_identical_bound_is_the_rule_of_three(n: int) -> None:
    """A rate of 3/n shows no difference in n questions once in twenty times."""
    assert (1 - identical_bound(n)) ** n == pytest.approx(0.05, abs=0.004)


def test_identical_bound_is_a_rate() -> None:
    assert identical_bound(1) == identical_bound(3) == 1
    with pytest.raises(DataError, match="at least one"):
        identical_bound(0)
