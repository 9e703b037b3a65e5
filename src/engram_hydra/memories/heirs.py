"""Memories in which newer items supersede older ones, and how they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.index import Index
from engram_hydra.memories.memory import Embed
from engram_hydra.memories.ranking import first_of_each
from engram_hydra.memories.vectors import VectorMemory

NONE = -1


class HeirMemory(VectorMemory):
    """An item that was superseded may point to its heir, and may count less.

    own(i) = cosine, times ``calcified_score`` where i lives no more and the cosine is positive. If a
    chain of heirs ends in a living item t: score(t) = the best of own(t) and the plain cosines of
    its ancestors. Among equal scores the items of one chain stand together, newest first.

    Args:
        heirs: whether superseded items point to their heirs.
        calcified_score: share of its own score that an item keeps which lives no more, 0 to 1.
    """

    spare: ClassVar[int] = 20  # what is superseded stands among the proposals too

    def __init__(
        self,
        *,
        heirs: bool,
        calcified_score: float,
        ties: str,
        embed: Embed,
        index: Index | None = None,
    ) -> None:
        super().__init__(ties=ties, embed=embed, index=index)
        self.heirs = heirs
        self.calcified_score = calcified_score
        self._ends: NDArray[np.intp] | None = None

    @property
    @abstractmethod
    def living(self) -> NDArray[np.bool_]:
        """Which items live, shape (n,)."""

    @property
    @abstractmethod
    def heir(self) -> NDArray[np.intp]:
        """Each item's heir, a later position, shape (n,); -1 where it has none."""

    @property
    def ends(self) -> NDArray[np.intp]:
        """For each item the last of its chain of heirs: itself where it has none, shape (n,)."""
        if self._ends is None:
            self._ends = chain_ends(self.heir)
        return self._ends

    def write(self, items: Sequence[Item]) -> None:
        super().write(items)
        self._ends = None

    def _whole(self, found: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of each chain that ends in a living item, the first one found: its end scores as much."""
        if not self.heirs:
            return self.living[found]
        ends = self.ends[found]
        return first_of_each(ends) & self.living[ends]

    def _score(
        self, rows: NDArray[np.intp], positions: NDArray[np.intp], cosines: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """An end that was not found stands with the best of its ancestors: its own cosine is lower."""
        own = self._own(positions, cosines)
        if not self.heirs:
            return rows, positions, own
        n, ends = len(self.ids), self.ends[positions]
        (heirs,) = np.nonzero((ends != positions) & self.living[ends])
        entries = np.concatenate([rows * n + positions, rows[heirs] * n + ends[heirs]])
        order = np.argsort(entries)
        entries, scores = entries[order], np.concatenate([own, cosines[heirs]])[order]
        begins = np.flatnonzero(np.diff(entries, prepend=-1))
        entries = entries[begins]
        return entries // n, entries % n, np.maximum.reduceat(scores, begins)

    def _own(
        self, positions: NDArray[np.intp], cosines: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        halved = ~self.living[positions] & (cosines > 0)
        return np.where(halved, cosines * self.calcified_score, cosines)

    def _groups(self, positions: NDArray[np.intp]) -> NDArray[np.intp] | None:
        return self.ends[positions] if self.heirs else None

    def tie_group(self, item_id: str) -> int:
        position = self.position_of[item_id]
        return int(self.ends[position]) if self.heirs else position

    def displacements(self) -> Sequence[tuple[str, str]]:
        return [
            (self.ids[old], self.ids[self.heir[old]])
            for old in np.flatnonzero(self.heir != NONE).tolist()
        ]

    def distributions(self) -> Mapping[str, Sequence[float]]:
        chains = np.bincount(self.ends, minlength=len(self.ids))
        return {"heir_chain_length": chains[chains > 0].tolist()}


def chain_ends(heir: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each item the last of its chain of heirs, where ``heir`` is each one's own or -1.

    An item has at most one heir and is heir of at most one, so the end names the chain.
    """
    ends = np.where(heir == NONE, np.arange(len(heir)), heir)
    while True:
        further = ends[ends]
        if np.array_equal(further, ends):
            return ends
        ends = further
