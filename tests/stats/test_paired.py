"""Paired tests against enumeration, scipy and statsmodels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, permutation_test
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from engram_hydra.errors import DataError
from engram_hydra.stats import holm, mcnemar, share_p, sign_flip
from engram_hydra.stats.draws import blocks, signs

PAIRS = st.integers(1, 30).flatmap(
    lambda n: arrays(float, (2, n), elements=st.sampled_from([0.0, 1.0]))
)
P_VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_mcnemar_is_that_of_statsmodels(pair: np.ndarray) -> None:
    a, b = pair
    table = [[((a == i) & (b == j)).sum() for j in (1, 0)] for i in (1, 0)]
    expected = statsmodels_mcnemar(table, exact=True).pvalue if (a != b).any() else 1
    assert mcnemar(a, b) == pytest.approx(min(1.0, float(expected)))
    assert mcnemar(a, b) == mcnemar(b, a) == mcnemar(1 - a, 1 - b)


def test_mcnemar_by_hand() -> None:
    """Nine questions differ, one against eight: 2 (1 + 9) / 2**9."""
    a, b = np.repeat([1.0, 0.0, 1.0], [8, 1, 20]), np.repeat([0.0, 1.0, 1.0], [8, 1, 20])
    assert mcnemar(a, b) == pytest.approx(20 / 512)
    assert mcnemar(a, b) == pytest.approx(binomtest(1, 9).pvalue)
    assert mcnemar(a, a) == 1


@pytest.mark.parametrize(
    ("a", "b"), [([], []), ([0, 1], [1]), ([0, 0.5], [1, 0]), ([math.nan], [1]), ([[0]], [[1]])]
)
def test_mcnemar_refuses(a: list[float], b: list[float]) -> None:
    with pytest.raises(DataError, match="McNemar"):
        mcnemar(np.array(a), np.array(b))


def enumerated(differences: np.ndarray) -> float:
    """The share of all sign flips whose sum is at least as far from 0."""
    sums = [
        abs(math.fsum(np.multiply(signs, differences)))
        for signs in itertools.product((-1, 1), repeat=differences.size)
    ]
    return float(np.mean(np.array(sums) >= abs(math.fsum(differences)) - 1e-9))


def near(p: float, flips: int = 10_000) -> object:
    """As near as four Monte-Carlo standard errors, and the added one."""
    return pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / flips) + 1 / flips)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 12])
def test_sign_flip_is_enumeration(n: int) -> None:
    """Fifths tie often: what ties with the observed sum counts."""
    rows = np.random.default_rng(n).integers(-3, 6, size=(6, n)) / 5
    for row, p in zip(rows, sign_flip(rows, seed=1), strict=True):
        assert p == near(enumerated(row))


def test_sign_flip_is_that_of_scipy() -> None:
    differences = np.random.default_rng(8).normal(0.4, 1, 11)
    expected = permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=math.inf
    ).pvalue
    assert sign_flip(differences[np.newaxis], seed=2)[0] == near(expected)


def test_sign_flip_of_zeros_and_ones_is_mcnemar() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.random((2, 80)) < [[0.5], [0.35]]).astype(float)
    assert sign_flip((a - b)[np.newaxis], seed=3)[0] == near(mcnemar(a, b))


@settings(max_examples=40)
@given(arrays(float, (3, 9), elements=st.floats(-1, 1, allow_subnormal=False)))
def test_sign_flip_knows_no_direction_and_no_order_of_rows(differences: np.ndarray) -> None:
    p = sign_flip(differences, seed=0, flips=200)
    assert np.array_equal(sign_flip(-differences, seed=0, flips=200), p)
    assert np.array_equal(sign_flip(differences[::-1].copy(), seed=0, flips=200), p[::-1])
    assert ((p >= 1 / 201) & (p <= 1)).all()


def test_sign_flip_of_no_difference_and_of_the_clearest() -> None:
    rows = np.stack([np.zeros(100), np.full(100, 0.2)])
    assert sign_flip(rows, seed=0).tolist() == [1, 1 / 10_001]


def test_signs_are_fair_and_a_block_is_not_another() -> None:
    drawn = np.concatenate([signs(7000, 0, *block) for block in blocks(7000, 300)])
    assert drawn.shape == (300, 7000)
    assert set(np.unique(drawn)) == {-1, 1}
    assert len(np.unique(drawn, axis=0)) == 300
    assert abs(drawn.mean()) < 4 / math.sqrt(drawn.size)


@pytest.mark.parametrize("differences", [[[]], [[math.nan]], [[math.inf, 0]], [0.5]])
def test_sign_flip_refuses(differences: list[float]) -> None:
    with pytest.raises(DataError, match="sign-flip"):
        sign_flip(np.array(differences), seed=0)


def test_share_p() -> None:
    assert share_p(0) == 1 / 10_001
    assert share_p(499) == 500 / 10_001
    assert share_p(9, 9) == 1


@pytest.mark.parametrize(("count", "resamples"), [(-1, 10), (11, 10), (0, 0), (math.nan, 10)])
def test_share_p_refuses(count: float, resamples: int) -> None:
    with pytest.raises(DataError, match="resamples"):
        share_p(count, resamples)  # type: ignore[arg-type]


@given(P_VALUES)
def test_holm_is_its_definition(raw: list[float]) -> None:
    """The i-th smallest of m is multiplied by m - i + 1, and is no smaller than those before it."""
    adjusted = holm(raw)
    order, largest = np.argsort(raw, kind="stable"), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(raw) - rank) * raw[index]))
        assert adjusted[index] == pytest.approx(largest)
    assert (adjusted >= np.array(raw) - 1e-12).all()


def test_holm_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    for m in (1, 4, 60):
        raw = rng.random(m).round(1) ** 3  # with ties
        assert holm(raw) == pytest.approx(multipletests(raw, method="holm")[1])


def test_holm_keeps_the_order_given() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([1.0, 1 / 10_001, 1.0, 1.0])[1] == pytest.approx(4 / 10_001)


@pytest.mark.parametrize("p", [[math.nan], [-0.1], [1.1], [[0.5]]])
def test_holm_refuses(p: list[float]) -> None:
    with pytest.raises(DataError, match="Holm"):
        holm(p)
