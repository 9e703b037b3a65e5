"""Dense retrieval: nearest vectors by inner product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.memory import Embed, Hit
from engram_hydra.memories.ranking import top_k
from engram_hydra.memories.vectors import QUERIES_AT_ONCE, VectorMemory

if TYPE_CHECKING:
    import faiss

SPARE = 32


class Dense(VectorMemory):
    """The items whose vectors are nearest the query's, found by FAISS ``IndexFlatIP``.

    FAISS works in float32, so it only proposes: ``k`` candidates and some spare ones are scored again
    exactly, and the search widens until no item outside could belong among the best ``k`` or tie
    with them.
    """

    def __init__(self, *, ties: str, embed: Embed) -> None:
        super().__init__(ties=ties, embed=embed)
        self.index: faiss.IndexFlatIP | None = None

    def write(self, items: Sequence[Item]) -> None:
        import faiss

        start = len(self.ids)
        super().write(items)
        if len(self.ids) > start:
            if self.index is None:
                self.index = faiss.IndexFlatIP(self.vectors.shape[1])
            self.index.add(self.vectors[start:].astype(np.float32))

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        vectors = self.embed(queries)
        rankings: list[list[Hit]] = []
        for start in range(0, len(vectors), QUERIES_AT_ONCE):
            rankings += self._search(vectors[start : start + QUERIES_AT_ONCE], k, k + SPARE)
        return rankings

    def _search(self, queries: NDArray[np.float32], k: int, width: int) -> list[list[Hit]]:
        """The exact ``k`` best for each query, from at least ``width`` candidates."""
        if self.index is None:
            return [[] for _ in queries]
        n, dim = self.vectors.shape
        width = min(width, n)
        approximate, candidates = self.index.search(queries, width)
        exact = np.einsum("qwd,qd->qw", self.vectors[candidates], queries.astype(np.float64))
        # Worst rounding of a float32 dot product of unit vectors, in any order of summation.
        error = dim * np.finfo(np.float32).eps
        rankings = []
        for row, query in enumerate(queries):
            scores, positions = exact[row], candidates[row]
            if width < n and np.sort(scores)[-k] <= approximate[row, -1] + error:
                rankings += self._search(query[None], k, 4 * width)
                continue
            best = top_k(scores, k, self.ties, positions=positions)
            score_of = dict(zip(positions.tolist(), scores.tolist(), strict=True))
            rankings.append([Hit(self.ids[i], score_of[i]) for i in best.tolist()])
        return rankings
