"""A reef: polyps that settled together, and how they answer a newcomer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Reef:
    """Members (living and calcified, in order of settling) around a mass-weighted centroid."""

    def __init__(self, dim: int) -> None:
        self.weighted_sum: NDArray[np.float64] = np.zeros(dim)
        self._members: NDArray[np.intp] = np.empty(8, dtype=np.intp)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def members(self) -> NDArray[np.intp]:
        """Positions of the members, shape (n,), ascending."""
        return self._members[: self._size]

    @property
    def norm(self) -> float:
        """Length of the mass-weighted sum of the members' vectors."""
        return float(np.sqrt(self.weighted_sum @ self.weighted_sum))

    def join(self, position: int, vector: NDArray[np.float64], mass: float) -> None:
        """Take in a newcomer."""
        if self._size == len(self._members):
            self._members = np.concatenate([self._members, np.empty_like(self._members)])
        self._members[self._size] = position
        self._size += 1
        self.weighted_sum += mass * vector


def outlyingness(to_rival: float, to_members: NDArray[np.float64]) -> float:
    """How far the cosine to the rival stands out among the cosines to the whole reef, in sd.

    z = (cosine to the rival - mean) / population sd over all members, shape (n,); minus infinity
    where all are equal, so that such a reef never answers.
    """
    if to_members.min() == to_members.max():
        return -np.inf
    return float((to_rival - to_members.mean()) / to_members.std())
