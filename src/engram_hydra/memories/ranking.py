"""The one ranking every memory uses, with a stated rule for equal scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_k(scores: NDArray[np.float64], k: int, ties: str) -> NDArray[np.intp]:
    """Positions of the ``min(k, n)`` best of ``n`` scores (shape (n,), finite), best first.

    Equal scores stand by ``ties``: ``oldest`` (lower position first) or ``newest``. The whole tie at
    the cut is ordered before it is cut, so that rankings are prefix-consistent and never depend on a
    library's own order.
    """
    n = len(scores)
    if n > k:
        cut = np.partition(scores, n - k)[n - k]
        kept = np.flatnonzero(scores >= cut)
    else:
        kept = np.arange(n)
    return kept[rank(np.zeros_like(kept), kept, scores[kept], k, ties)]


def rank(
    rows: NDArray[np.intp],
    positions: NDArray[np.intp],
    scores: NDArray[np.float64],
    k: int,
    ties: str,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Rank the entries of many queries at once: indices of each row's ``k`` best, row by row.

    Args:
        rows: shape (m,), the query that an entry belongs to.
        positions: shape (m,), the entry's position, which decides among equal scores as in ``top_k``.
        scores: shape (m,), finite.
        k: how many to return of each row, at least 1.
        ties: ``oldest`` or ``newest``.
        groups: shape (m,), labels; among a row's equal scores the entries of one group stand
            together, newest first, at the place of the one that ``ties`` puts first.
    """
    order = np.lexsort((-scores, rows))
    if (_same(rows, order) & _same(scores, order)).any():
        place = positions if ties == "oldest" else -positions
        if groups is not None:
            place = _place_of_group(rows, scores, groups, place)
        order = np.lexsort((-positions, place, -scores, rows))
    begins = np.flatnonzero(~_same(rows, order))
    lengths = np.diff(np.append(begins, len(order)))
    return order[np.arange(len(order)) - np.repeat(begins, lengths) < k]


def first_of_each(labels: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which entries of each row, shape (q, w), are the first of the row with their label."""
    order = np.argsort(labels, axis=1, kind="stable")
    in_order = np.take_along_axis(labels, order, axis=1)
    first = np.ones(labels.shape, dtype=bool)
    np.put_along_axis(first, order[:, 1:], in_order[:, 1:] != in_order[:, :-1], axis=1)
    return first


def _same(column: NDArray[Any], order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each entry of ``column``, put in ``order``, equals the one before it."""
    column = column[order]
    same = np.zeros(len(column), dtype=bool)
    np.equal(column[1:], column[:-1], out=same[1:])
    return same


def _place_of_group(
    rows: NDArray[np.intp],
    scores: NDArray[np.float64],
    groups: NDArray[np.intp],
    place: NDArray[np.intp],
) -> NDArray[np.intp]:
    """For each entry the best place among those of its row and group with the same score."""
    order = np.lexsort((place, groups, -scores, rows))
    first = ~(_same(rows, order) & _same(scores, order) & _same(groups, order))
    best = np.empty_like(place)
    best[order] = place[order][first][np.cumsum(first) - 1]
    return best
