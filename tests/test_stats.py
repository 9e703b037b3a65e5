"""Intervals and tests against closed forms, known distributions, statsmodels and scipy."""

from __future__ import annotations

import math
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.stats import (
    bootstrap_mean,
    bootstrap_means,
    holm,
    identical_bound,
    is_saturated,
    mcnemar,
    percentile_interval,
    share_p,
    sign_flip,
    smallest_detectable,
    stratified_bootstrap_means,
    wilson,
)


@settings(deadline=None)  # the first one imports statsmodels
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


def test_rows_are_resampled_together() -> None:
    a, b = np.random.default_rng(3).random((2, 30))
    means = bootstrap_means(np.stack([a, b, a - b]), seed=7, resamples=500)
    assert means.shape == (3, 500)
    np.testing.assert_allclose(means[0] - means[1], means[2], atol=1e-12)
    np.testing.assert_allclose(bootstrap_means(b[None], seed=7, resamples=500)[0], means[1])


def test_an_interval_that_ends_at_zero_does_not_exclude_it() -> None:
    """0.6 - 0.4 is not 0.2 in floating point: a resample with as many of both must still be 0."""
    differences = np.array([[0.6 - 0.4] * 6 + [0.2 - 0.4] * 6 + [0.0] * 8])
    means = bootstrap_means(differences, seed=0)[0]
    near = np.abs(means) < 1e-9
    assert near.sum() > 500
    assert not means[near].any()


def test_blocks_resample_whole_questions() -> None:
    """More draws than are kept: means of ones stay one, and those of an indicator are binomial."""
    values = np.zeros((2, 4000))
    values[0] = 1
    values[1, :1000] = 1
    means = bootstrap_means(values, seed=0)
    np.testing.assert_allclose(means[0], 1, atol=1e-12)
    assert means[1].std() == pytest.approx(math.sqrt(0.25 * 0.75 / 4000), rel=0.05)


def test_intervals_are_scipys() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(11).beta(2, 1, 80)
    theirs = bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    low, high = bootstrap_mean(values, seed=0)
    # A 2.5% quantile of 10,000 draws has a standard error of about 0.027 of their sd.
    error = 0.027 * values.std() / math.sqrt(80)
    assert low == pytest.approx(theirs.low, abs=4 * math.sqrt(2) * error)
    assert high == pytest.approx(theirs.high, abs=4 * math.sqrt(2) * error)


def test_confidence_of_an_interval() -> None:
    means = np.arange(1001.0)[None]
    low, high = percentile_interval(means, 0.9)
    assert (low[0], high[0]) == pytest.approx((50, 950))


def test_strata_keep_their_sizes() -> None:
    """Resampled within strata that do not vary, a mean does not vary either; across them it would."""
    strata = [np.ones((1, 30)), np.zeros((1, 10))]
    means = stratified_bootstrap_means(strata, seed=0, resamples=200)
    np.testing.assert_allclose(means, 0.75)
    varied = [np.array([[0.0, 1.0] * 15]), np.array([[0.0, 1.0] * 5])]
    means = stratified_bootstrap_means(varied, seed=0)
    assert means.std() == pytest.approx(math.sqrt(0.25 / 40), rel=0.05)


zeros_and_ones = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


@settings(deadline=None)
@given(zeros_and_ones)
def test_mcnemar_is_a_binomial_test_of_the_discordant(pairs: list[tuple[bool, bool]]) -> None:
    from scipy.stats import binomtest

    a, b = np.array(pairs, dtype=np.float64).T
    wins, losses = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert mcnemar(a, b) == pytest.approx(expected)
    assert mcnemar(b, a) == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), [([0.5], [1]), ([1, 0], [1]), ([], []), ([math.nan], [1])])
def test_mcnemar_refuses(a: list[float], b: list[float]) -> None:
    with pytest.raises(DataError, match="McNemar"):
        mcnemar(np.array(a), np.array(b))


@pytest.mark.parametrize("n", [1, 5, 9])
def test_sign_flips_estimate_the_share_of_all_flips(n: int) -> None:
    differences = np.random.default_rng(n).integers(-2, 3, n) / 4
    every = np.array(list(product((-1, 1), repeat=n))) @ differences
    exact = (np.abs(every) >= abs(differences.sum()) - 1e-9).mean()
    [p] = sign_flip(differences[None], seed=1)
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000) + 1e-4)


def test_sign_flip_agrees_with_scipy() -> None:
    from scipy.stats import permutation_test

    differences = np.random.default_rng(2).normal(0.15, 1, 60)
    theirs = permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    ).pvalue
    [ours] = sign_flip(differences[None], seed=0)
    assert 0.02 < theirs < 0.98
    assert ours == pytest.approx(theirs, abs=4 * math.sqrt(2 * theirs * (1 - theirs) / 10_000))


def test_sign_flip_by_row() -> None:
    rows = np.array([[0.0] * 8, [1.0] * 8, [-1.0] * 8, [1.0, -1.0] * 4])
    zero, all_up, all_down, balanced = sign_flip(rows, seed=0)
    assert (zero, balanced) == (1, 1)
    assert all_up == all_down == pytest.approx(2 / 2**8, abs=0.004)
    assert sign_flip(np.ones((1, 40)), seed=0)[0] == 1 / 10_001


def test_share_of_resamples_is_never_zero() -> None:
    assert (share_p(0), share_p(10_000), share_p(1, 3)) == (1 / 10_001, 1, 0.5)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels(p: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_holm_of_none_and_of_no_p() -> None:
    assert holm([]).size == 0
    for wrong in ([1.5], [math.nan], [-0.1]):
        with pytest.raises(DataError, match="Holm"):
            holm(wrong)


def test_smallest_detectable_difference() -> None:
    differences = np.array([1.0, -1.0] * 50)
    sd = math.sqrt(100 / 99)
    assert smallest_detectable(differences, zero_one=False) == pytest.approx(2.8 * sd / 10)
    assert smallest_detectable(np.zeros(100), zero_one=False) == 0
    assert smallest_detectable(np.zeros(100), zero_one=True) == 0.06
    assert smallest_detectable(np.ones(1), zero_one=True) == math.inf


def test_the_power_behind_the_smallest_detectable_difference() -> None:
    """A true difference of that size is found in about 80% of samples by a test at .05."""
    rng = np.random.default_rng(4)
    samples = rng.normal(2.8 / math.sqrt(100), 1, (4000, 100))
    z = samples.mean(axis=1) / samples.std(axis=1, ddof=1) * 10
    assert (np.abs(z) > 1.96).mean() == pytest.approx(0.80, abs=0.025)


def test_saturated_is_fewer_than_six_left_to_win() -> None:
    assert is_saturated(np.repeat([1.0, 0.0], [95, 5]))
    assert not is_saturated(np.repeat([1.0, 0.0], [94, 6]))
    assert is_saturated(np.array([0.0]))
    # Ten times 0.6 are left, which sums to a little less than 6.
    assert not is_saturated(np.repeat([1.0, 0.4], [90, 10]))


def test_what_identical_questions_leave_possible() -> None:
    assert (identical_bound(100), identical_bound(1)) == (0.03, 1)


def exact_coverage_of_wilson(p: float, n: int) -> float:
    from scipy.stats import binom

    covers = [low <= p <= high for low, high in (wilson(s, n) for s in range(n + 1))]
    return float(binom(n, p).pmf(np.arange(n + 1))[covers].sum())


def exact_coverage_of_bootstrap(p: float, n: int) -> float:
    """Of 0/1 values, whose resampled sums are binomial: quantiles in closed form, per count."""
    from scipy.stats import binom

    counts = np.arange(n + 1)
    low, high = (binom(n, counts / n).ppf(q) / n for q in (0.025, 0.975))
    covers = (low <= p) & (p <= high)
    return float(binom(n, p).pmf(counts)[covers].sum())


@pytest.mark.parametrize("n", [20, 100])
def test_coverage_is_the_exact_one(n: int) -> None:
    """Simulated coverage lies within three Monte-Carlo standard errors of the exactly computed one."""
    rng, samples = np.random.default_rng(n), 400
    for p in (0.05, 0.27, 0.5, 0.85):
        counts = rng.binomial(n, p, samples)
        found = {}
        ends = [wilson(int(s), n) for s in counts]
        found["wilson"] = (ends, exact_coverage_of_wilson(p, n))
        values = (np.arange(n) < counts[:, None]).astype(float)
        low, high = percentile_interval(bootstrap_means(values, seed=0))
        ends = list(zip(low - 1e-12, high + 1e-12, strict=True))
        found["bootstrap"] = (ends, exact_coverage_of_bootstrap(p, n))
        for name, (intervals, exact) in found.items():
            covered = float(np.mean([a <= p <= b for a, b in intervals]))
            print(f"n={n} p={p:.2f} {name}: {covered:.3f}, exactly {exact:.3f}")
            assert covered == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / samples))
