"""The bootstrap against closed forms, known distributions and scipy's."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom
from scipy.stats import bootstrap as scipy_bootstrap

from engram_hydra.errors import DataError
from engram_hydra.stats import (
    bootstrap_mean,
    bootstrap_means,
    percentile_interval,
    stratified_bootstrap_means,
)

ROWS = arrays(
    float,
    st.tuples(st.integers(1, 4), st.integers(1, 12)),
    elements=st.floats(-1, 1, allow_subnormal=False),
)


@pytest.mark.parametrize("ones", [3, 27, 50, 97])
def test_bootstrap_of_zeros_and_ones_is_binomial(ones: int) -> None:
    """Resampled sums of 0/1 values are Binomial(n, p̂), whose quantiles are known exactly."""
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


def test_bootstrap_is_that_of_scipy() -> None:
    """Each end is a quantile of scipy's resampled means, as far as 10,000 of each can tell."""
    values = np.random.default_rng(3).integers(-5, 6, 60) / 5
    theirs = scipy_bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(4)
    ).bootstrap_distribution
    error = math.sqrt(2 * 0.025 * 0.975 / 10_000)
    for end, share in zip(bootstrap_mean(values, seed=5), (0.025, 0.975), strict=True):
        assert (theirs < end - 1e-9).mean() - 3 * error <= share
        assert share <= (theirs <= end + 1e-9).mean() + 3 * error


def test_resampled_means_have_the_mean_and_spread_they_must_have() -> None:
    values = np.random.default_rng(1).random((3, 80))
    means = bootstrap_means(values, seed=7)
    spread = values.std(axis=1) / math.sqrt(80)
    assert means.shape == (3, 10_000)
    assert np.abs(means.mean(axis=1) - values.mean(axis=1)).max() < 4 * spread.max() / 100
    assert means.std(axis=1) == pytest.approx(spread, rel=4 / math.sqrt(20_000))


def test_every_question_is_drawn_alike() -> None:
    """One row per question that marks it: its resampled mean is its share of the draws."""
    n, resamples = 12, 10_000
    drawn = n * bootstrap_means(np.eye(n), seed=3, resamples=resamples)
    assert np.array_equal(drawn.round(9).sum(axis=0), np.full(resamples, n))
    assert np.abs(drawn.mean(axis=1) - 1).max() < 4 * math.sqrt((1 - 1 / n) / resamples)
    assert drawn.var(axis=1) == pytest.approx(np.full(n, 1 - 1 / n), rel=0.1)


@settings(max_examples=40)
@given(ROWS)
def test_rows_are_resampled_jointly(values: np.ndarray) -> None:
    means = bootstrap_means(values, seed=1, resamples=50)
    differences = bootstrap_means(values - values[:1], seed=1, resamples=50)
    assert differences == pytest.approx(means - means[:1], abs=1e-11)
    assert np.array_equal(bootstrap_means(values[::-1].copy(), seed=1, resamples=50), means[::-1])


@settings(max_examples=40)
@given(ROWS)
def test_an_interval_lies_within_the_resampled_means(values: np.ndarray) -> None:
    means = bootstrap_means(values, seed=2, resamples=60)
    low, high = percentile_interval(means)
    inner = percentile_interval(means, 0.9)
    assert low.shape == high.shape == (len(values),)
    assert (means.min(axis=1) <= low).all() and (high <= means.max(axis=1)).all()
    assert (low <= inner[0]).all() and (inner[0] <= inner[1]).all() and (inner[1] <= high).all()


def test_a_mean_that_equals_a_margin_is_not_beyond_it() -> None:
    """Fifths sum with rounding errors; every resample of these means is exactly the margin."""
    parts = np.tile([0.6 - 0.4, 0.4 - 0.2, 0.2], 30)[np.newaxis]
    assert (bootstrap_means(parts, seed=0) == 0.2).all()


def test_blocks_are_drawn_anew() -> None:
    """7,000 questions take many blocks: no resample is that of another block."""
    means = bootstrap_means(np.random.default_rng(2).random((1, 7000)), seed=0, resamples=300)
    assert len(np.unique(means)) == 300


def test_one_stratum_is_the_plain_bootstrap() -> None:
    values = np.random.default_rng(0).random((2, 40))
    strata = stratified_bootstrap_means([values], seed=9, resamples=100)
    assert np.array_equal(strata, bootstrap_means(values, seed=9, resamples=100))


def test_strata_keep_their_sizes_and_are_independent() -> None:
    """What differs only between strata does not vary; variances within them add up."""
    constant = [np.full((1, 30), 0.2), np.full((1, 10), 0.8)]
    assert (stratified_bootstrap_means(constant, seed=0, resamples=200) == 0.35).all()
    same = np.random.default_rng(6).random((1, 50))
    means = stratified_bootstrap_means([same, same], seed=0)
    spread = same.std() / math.sqrt(50) / math.sqrt(2)
    assert means.std() == pytest.approx(spread, rel=4 / math.sqrt(20_000))


@pytest.mark.parametrize(
    "strata", [[], [np.ones((1, 3)), np.ones((2, 3))], [np.ones((1, 3)), np.ones((1, 0))]]
)
def test_strata_that_do_not_fit_are_refused(strata: list[np.ndarray]) -> None:
    with pytest.raises(DataError, match="bootstrap"):
        stratified_bootstrap_means(strata, seed=0)


@pytest.mark.parametrize("means", [[], [[0.1, math.nan]], 0.5])
def test_percentile_interval_refuses(means: object) -> None:
    with pytest.raises(DataError, match="percentile"):
        percentile_interval(np.array(means))


def test_percentile_interval_cuts_off_equal_tails() -> None:
    """Of 41 means the 2.5% quantile is the second, the 5% quantile the third."""
    means = np.arange(41.0).reshape(1, 1, 41)
    for confidence, ends in ((0.95, (1, 39)), (0.9, (2, 38))):
        low, high = percentile_interval(means, confidence)
        assert low.shape == high.shape == (1, 1)
        assert (low.item(), high.item()) == pytest.approx(ends)
