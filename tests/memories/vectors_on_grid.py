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


class WindowedEmbedder(TableEmbedder):
    """Some texts are long: ``"3"`` is also known by the rows ``windows[3]``, except as a query."""

    def __init__(self, beginnings: TableEmbedder, windows: dict[int, NDArray[np.float64]]) -> None:
        self.beginnings = beginnings
        self.parts = {row: on_grid(each) for row, each in windows.items()}
        self.table = beginnings.table.copy()
        for row, each in self.parts.items():
            self.table[row] = on_grid(each.sum(axis=0, keepdims=True, dtype=float))[0]

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.beginnings(texts)

    def windows(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        rows = {place: int(text.split()[0]) for place, text in enumerate(texts)}
        return {place: self.parts[row] for place, row in rows.items() if row in self.parts}

    def nearest(self, query: int, row: int) -> float:
        """The best cosine of the row's windows, one at a time, summed in Python."""
        own = self.beginnings.table[query].tolist()
        each = self.parts.get(row, self.table[row : row + 1]).tolist()
        return max(sum(a * b for a, b in zip(own, one, strict=True)) for one in each)


def windowed(rng: np.random.Generator, n: int, long: float = 0.5) -> WindowedEmbedder:
    """As ``clustered``; a share of the items is long, with windows around several centres."""
    beginnings = clustered(rng, n)
    windows = {}
    for row in np.flatnonzero(rng.random(n) < long).tolist():
        others = rng.integers(n, size=rng.integers(1, 9))
        windows[row] = beginnings.table[[row, *others]] + 0.1 * rng.normal(
            size=(len(others) + 1, 8)
        )
        windows[row][0] = beginnings.table[row]
    return WindowedEmbedder(beginnings, windows)
