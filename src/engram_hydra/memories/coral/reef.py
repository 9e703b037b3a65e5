"""A reef: polyps that settled together; and the centroids by which newcomers choose one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Reef:
    """Members, living and calcified, in the order of settling."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._members: NDArray[np.intp] = np.empty(8, dtype=np.intp)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def members(self) -> NDArray[np.intp]:
        """Positions of the members, shape (n,), ascending."""
        return self._members[: self._size]

    def join(self, position: int) -> None:
        if self._size == len(self._members):
            self._members = np.concatenate([self._members, np.empty_like(self._members)])
        self._members[self._size] = position
        self._size += 1


class Centroids:
    """The mass-weighted sum of each reef's vectors, a row for each reef in order of founding."""

    def __init__(self, dim: int) -> None:
        self._sums: NDArray[np.float64] = np.zeros((8, dim))
        self._lengths: NDArray[np.float64] = np.full(8, np.inf)
        self._size = 0

    def found(self) -> None:
        """A reef more, without mass yet."""
        if self._size == len(self._sums):
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._lengths = np.concatenate([self._lengths, np.full_like(self._lengths, np.inf)])
        self._size += 1

    def add(self, reef: int, mass: float, vector: NDArray[np.float64]) -> None:
        """Give a reef ``mass`` at ``vector``, shape (d,), or take it away where it is negative."""
        self.put(reef, self._sums[reef] + mass * vector)

    def put(self, reef: int, weighted_sum: NDArray[np.float64]) -> None:
        self._sums[reef] = weighted_sum
        length = np.sqrt(np.einsum("d,d->", weighted_sum, weighted_sum))
        self._lengths[reef] = length or np.inf

    def affinities(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cosines of ``vector``, shape (d,), to the centroids, shape (reefs,); 0 to one that is zero.

        A newcomer settles nowhere at 0, which is below every ``founding_affinity``.

        By einsum, whose sums, unlike those of a linear algebra library, are the same on any number
        of threads: these products are not exact, as masses lie on no grid.
        """
        products: NDArray[np.float64] = np.einsum("rd,d->r", self._sums[: self._size], vector)
        return products / self._lengths[: self._size]

    def roughly(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for many vectors, shape (n, d), at once; the last bits may differ."""
        products: NDArray[np.float64] = vectors @ self._sums[: self._size].T
        return products / self._lengths[: self._size]
