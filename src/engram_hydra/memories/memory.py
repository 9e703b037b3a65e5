"""What a memory is: it is written to, and it is read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit vectors, float32 of shape (n, d), on a grid that makes dot products exact."""


@runtime_checkable
class WindowedEmbed(Protocol):
    """An ``Embed`` that may know a long text by several vectors; any other knows none so."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector for each text, whatever its length: its place in a memory."""

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector for each text as a query."""

    def windows(self, texts: Sequence[str]) -> Mapping[int, NDArray[np.float32]]:
        """The vectors, shape (m, d), of the windows of each long text, by its place in ``texts``."""


class Hit(NamedTuple):
    """One returned item: its id as it was written, and its score (finite; higher is better)."""

    id: str
    score: float


class Memory(ABC):
    """A memory: two calls, and no knowledge of gold, files or tracking.

    A subclass takes its constants as keyword arguments of the same names as in its YAML, besides
    ``ties`` (``oldest`` or ``newest``), ``embed`` if it ``uses_vectors``, ``index`` (an empty
    ``index.Index``) if it ``uses_index``, and ``rng`` (a ``numpy.random.Generator``) if it is
    ``stochastic``. One that ``sees_conflicts`` is an oracle: it gets ``superseded_by``, the known
    (old, new) positions, and stands in no test.
    """

    uses_vectors: ClassVar[bool] = False
    uses_index: ClassVar[bool] = False
    stochastic: ClassVar[bool] = False
    sees_conflicts: ClassVar[bool] = False
    may_return_fewer: ClassVar[bool] = False  # than min(k, n), though it is one of ours

    @classmethod
    def is_stochastic(cls, constants: Mapping[str, object]) -> bool:
        """Whether the seed can change a result under these constants; else one run stands for all."""
        return cls.stochastic

    @abstractmethod
    def write(self, items: Sequence[Item]) -> None:
        """Remember ``items``, in order; may be called again with later ones."""

    @abstractmethod
    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """For each query at most ``k`` distinct hits, best first.

        No query of a batch may change what another one sees. Rankings are prefix-consistent: what is
        read at ``k`` is the start of what is read at any larger number. Equal scores stand in the
        order of ``ranking.top_k``.
        """

    def tie_group(self, item_id: str) -> Hashable:
        """Items of one group stand together among equal scores, newest first; by default each is alone."""
        return item_id

    def counters(self) -> Mapping[str, float]:
        """What the method's parts did, as numbers to log; by default none."""
        return {}

    def inert(self) -> Sequence[str]:
        """The parts that acted on nothing so far, and the constants only they use; by default none."""
        return ()

    def displacements(self) -> Sequence[tuple[str, str]]:
        """The (old, new) ids of items it took to be superseded, if it decides that; by default none."""
        return ()

    def distributions(self) -> Mapping[str, Sequence[float]]:
        """What it looks like inside, a sample of numbers under each name; by default none."""
        return {}

    def table(self) -> Mapping[str, Sequence[object]]:
        """Its items as they stand, a column for each property, all of one length; by default none."""
        return {}
