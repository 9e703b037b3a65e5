"""Inner products of new vectors with all before them, in blocks that fit the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 256
COLUMNS = 4096


def gram_blocks(
    vectors: NDArray[np.float32], start: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """For each block of rows from ``start`` on: its first row, and its products with all up to its end.

    ``vectors`` has shape (n, d); the products of a block of b rows have shape (b, first + b), float64
    and exact for vectors on the grid.
    """
    for first in range(start, len(vectors), BLOCK):
        last = min(first + BLOCK, len(vectors))
        block = vectors[first:last].astype(np.float64)
        products = np.empty((last - first, last))
        for column in range(0, last, COLUMNS):
            part = slice(column, min(column + COLUMNS, last))
            products[:, part] = block @ vectors[part].astype(np.float64).T
        yield first, products
