"""Where a memory's vectors lie, and how the nearest ones are found: exactly, or by a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

ENTRIES_AT_ONCE = 128  # whose vectors fit the processor's cache


class Index(ABC):
    """Unit vectors in the order they were added, searched by inner product with FAISS.

    FAISS works in float32, so what it finds are proposals: exact are the ``cosines``. An ``exhaustive``
    index proposes the best; any other may miss some.
    """

    exhaustive: ClassVar[bool]
    width: int  # the most that a search finds, where it is not exhaustive

    def __init__(self) -> None:
        self._faiss: Any = None  # a faiss.Index, once there are vectors
        self._view: NDArray[np.float32] | None = None

    @property
    def size(self) -> int:
        """How many vectors it holds."""
        return 0 if self._faiss is None else int(self._faiss.ntotal)

    @property
    def dim(self) -> int | None:
        """Components of a vector; unknown while there is none."""
        return None if self._faiss is None else int(self._faiss.d)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors, float32 of shape (n, d), of which there must be some: a view, good until ``add``."""
        if self._view is None:
            import faiss

            codes = self._flat(self._faiss).get_xb()
            n, d = self.size, self._faiss.d
            self._view = faiss.rev_swig_ptr(codes, n * d).reshape(n, d)
        return self._view

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Append ``vectors``, float32 of shape (n, d).

        On one thread: several would link a graph in an order of their own.
        """
        if self._faiss is None:
            self._faiss = self._make(vectors.shape[1])
        self._view = None
        with _one_thread():
            self._faiss.add(vectors)

    def search(
        self, queries: NDArray[np.float32], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """For each query (float32, shape (q, d)) up to ``width`` proposals, best first.

        Returns their inner products and positions, both of shape (q, width); the position is -1
        where fewer were found.
        """
        return self._faiss.search(queries, width)  # type: ignore[no-any-return]

    def cosines(
        self,
        queries: NDArray[np.float32],
        rows: NDArray[np.intp],
        positions: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Exact inner products of entries, each a query's row and an item's position, shape (m,)."""
        vectors, exact = self.vectors, queries.astype(np.float64)
        cosines = np.empty(len(rows))
        for start in range(0, len(rows), ENTRIES_AT_ONCE):
            part = slice(start, start + ENTRIES_AT_ONCE)
            items = vectors[positions[part]].astype(np.float64)
            np.einsum("nd,nd->n", items, exact[rows[part]], out=cosines[part])
        return cosines

    def scaled(self, weights: NDArray[np.float64]) -> ExactIndex:
        """An exact index of the same items, each times its weight, shape (n,)."""
        scaled = ExactIndex()
        scaled.add(self.vectors * weights[:, None].astype(np.float32))
        return scaled

    @abstractmethod
    def _make(self, dim: int) -> Any:
        """An empty FAISS index."""

    @abstractmethod
    def _flat(self, index: Any) -> Any:
        """The part of it that holds the vectors."""


class ExactIndex(Index):
    """``IndexFlatIP``: every vector is compared."""

    exhaustive: ClassVar[bool] = True

    def _make(self, dim: int) -> Any:
        import faiss

        return faiss.IndexFlatIP(dim)

    def _flat(self, index: Any) -> Any:
        return index


class HnswIndex(Index):
    """``IndexHNSWFlat``: a graph of near neighbours, walked greedily.

    Source: Malkov & Yashunin (2018), arXiv:1603.09320. The same vectors added in the same calls
    under the same seed give the same graph.

    Args:
        links: neighbours of a node on each level (M), at least 2.
        ef_construction: how many candidates a new node chooses them from.
        ef_search: how many candidates a search keeps, and so the most it finds.
        seed: draws the nodes' levels.
    """

    exhaustive: ClassVar[bool] = False

    def __init__(
        self, links: int = 32, ef_construction: int = 40, ef_search: int = 64, seed: int = 0
    ) -> None:
        super().__init__()
        self.links = links
        self.ef_construction = ef_construction
        self.width = ef_search
        self.seed = seed

    def _make(self, dim: int) -> Any:
        import faiss

        index: Any = faiss.IndexHNSWFlat(dim, self.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = self.ef_construction
        index.hnsw.efSearch = self.width
        index.hnsw.rng = faiss.RandomGenerator(self.seed)  # type: ignore[attr-defined]
        return index

    def _flat(self, index: Any) -> Any:
        import faiss

        return faiss.downcast_index(index.storage)


def rounding(vectors: NDArray[Any]) -> float:
    """The worst error of a float32 dot product of such unit vectors (n, d), in any order of summing."""
    return float(vectors.shape[1] * np.finfo(np.float32).eps)


@contextmanager
def _one_thread() -> Iterator[None]:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
