"""Quantiles of the tails against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engram_hydra.stats.tails import tails

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 90))
VALUES = st.one_of(st.floats(-1, 1, allow_subnormal=False), st.sampled_from([0.0, 0.1, 0.2]))


@given(arrays(float, SHAPES, elements=VALUES), st.sampled_from([0, 0.025, 0.05, 0.3, 0.5]))
def test_tails_are_numpys_quantiles(rows: np.ndarray, tail: float) -> None:
    expected = np.quantile(rows, [tail, 1 - tail], axis=1)
    assert np.array(tails(rows, tail)) == pytest.approx(expected, abs=1e-12)


def test_tails_of_rows_in_an_order_that_misleads() -> None:
    """Every twentieth value, by which a tail is guessed, is the smallest, or the largest, there is."""
    rows = np.random.default_rng(0).normal(size=(2, 10_000))
    rows[0, ::20] = -9
    rows[1, ::20] = 9
    expected = np.quantile(rows, [0.1, 0.9], axis=1)
    assert np.array(tails(rows, 0.1)) == pytest.approx(expected, abs=1e-12)
