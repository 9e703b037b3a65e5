"""The one ranking every memory uses, with a stated rule for equal scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def top_k(
    scores: NDArray[np.float64],
    k: int,
    ties: str,
    *,
    positions: NDArray[np.intp] | None = None,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Positions of the ``min(k, n)`` best of ``n`` scores, best first.

    Equal scores stand by ``ties``: ``oldest`` (lower position first) or ``newest``. The whole tie at
    the cut is ordered before it is cut, so that rankings are prefix-consistent and never depend on a
    library's own order.

    Args:
        scores: shape (n,), finite.
        k: how many to return, at least 1.
        ties: ``oldest`` or ``newest``.
        positions: shape (n,), the position of each score; by default ``arange(n)``.
        groups: shape (n,), labels; among equal scores the members of one group stand together,
            newest first, at the place of the one that ``ties`` puts first.
    """
    n = len(scores)
    if n > k:
        cut = np.partition(scores, n - k)[n - k]
        kept = np.flatnonzero(scores >= cut)
    else:
        kept = np.arange(n)
    score = scores[kept]
    position = kept if positions is None else positions[kept]
    place = position if ties == "oldest" else -position
    if groups is not None:
        place = _place_of_group(score, groups[kept], place)
    order = np.lexsort((-position, place, -score))
    return np.asarray(position[order[:k]])


def _place_of_group(
    score: NDArray[np.float64], group: NDArray[np.intp], place: NDArray[np.intp]
) -> NDArray[np.intp]:
    """For each entry the best place among the entries of its group with the same score."""
    order = np.lexsort((place, group, -score))
    score, group = score[order], group[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (score[1:] != score[:-1]) | (group[1:] != group[:-1])
    best = np.empty_like(place)
    best[order] = place[order][first][np.cumsum(first) - 1]
    return best
