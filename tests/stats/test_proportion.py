"""Wilson's interval against its definition and statsmodels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from engram_hydra.errors import DataError
from engram_hydra.stats import wilson


@settings(deadline=None)  # the first call imports statsmodels
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


@pytest.mark.parametrize(("successes", "n"), [(1, 3), (27, 100), (74, 83), (99, 100)])
def test_wilson_is_that_of_statsmodels(successes: int, n: int) -> None:
    for confidence in (0.9, 0.95):
        expected = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
        assert wilson(successes, n, confidence) == pytest.approx(expected, abs=1e-12)
