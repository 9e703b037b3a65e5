"""Random draws that all rows share: how often each question is drawn, and signs.

They come in blocks, so that memory stays bounded for any number of questions. A block depends on
its arguments only, which is why the last ones can be kept: a report asks for the same over and over.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
"""Resamples of a bootstrap and flips of a sign-flip test."""

_CELLS = 500_000  # of one block: 4 MB as float64, 2 MB as kept


def blocks(n: int, draws: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of each block of ``draws`` draws of ``n`` questions, in order."""
    step = max(1, _CELLS // n)
    for start in range(0, draws, step):
        yield start, min(start + step, draws)


@lru_cache(maxsize=8)
def counts(n: int, seed: int, stratum: int, start: int, stop: int) -> NDArray[np.int32]:
    """How often each of ``n`` questions is drawn, (stop - start, n): n of n, with replacement.

    Strata of one seed are drawn independently.
    """
    rows = stop - start
    drawn = np.random.default_rng([seed, stratum, start]).integers(n, size=(rows, n))
    drawn += n * np.arange(rows)[:, np.newaxis]  # each row counts into its own n bins
    times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.int32)
    times.setflags(write=False)
    return times


@lru_cache(maxsize=8)
def signs(n: int, seed: int, start: int, stop: int) -> NDArray[np.int8]:
    """Fair signs, -1 or 1, of shape (stop - start, n)."""
    rng = np.random.default_rng([seed, start])
    drawn = 2 * rng.integers(2, size=(stop - start, n), dtype=np.int8) - 1
    drawn.setflags(write=False)
    return drawn
