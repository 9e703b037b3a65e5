"""Tide: dense retrieval with a recency prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engram_hydra.memories.memory import Embed, Hit
from engram_hydra.memories.ranking import top_k
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

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        n = len(self.ids)
        if n == 0:
            return [[] for _ in queries]
        age = (n - 1 - np.arange(n)) / max(n - 1, 1)
        weight = 1 - self.w + self.w * 2.0 ** (-age / self.half_life)
        rankings = []
        for cosine in self.cosines(queries):
            scores = np.where(cosine > 0, cosine * weight, cosine)
            rankings.append(self.hits(top_k(scores, k, self.ties), scores))
        return rankings
