"""Memories of vectors, and rankings that do not depend on how they were computed.

The embedder puts every component on a grid of 2**-24. Products of two components are then multiples
of 2**-48, and no partial sum of a dot product of unit vectors needs more than 53 bits: in float64
the sum is exact in any order. Scores are therefore the same for any batch size, block or number of
threads, and equal vectors tie exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.errors import MethodError
from engram_hydra.memories.index import ExactIndex, Index, rounding
from engram_hydra.memories.memory import Embed, Hit, Memory
from engram_hydra.memories.ranking import rank
from engram_hydra.memories.windows import queries_of, searched_with, windows_of

QUERIES_AT_ONCE = 256
NOT_UNIT = 1e-3


class VectorMemory(Memory):
    """A memory that keeps its items as vectors, in the order of writing.

    A subclass says how an item scores: by default, by its cosine to the query, where its text is long
    the best of its windows'. An item's score must not exceed the cosine that the index proposes it, or
    its chain, by.
    """

    uses_vectors: ClassVar[bool] = True
    spare: ClassVar[int] = 6  # proposals beyond k, so that a tie at the cut seldom calls for more

    def __init__(self, *, ties: str, embed: Embed, index: Index | None = None) -> None:
        self.ties = ties
        self.embed = embed
        self.index = index or ExactIndex()  # one vector for each item
        self.searched = self.index  # where texts are long, their windows
        self.ids: list[str] = []
        self.position_of: dict[str, int] = {}

    def write(self, items: Sequence[Item]) -> None:
        """Raises MethodError at a position out of turn, or a vector that is not of length 1."""
        if not items:
            return
        for turn, item in enumerate(items, start=len(self.ids)):
            if item.position != turn:
                raise MethodError(
                    f"item {item.id!r} has position {item.position} where {turn} was next:"
                    " write the items in the order of their positions, each once."
                )
        texts = [item.text for item in items]
        vectors = self._checked(self.embed(texts), len(texts))
        windows = {
            items[row].position: self._checked(each, len(each))
            for row, each in windows_of(self.embed, texts).items()
        }
        self.ids.extend(item.id for item in items)
        self.position_of.update((item.id, item.position) for item in items)
        self._remember(vectors)
        self.searched = searched_with(self.searched, self.index, windows)

    def _remember(self, vectors: NDArray[np.float32]) -> None:
        """Take in the vectors of new items, shape (n, d); their ids stand already."""
        self.index.add(vectors)

    def _checked(self, embedded: NDArray[np.float32], n: int) -> NDArray[np.float32]:
        """The vectors that the embedder gave for ``n`` texts."""
        vectors = np.ascontiguousarray(embedded, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != n:
            raise MethodError(
                f"the embedder gave an array of shape {vectors.shape} for {n} texts:"
                " it must give one row for each."
            )
        if self.index.dim not in (None, vectors.shape[1]):
            raise MethodError(
                f"the embedder gave vectors of {vectors.shape[1]} components to a memory of"
                f" {self.index.dim}: use one embedder for all texts."
            )
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        wrong = np.flatnonzero(~(np.abs(lengths - 1) < NOT_UNIT))  # a NaN is wrong too
        if len(wrong):
            raise MethodError(
                f"the embedder gave text {wrong[0]} a vector of length {lengths[wrong[0]]:.3g},"
                f" as it did {len(wrong)} of {n}: each must be finite and of length 1."
            )
        return vectors

    # Reading

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Raises MethodError at a vector that is not of length 1."""
        if not self.ids or not queries:
            return [[] for _ in queries]
        vectors = self._checked(queries_of(self.embed, queries), len(queries))
        if self.searched.exhaustive:
            return self._read_all(vectors, k, k + self.spare)
        return self._read_found(vectors, k)

    def _read_all(self, queries: NDArray[np.float32], k: int, width: int) -> list[list[Hit]]:
        """The ``k`` best of all items for each query, from at least ``width`` proposals.

        The search widens until no item outside could belong among the best ``k`` or tie with them.
        """
        width = min(width, len(self.ids))
        proposed, found = self._proposals().search(queries, width)
        rankings = self._rankings(queries, proposed, found, k)
        if width == len(self.ids):
            return rankings
        outside = (proposed[:, -1] + rounding(queries)).tolist()
        unsure = [
            row
            for row, ranking in enumerate(rankings)
            if len(ranking) < k or ranking[-1].score <= outside[row]
        ]
        if unsure:
            wider = self._read_all(queries[unsure], k, 4 * width)
            for row, ranking in zip(unsure, wider, strict=True):
                rankings[row] = ranking
        return rankings

    def _read_found(self, queries: NDArray[np.float32], k: int) -> list[list[Hit]]:
        """The ``k`` best of what the index finds, and only if that is too little of the rest."""
        proposed, found = self.index.search(queries, min(self.index.width, len(self.ids)))
        rankings = self._rankings(queries, proposed, found, k)
        for row, ranking in enumerate(rankings):
            if len(ranking) < min(k, len(self.ids)):
                rankings[row] = self._completed(queries[row : row + 1], found[row], k)
        return rankings

    def _completed(self, query: NDArray[np.float32], found: NDArray[np.int64], k: int) -> list[Hit]:
        """What was found for one query, best first, then all the rest, none scored above it.

        So a ranking is the start of a longer one even where the index missed a better item.
        """
        found = found[found >= 0]
        _, positions, of_found = self._scored(query, np.zeros_like(found), found)
        everything = np.arange(len(self.ids))
        rows, everything, scores = self._scored(query, np.zeros_like(everything), everything)
        scores = np.minimum(scores, np.nextafter(of_found.min(initial=np.inf), -np.inf))
        scores[positions] = of_found
        best = rank(rows, everything, scores, k, self.ties, self._groups(everything))
        return [Hit(self.ids[i], score) for i, score in zip(best, scores[best], strict=True)]

    def _proposals(self) -> Index:
        """The index whose inner products no score exceeds."""
        return self.searched

    def _rankings(
        self,
        queries: NDArray[np.float32],
        proposed: NDArray[np.float32],
        found: NDArray[np.int64],
        k: int,
    ) -> list[list[Hit]]:
        """The ``k`` best of what was proposed for each query, both of shape (q, w)."""
        contends = self._contends(queries, proposed, found, k)
        rankings: list[list[Hit]] = []
        for start in range(0, len(queries), QUERIES_AT_ONCE):
            block = slice(start, start + QUERIES_AT_ONCE)
            rows, columns = np.nonzero(contends[block])
            rows, positions, scores = self._scored(
                queries[block], rows, found[block][rows, columns]
            )
            best = rank(rows, positions, scores, k, self.ties, self._groups(positions))
            ids = map(self.ids.__getitem__, positions[best].tolist())
            hits = list(map(Hit, ids, scores[best].tolist()))
            ends = np.cumsum(np.bincount(rows[best], minlength=len(queries[block]))).tolist()
            rankings += [hits[a:b] for a, b in pairwise([0, *ends])]
        return rankings

    def _contends(
        self,
        queries: NDArray[np.float32],
        proposed: NDArray[np.float32],
        found: NDArray[np.int64],
        k: int,
    ) -> NDArray[np.bool_]:
        """Which proposals may be among the best ``k``: those not surely behind ``k`` others.

        The others are not worth an exact score.
        """
        counted = np.cumsum((proposed > 0) & self._whole(found), axis=1)
        kth = proposed[np.arange(len(found)), np.argmax(counted >= k, axis=1)]
        bar = np.where(counted[:, -1] >= k, kth - 2 * rounding(queries), -np.inf)
        return (found >= 0) & (proposed >= bar[:, None])

    def _scored(
        self, queries: NDArray[np.float32], rows: NDArray[np.intp], positions: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """Scores of entries, each a query's row and an item's position, shape (m,); perhaps of more."""
        return self._score(rows, positions, self.searched.cosines(queries, rows, positions))

    # What a subclass may say

    def _whole(self, found: NDArray[np.int64]) -> NDArray[np.bool_] | bool:
        """Which items score no less than proposed, if that is positive; shape as ``found``."""
        return True

    def _score(
        self, rows: NDArray[np.intp], positions: NDArray[np.intp], cosines: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """From the cosines of entries, shape (m,), to their scores; may add entries, then by position."""
        return rows, positions, cosines

    def _groups(self, positions: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """Labels of entries that stand together among equal scores."""
        return None

    def index_recall(self, queries: Sequence[str], k: int) -> list[float]:
        """For each query the share of the ``min(k, n)`` nearest items that the index finds."""
        vectors = self._checked(queries_of(self.embed, queries), len(queries))
        k = min(k, len(self.ids))
        _, found = self.index.search(vectors, min(self.index.width, len(self.ids)))
        everything = self.index.vectors.astype(np.float64)
        recalls = []
        for query, positions in zip(vectors.astype(np.float64), found, strict=True):
            cosines = everything @ query
            kth = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
            recalls.append(min(1.0, float((cosines[positions[positions >= 0]] >= kth).sum() / k)))
        return recalls
