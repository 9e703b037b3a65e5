"""A random ranking: what any number in the table must be compared with first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.memory import Hit, Memory


class Random(Memory):
    """Each query's own permutation of the items, drawn from the seed and the query's text."""

    stochastic: ClassVar[bool] = True

    def __init__(self, *, ties: str, rng: np.random.Generator) -> None:
        self.ties = ties  # no two scores are equal
        self.entropy = int(rng.integers(2**63))
        self.ids: list[str] = []

    def write(self, items: Sequence[Item]) -> None:
        self.ids.extend(item.id for item in items)

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        n = len(self.ids)
        rankings = []
        for query in queries:
            text = int.from_bytes(hashlib.sha256(query.encode()).digest()[:8], "big")
            rng = np.random.default_rng([self.entropy, text])
            order = rng.permutation(n)[:k]
            rankings.append([Hit(self.ids[i], float(n - rank)) for rank, i in enumerate(order)])
        return rankings
