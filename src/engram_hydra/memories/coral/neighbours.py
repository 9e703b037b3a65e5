"""What a newcomer meets in the reef it settles in: the nearest living member, and the spread of all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.coral.polyp import Polyps
from engram_hydra.memories.coral.reef import Reef
from engram_hydra.memories.heirs import NONE
from engram_hydra.memories.index import Index, rounding

CLOSE = 1e-9  # what lies nearer than this to a cut is not left to running sums
LITTLE_VARIANCE = 1e-12


class Rival(NamedTuple):
    """The living member nearest to a newcomer."""

    position: int
    cosine: float


class Neighbours(ABC):
    """A newcomer's cosines to a reef's members; newcomers arrive in blocks and settle one by one.

    What a newcomer meets of those written before its block is found for the whole block at once: the
    nearest, and the sum of the cosines and of their squares, which follow from the sum and the second
    moment of the members' vectors, so that no member is touched. What happens within the block is
    added for each on its own.
    """

    def __init__(self, polyps: Polyps, index: Index) -> None:
        self.polyps = polyps
        self.index = index
        self.unseen = 0  # times that no rival was found in a reef with living members
        self._moments: list[_Moments] = []
        self._first = 0
        self._vectors: NDArray[np.float64] = np.empty((0, 0))
        self._joined: list[_Rows] = []  # of the block, by reef

    def arrive(self, first: int, vectors: NDArray[np.float64], guess: NDArray[np.intp]) -> None:
        """The next newcomers, from position ``first``: vectors of shape (n, d).

        ``guess``, shape (n,), is the reef each is likely to settle in, or one more than there are;
        it saves time, and decides nothing.
        """
        for number, rows in enumerate(self._joined):
            if number == len(self._moments):
                self._moments.append(_Moments(vectors.shape[1]))
            self._moments[number].add(self._vectors[rows.all])
            self._keep(number, self._first + rows.all, self._vectors[rows.all])
        n = len(vectors)
        self._first, self._vectors = first, vectors
        self._among = vectors @ vectors.T
        self._joined = [_Rows(n) for _ in self._moments]
        self._met = np.full(n, NONE)  # the reef that the following is about
        self._nearest, self._cosine = np.full(n, NONE), np.full(n, -np.inf)
        self._sum, self._squares = np.zeros(n), np.zeros(n)
        self._look_around()
        for number in np.unique(guess[guess < len(self._moments)]).tolist():
            self._meet(np.flatnonzero(guess == number), number)

    def rival(self, newcomer: int, reef: Reef) -> Rival | None:
        """The living member nearest to the newcomer, the oldest among equally near ones."""
        if len(reef) == 0:
            return None
        row, position, cosine = newcomer - self._first, NONE, -np.inf
        if reef.number < len(self._moments):
            if self._met[row] != reef.number or self._is_dead(self._nearest[row]):
                self._meet(np.array([row]), reef.number)
            position, cosine = self._nearest[row], self._cosine[row]
        joined = self._joined[reef.number].all
        if len(joined):
            cosines = self._among[row, joined]
            living = np.where(self.polyps.living[self._first + joined], cosines, -np.inf)
            best = living.argmax()
            if living[best] > cosine:
                position, cosine = self._first + joined[best], living[best]
        if position == NONE:
            self.unseen += bool(self.polyps.living[reef.members].any())
            return None
        return Rival(int(position), float(cosine))

    def outlyingness(
        self, newcomer: int, reef: Reef, cosine: float, cuts: Sequence[float]
    ) -> float:
        """How far ``cosine`` stands out among the newcomer's cosines to all members, in sd.

        (cosine - mean) / population sd; minus infinity where all are equal, so that such a reef never
        answers. To be called after ``rival``. Sums that ran in another order differ in their last
        digits: where that could decide on which side of a cut the result lies, it is taken anew from
        the members.
        """
        row, n = newcomer - self._first, len(reef)
        cosines = self._among[row, self._joined[reef.number].all]
        mean = (self._sum[row] + cosines.sum()) / n
        variance = (self._squares[row] + cosines @ cosines) / n - mean * mean
        if variance > LITTLE_VARIANCE:
            z = float((cosine - mean) / np.sqrt(variance))
            if all(abs(z - cut) > CLOSE for cut in cuts):
                return z
        cosines = self.vectors(reef.members) @ self._vectors[row]
        if cosines.min() == cosines.max():
            return -np.inf
        return float((cosine - cosines.mean()) / cosines.std())

    def settle(self, newcomer: int, reef: Reef) -> None:
        """The newcomer is a member now."""
        if reef.number == len(self._joined):
            self._joined.append(_Rows(len(self._vectors)))
        self._joined[reef.number].append(newcomer - self._first)

    def vectors(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Vectors of settled polyps, shape (n, d); ``positions`` ascend. The block's are in no index."""
        cut = int(positions.searchsorted(self._first))
        vectors = self._vectors[positions[cut:] - self._first]
        if cut:
            earlier = self.index.vectors[positions[:cut]].astype(np.float64)
            vectors = np.concatenate([earlier, vectors])
        return vectors

    def _meet(self, rows: NDArray[np.intp], number: int) -> None:
        """What these newcomers meet in a reef as it was before the block."""
        self._met[rows] = number
        self._nearest[rows], self._cosine[rows] = self._nearest_before(rows, number)
        self._sum[rows], self._squares[rows] = self._moments[number].of(self._vectors[rows])

    def _is_dead(self, position: int) -> bool:
        return position != NONE and not self.polyps.living[position]

    @abstractmethod
    def _nearest_before(
        self, rows: NDArray[np.intp], number: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The nearest living members written before the block, and their cosines; -1 for none."""

    def _keep(  # noqa: B027  # not every one keeps members
        self, number: int, positions: NDArray[np.intp], vectors: NDArray[np.float64]
    ) -> None:
        """These have joined a reef; whoever compares with its members remembers them."""

    def _look_around(self) -> None:  # noqa: B027  # nor looks further
        """A new block is here."""


class ExactNeighbours(Neighbours):
    """The nearest of all living members.

    Products in float32 point to it; where two lie within their rounding, exact ones decide.
    """

    def __init__(self, polyps: Polyps, index: Index) -> None:
        super().__init__(polyps, index)
        self._positions: list[NDArray[np.intp]] = []  # by reef: who lived when last looked at
        self._members: list[NDArray[np.float32]] = []

    def _keep(self, number: int, positions: NDArray[np.intp], vectors: NDArray[np.float64]) -> None:
        new = vectors.astype(np.float32)
        if number == len(self._positions):
            self._positions.append(positions)
            self._members.append(new)
        elif len(positions):
            living = self.polyps.living[self._positions[number]]
            self._positions[number] = np.concatenate([self._positions[number][living], positions])
            self._members[number] = np.concatenate([self._members[number][living], new])

    def _nearest_before(
        self, rows: NDArray[np.intp], number: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        positions, members = self._positions[number], self._members[number]
        vectors = self._vectors[rows]
        rough = vectors.astype(np.float32) @ members.T
        rough[:, ~self.polyps.living[positions]] = -np.inf
        best = rough.argmax(axis=1)
        highest = rough[np.arange(len(rows)), best]
        near = rough >= (highest - 2 * rounding(vectors))[:, None]
        for row in np.flatnonzero((near.sum(axis=1) > 1) & (highest > -np.inf)).tolist():
            (rivals,) = np.nonzero(near[row])
            exact = members[rivals].astype(np.float64) @ vectors[row]
            best[row] = rivals[exact.argmax()]
        cosine = np.einsum("nd,nd->n", members[best].astype(np.float64), vectors)
        cosine[highest == -np.inf] = -np.inf
        return np.where(highest == -np.inf, NONE, positions[best]), cosine


class FoundNeighbours(Neighbours):
    """The nearest of what the index finds; a rival that it does not find is none."""

    def _look_around(self) -> None:
        if self._first:
            width = min(self.index.width, self._first)
            self._cosines, self._found = self.index.search(self._vectors.astype(np.float32), width)

    def _nearest_before(
        self, rows: NDArray[np.intp], number: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        found, polyps = self._found[rows], self.polyps
        near = (found >= 0) & (polyps.reef[found] == number) & polyps.living[found]
        cosines = np.where(near, self._cosines[rows], -np.inf)
        cosine = cosines.max(axis=1)
        nearest = np.where(near & (cosines == cosine[:, None]), found, len(polyps)).min(axis=1)
        return np.where(nearest == len(polyps), NONE, nearest), cosine


class _Rows:
    """Up to ``n`` numbers, one after the other."""

    def __init__(self, n: int) -> None:
        self._rows = np.empty(n, dtype=np.intp)
        self._size = 0

    @property
    def all(self) -> NDArray[np.intp]:
        return self._rows[: self._size]

    def append(self, row: int) -> None:
        self._rows[self._size] = row
        self._size += 1


class _Moments:
    """Sum and second moment of the vectors of a reef's members."""

    def __init__(self, dim: int) -> None:
        self._sum: NDArray[np.float64] = np.zeros(dim)
        self._square: NDArray[np.float64] = np.zeros((dim, dim))

    def add(self, vectors: NDArray[np.float64]) -> None:
        self._sum += vectors.sum(axis=0)
        self._square += vectors.T @ vectors

    def of(self, vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of the cosines to the members of ``vectors``, shape (n, d) each, and of their squares."""
        return vectors @ self._sum, np.einsum("nd,nd->n", vectors @ self._square, vectors)
