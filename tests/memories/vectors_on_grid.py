"""Made-up embedders whose vectors lie on the grid, as the real one's do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def on_grid(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    """Unit vectors, each component a multiple of 2**-24."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (np.round(unit * 2**24) / 2**24).astype(np.float32)


class TableEmbedder:
    """Each text names its vector: ``"3"`` or ``"3 anything"`` is row 3."""

    def __init__(self, vectors: NDArray[np.float64]) -> None:
        self.table = on_grid(vectors)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [int(text.split()[0]) for text in texts]
        return self.table[rows] if rows else np.empty((0, self.table.shape[1]), np.float32)


def clustered(rng: np.random.Generator, n: int, dim: int = 8, centres: int = 4) -> TableEmbedder:
    """``n`` vectors around a few centres, some of them equal, as paraphrases and repeats are."""
    middle = rng.normal(size=(centres, dim))
    vectors = middle[rng.integers(centres, size=n)] + 0.4 * rng.normal(size=(n, dim))
    for copy in range(n // 5):
        vectors[rng.integers(n)] = vectors[copy]
    return TableEmbedder(vectors)
