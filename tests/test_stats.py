"""Intervals against closed forms and known distributions."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.stats import bootstrap_mean, wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_ends_solve_the_score_equation(case: tuple[int, int]) -> None:
    """Each end p satisfies |p̂ - p| = z sqrt(p (1 - p) / n), the interval's definition."""
    successes, n = case
    share, z = successes / n, 1.959963984540054
    low, high = wilson(successes, n)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        assert (share - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / n, abs=1e-12)


def test_wilson_confidence() -> None:
    assert wilson(40, 100, 0.9)[0] > wilson(40, 100)[0]


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5), (2.5, 5), (math.nan, 5)])
def test_wilson_refuses(successes: float, n: int) -> None:
    with pytest.raises(DataError, match="Wilson"):
        wilson(successes, n)  # type: ignore[arg-type]


@pytest.mark.parametrize("ones", [3, 27, 50, 97])
def test_bootstrap_of_zeros_and_ones_is_binomial(ones: int) -> None:
    """Resampled sums of 0/1 values are Binomial(n, p̂), whose quantiles are known exactly."""
    from scipy.stats import binom

    low, high = bootstrap_mean(np.repeat([1.0, 0.0], [ones, 100 - ones]), seed=1)
    # 10,000 draws give the 2.5% quantile to ±0.16% of probability, three times over 0.5%.
    expected = binom(100, ones / 100).ppf
    assert expected(0.020) <= round(100 * low, 9) <= expected(0.030)
    assert expected(0.970) <= round(100 * high, 9) <= expected(0.980)


def test_bootstrap_of_differences_is_near_normal() -> None:
    values = np.random.default_rng(5).normal(0.1, 1, 400)
    half = 1.959963984540054 * values.std() / math.sqrt(400)
    low, high = bootstrap_mean(values, seed=2)
    assert low == pytest.approx(values.mean() - half, abs=0.06 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.06 * half)


def test_bootstrap_is_seeded() -> None:
    values = np.random.default_rng(0).random(30)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)


def test_bootstrap_of_a_constant() -> None:
    assert bootstrap_mean(np.full(7, 0.25), seed=0, resamples=50) == (0.25, 0.25)


@settings(max_examples=25)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_bootstrap_stays_within_the_values(values: list[float]) -> None:
    low, high = bootstrap_mean(np.array(values), seed=0, resamples=200)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12


def test_bootstrap_memory_is_bounded() -> None:
    tracemalloc.start()
    try:
        bootstrap_mean(np.random.default_rng(0).random(2000), seed=0)
        assert tracemalloc.get_traced_memory()[1] < 40e6  # at once it would be 320 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("values", [[], [0.5, math.nan], [math.inf], [[0.0, 1.0]]])
def test_bootstrap_refuses(values: list[float]) -> None:
    with pytest.raises(DataError, match="bootstrap"):
        bootstrap_mean(np.array(values), seed=0)
