"""Tide: dense retrieval with a recency prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.index import ExactIndex, Index
from engram_hydra.memories.memory import Embed
from engram_hydra.memories.vectors import VectorMemory


class Tide(VectorMemory):
    """The cosine, ebbing with age: cosine x (1 - w + w x 2^(-age / half_life)).

    Age runs from 0 for the newest item to 1 for the oldest; negative cosines are left as they are.

    Args:
        w: weight of recency, 0 (Dense) to 1.
        half_life: the age, as a share of the history, at which recency has halved; above 0.
    """

    def __init__(self, *, w: float, half_life: float, ties: str, embed: Embed) -> None:
        super().__init__(ties=ties, embed=embed)
        self.w = w
        self.half_life = half_life
        self.weights: NDArray[np.float64] = np.empty(0)
        self.ebbed: Index = ExactIndex()

    def _proposals(self) -> Index:
        """The vectors shortened by their weights, which change with every item written."""
        n = len(self.ids)
        if len(self.weights) < n:
            age = (n - 1 - np.arange(n)) / max(n - 1, 1)
            self.weights = 1 - self.w + self.w * 2.0 ** (-age / self.half_life)
            self.ebbed = self.searched.scaled(self.weights)
        return self.ebbed

    def _score(
        self, rows: NDArray[np.intp], positions: NDArray[np.intp], cosines: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        return rows, positions, np.where(cosines > 0, cosines * self.weights[positions], cosines)
