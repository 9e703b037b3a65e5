"""Long texts: an item as near as the nearest of its windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.index import ExactIndex, Index
from engram_hydra.memories.memory import Embed, WindowedEmbed
from engram_hydra.memories.ranking import first_of_each


def queries_of(embed: Embed, texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of queries, shape (q, d); a query has no windows."""
    return embed.queries(texts) if isinstance(embed, WindowedEmbed) else embed(texts)


def windows_of(embed: Embed, texts: Sequence[str]) -> Mapping[int, NDArray[np.float32]]:
    """The vectors of the windows of each long text, shape (m, d), by its place in ``texts``."""
    return embed.windows(texts) if isinstance(embed, WindowedEmbed) else {}


def searched_with(
    searched: Index, index: Index, windows: Mapping[int, NDArray[np.float32]]
) -> Index:
    """What reads search from now on: ``index``, one vector for each item, until an item is long.

    ``searched`` is what they searched so far, and ``windows`` are those of new long items, by position.
    """
    if windows and searched is index:
        searched = WindowIndex()
    if isinstance(searched, WindowIndex):
        searched.follow(index.vectors, windows)
    return searched


class WindowIndex(ExactIndex):
    """One vector for each window, and several windows for an item; found are items, each once.

    An item's inner product with a query is the best of its windows'.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begins: NDArray[np.intp] = np.zeros(1, dtype=np.intp)  # of the items, and the end
        self._item: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # of each window

    def follow(
        self, vectors: NDArray[np.float32], windows: Mapping[int, NDArray[np.float32]]
    ) -> None:
        """Take in the items of ``vectors``, shape (n, d), that are not here yet.

        The long ones among them, by position, with their ``windows``, shape (m, d).
        """
        new = range(len(self._begins) - 1, len(vectors))
        parts = [windows.get(item, vectors[item : item + 1]) for item in new]
        self._append(np.concatenate(parts), np.array([*map(len, parts)]))

    def _append(self, windows: NDArray[np.float32], counts: NDArray[np.intp]) -> None:
        new = np.arange(len(counts)) + len(self._begins) - 1
        self.add(windows)
        self._item = np.concatenate([self._item, np.repeat(new, counts)])
        self._begins = np.concatenate([self._begins, self._begins[-1] + np.cumsum(counts)])

    def search(
        self, queries: NDArray[np.float32], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The ``width`` nearest items, of which there must be as many, best first."""
        items = len(self._begins) - 1
        return self._nearest(queries, width, width * -(-self.size // items))

    def _nearest(
        self, queries: NDArray[np.float32], width: int, among: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The items of at least the ``among`` nearest windows; more of them where items are too few."""
        among = min(among, self.size)
        cosines, windows = super().search(queries, among)
        items = self._item[windows]
        first = first_of_each(items)
        best = np.argsort(~first, axis=1, kind="stable")[:, :width]
        cosines, items = np.take_along_axis(cosines, best, 1), np.take_along_axis(items, best, 1)
        if len(few := np.flatnonzero(first.sum(axis=1) < width)):
            cosines[few], items[few] = self._nearest(queries[few], width, 4 * among)
        return cosines, items

    def cosines(
        self,
        queries: NDArray[np.float32],
        rows: NDArray[np.intp],
        positions: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        begins = self._begins[positions]
        counts = self._begins[positions + 1] - begins
        ends = np.cumsum(counts)
        windows = np.arange(counts.sum()) + np.repeat(begins - (ends - counts), counts)
        each = super().cosines(queries, np.repeat(rows, counts), windows)
        best: NDArray[np.float64] = np.maximum.reduceat(each, ends - counts)
        return best

    def scaled(self, weights: NDArray[np.float64]) -> WindowIndex:
        scaled, counts = WindowIndex(), np.diff(self._begins)
        factors = np.repeat(weights.astype(np.float32), counts)
        scaled._append(self.vectors * factors[:, None], counts)
        return scaled
