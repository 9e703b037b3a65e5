"""The audit: what a larger pool, and its re-order, are worth at equal k."""

from __future__ import annotations

from engram_hydra.scoring import Ranking


def reordered(pool: Ranking, order: str, k: int) -> Ranking:
    """The first ``k`` of ``pool`` by a declared rule, which never asks what is relevant.

    ``own_score`` leaves the method's order. ``newest`` puts the item written last first; what decides
    is the position, so the position is the score.
    """
    if order == "own_score":
        return Ranking(pool.positions[:k], pool.scores[:k])
    newest = sorted(pool.positions, reverse=True)[:k]
    return Ranking(newest, [float(position) for position in newest])
