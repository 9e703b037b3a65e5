"""Vectors of the written items, and scores that do not depend on how they were computed.

The embedder puts every component on a grid of 2**-24. Products of two components are then multiples
of 2**-48, and no partial sum of a dot product of unit vectors needs more than 53 bits: in float64
the sum is exact in any order. Scores are therefore the same for any batch size, block or number of
threads, and equal vectors tie exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.memory import Embed, Hit, Memory

QUERIES_AT_ONCE = 64


class VectorMemory(Memory):
    """A memory that keeps its items as vectors, in the order of writing."""

    uses_vectors: ClassVar[bool] = True

    def __init__(self, *, ties: str, embed: Embed) -> None:
        self.ties = ties
        self.embed = embed
        self.ids: list[str] = []
        self.vectors: NDArray[np.float64] = np.empty((0, 0))

    def write(self, items: Sequence[Item]) -> None:
        if not items:
            return
        new = self.embed([item.text for item in items]).astype(np.float64)
        self.vectors = np.concatenate([self.vectors, new]) if self.ids else new
        self.ids.extend(item.id for item in items)

    def cosines(self, queries: Sequence[str]) -> Iterator[NDArray[np.float64]]:
        """Exact cosines of the queries to all items, shape (n,) for one query after the other."""
        vectors = self.embed(queries).astype(np.float64)
        for start in range(0, len(vectors), QUERIES_AT_ONCE):
            yield from vectors[start : start + QUERIES_AT_ONCE] @ self.vectors.T

    def hits(self, positions: NDArray[np.intp], scores: NDArray[np.float64]) -> list[Hit]:
        """The ranking as (id, score) pairs; ``scores`` has shape (n,), over all items."""
        return [Hit(self.ids[i], float(scores[i])) for i in positions]
