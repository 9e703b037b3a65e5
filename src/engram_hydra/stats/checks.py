"""What every statistic asks of its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engram_hydra.errors import DataError

Floats = NDArray[np.float64]


def finite(values: Floats, dimensions: int, statistic: str) -> Floats:
    """``values`` as they are, if they are finite numbers of as many dimensions, none of them empty.

    Raises DataError otherwise; ``statistic`` names what can't be computed.
    """
    if values.ndim != dimensions or values.size == 0 or not np.isfinite(values).all():
        rows = "in each of at least one row " if dimensions > 1 else ""
        raise DataError(
            f"No {statistic} for values of shape {values.shape}: give one finite number for each of "
            f"at least one question {rows}({dimensions} dimensions)."
        )
    return values


def within(values: Floats, low: float, high: float, statistic: str) -> Floats:
    """``values`` of shape (n,) as they are, if they are finite and from ``low`` to ``high``.

    Raises DataError otherwise.
    """
    finite(values, 1, statistic)
    if values.min() < low or values.max() > high:
        raise DataError(
            f"No {statistic} for values from {values.min():g} to {values.max():g}: give fractions, "
            f"each from {low:g} to {high:g}."
        )
    return values
