"""How often the intervals hold the true rate, against the rate that is computed exactly."""

from __future__ import annotations

import pytest

from engram_hydra.stats import bootstrap

from interval_coverage import between, coverages, exact_bootstrap, exact_wilson, table

GRID = [(20, 10), (20, 16), (20, 19), (50, 5), (50, 40), (50, 48)]


def test_coverage_is_what_it_is_computed_to_be():
    rows = [
        row
        for n, below in GRID
        for row in coverages(n, between(n, below), samples=1_000, resamples=401)
    ]
    print(table(rows))
    assert max(abs(row.errors) for row in rows) < 3, table(rows)


def test_the_docstring_says_where_the_bootstrap_is_too_narrow():
    words = " ".join((bootstrap.__doc__ or "").split())
    assert between(50, 48) == pytest.approx(0.97)
    narrow, wide = exact_bootstrap(50, 0.97, 10_001), exact_wilson(50, 0.97)
    assert f"a true rate of 0.97 lies in {narrow:.1%} of the intervals of 50 questions" in words
    assert f"Wilson's: {wide:.1%}" in words
