"""What a newcomer meets in the reef it settles in: the nearest living member, and the spread of all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.coral.polyp import Polyps
from engram_hydra.memories.coral.reef import Reef
from engram_hydra.memories.index import Index

UNSEEN = -np.inf
LITTLE_VARIANCE = 1e-12
PENDING = 64


class Rival(NamedTuple):
    position: int
    cosine: float


class Neighbours(ABC):
    """A newcomer's cosines to a reef's members; newcomers arrive in blocks and settle one by one."""

    unseen = 0  # rivals that were not found though the reef has living members

    def __init__(self, polyps: Polyps) -> None:
        self.polyps = polyps

    @abstractmethod
    def arrive(self, first: int, vectors: NDArray[np.float64], guess: NDArray[np.intp]) -> None:
        """The next newcomers, from position ``first``: vectors of shape (n, d).

        ``guess``, shape (n,), is the reef each is likely to settle in, or one more than there are;
        it saves time, and decides nothing.
        """

    @abstractmethod
    def rival(self, newcomer: int, reef: Reef) -> Rival | None:
        """The living member nearest to the newcomer, the oldest among equally near ones."""

    @abstractmethod
    def outlyingness(self, newcomer: int, reef: Reef, cosine: float) -> float:
        """How far ``cosine`` stands out among the newcomer's cosines to all members, in sd.

        (cosine - mean) / population sd; minus infinity where all are equal, so that such a reef
        never answers.
        """

    @abstractmethod
    def settle(self, newcomer: int, reef: Reef) -> None:
        """The newcomer is a member now."""


class ExactNeighbours(Neighbours):
    """All cosines to the reef's members, from blocked products that are exact on the grid.

    A block is multiplied with the members of the reefs its newcomers are likely to settle in; who
    settles elsewhere is multiplied on its own.
    """

    def __init__(self, polyps: Polyps) -> None:
        super().__init__(polyps)
        self._members: list[_Rows] = []

    def arrive(self, first: int, vectors: NDArray[np.float64], guess: NDArray[np.intp]) -> None:
        self._first = first
        self._vectors = vectors
        self._among = vectors @ vectors.T
        self._before = [len(rows) for rows in self._members]
        self._products: dict[int, NDArray[np.float64]] = {}  # newcomer to its cosines
        self._guess = guess
        for number in np.unique(guess[guess < len(self._members)]).tolist():
            (who,) = np.nonzero(guess == number)
            products = vectors[who] @ self._members[number].rows.T
            self._products |= zip((first + who).tolist(), products, strict=True)

    def _cosines(self, newcomer: int, reef: Reef) -> NDArray[np.float64]:
        """To all members of the reef, in their order, shape (len(reef),)."""
        row = newcomer - self._first
        before = self._before[reef.number] if reef.number < len(self._before) else 0
        cosines = np.empty(len(reef))
        if before and self._guess[row] == reef.number:
            cosines[:before] = self._products[newcomer]
        elif before:
            cosines[:before] = self._members[reef.number].rows[:before] @ self._vectors[row]
        cosines[before:] = self._among[row, reef.members[before:] - self._first]
        return cosines

    def rival(self, newcomer: int, reef: Reef) -> Rival | None:
        if len(reef) == 0:
            return None
        self._last = cosines = self._cosines(newcomer, reef)
        living = np.where(self.polyps.living[reef.members], cosines, UNSEEN)
        nearest = int(living.argmax())
        if living[nearest] == UNSEEN:
            return None
        return Rival(int(reef.members[nearest]), float(cosines[nearest]))

    def outlyingness(self, newcomer: int, reef: Reef, cosine: float) -> float:
        cosines = self._last
        mean = np.add.reduce(cosines) / len(cosines)
        deviations = cosines - mean
        variance = np.add.reduce(deviations * deviations) / len(cosines)
        if variance < LITTLE_VARIANCE and cosines.min() == cosines.max():
            return -np.inf
        return float((cosine - mean) / np.sqrt(variance))

    def settle(self, newcomer: int, reef: Reef) -> None:
        if reef.number == len(self._members):
            self._members.append(_Rows(self._vectors.shape[1]))
        self._members[reef.number].append(self._vectors[newcomer - self._first])


class FoundNeighbours(Neighbours):
    """Rivals among what the index finds, and spreads from running sums: no member is touched.

    The sum of a newcomer's cosines to a reef is its product with the sum of the members' vectors,
    the sum of their squares the quadratic form of their second moment. Where the index finds no
    living member of the reef there is no test, as if there were none.
    """

    def __init__(self, polyps: Polyps, index: Index) -> None:
        super().__init__(polyps)
        self._index = index
        self._moments: list[_Moments] = []

    def arrive(self, first: int, vectors: NDArray[np.float64], guess: NDArray[np.intp]) -> None:
        self._first = first
        self._vectors = vectors
        self._among = vectors @ vectors.T
        if first:
            width = min(self._index.width, first)
            self._cosines, self._found = self._index.search(vectors.astype(np.float32), width)
        else:
            self._cosines = np.empty((len(vectors), 0), np.float32)
            self._found = np.empty((len(vectors), 0), np.int64)

    def rival(self, newcomer: int, reef: Reef) -> Rival | None:
        row = newcomer - self._first
        polyps = self.polyps
        positions = np.concatenate([np.arange(self._first, newcomer), self._found[row]])
        cosines = np.concatenate([self._among[row, :row], self._cosines[row]])
        near = (polyps.reef[positions] == reef.number) & polyps.living[positions] & (positions >= 0)
        if not near.any():
            self.unseen += len(reef) > 0
            return None
        cosines = np.where(near, cosines, UNSEEN)
        nearest = cosines.max()
        return Rival(int(positions[cosines == nearest].min()), float(nearest))

    def outlyingness(self, newcomer: int, reef: Reef, cosine: float) -> float:
        mean, variance = self._moments[reef.number].of(self._vectors[newcomer - self._first])
        if variance < LITTLE_VARIANCE:
            return -np.inf
        return float((cosine - mean) / np.sqrt(variance))

    def settle(self, newcomer: int, reef: Reef) -> None:
        if reef.number == len(self._moments):
            self._moments.append(_Moments(self._vectors.shape[1]))
        self._moments[reef.number].add(self._vectors[newcomer - self._first])


class _Rows:
    """A matrix that grows by rows."""

    def __init__(self, dim: int) -> None:
        self._rows: NDArray[np.float64] = np.empty((8, dim))
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> NDArray[np.float64]:
        return self._rows[: self._size]

    def append(self, row: NDArray[np.float64]) -> None:
        if self._size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._size] = row
        self._size += 1


class _Moments:
    """Sum and second moment of a reef's vectors; the latest wait, to be added many at a time."""

    def __init__(self, dim: int) -> None:
        self._n = 0
        self._sum: NDArray[np.float64] = np.zeros(dim)
        self._square: NDArray[np.float64] = np.zeros((dim, dim))
        self._pending: NDArray[np.float64] = np.empty((PENDING, dim))
        self._waiting = 0

    def add(self, vector: NDArray[np.float64]) -> None:
        self._sum += vector
        self._pending[self._waiting] = vector
        self._n += 1
        self._waiting += 1
        if self._waiting == PENDING:
            self._square += self._pending.T @ self._pending
            self._waiting = 0

    def of(self, vector: NDArray[np.float64]) -> tuple[float, float]:
        """Mean and population variance of the members' cosines to ``vector``, shape (d,)."""
        mean = float(vector @ self._sum) / self._n
        waiting = self._pending[: self._waiting] @ vector
        squares = float(vector @ (self._square @ vector) + waiting @ waiting)
        return mean, squares / self._n - mean * mean
