"""Re-ordering a larger pool and cutting it to k."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.audit import reordered
from engram_hydra.scoring import Ranking


def pool(*entries):
    """A ranking of (position, score) entries."""
    return Ranking([position for position, _ in entries], [score for _, score in entries])


def entries(ranking):
    return list(zip(ranking.positions, ranking.scores, strict=True))


POOL = pool((4, 0.9), (0, 0.5), (7, 0.5), (2, -0.1), (5, -0.3))


@pytest.mark.parametrize(
    ("order", "k", "expected"),
    [
        ("own_score", 3, [(4, 0.9), (0, 0.5), (7, 0.5)]),
        ("own_score", 5, [(4, 0.9), (0, 0.5), (7, 0.5), (2, -0.1), (5, -0.3)]),
        ("own_score", 9, [(4, 0.9), (0, 0.5), (7, 0.5), (2, -0.1), (5, -0.3)]),
        ("newest", 3, [(7, 7.0), (5, 5.0), (4, 4.0)]),
        ("newest", 1, [(7, 7.0)]),
        ("newest", 9, [(7, 7.0), (5, 5.0), (4, 4.0), (2, 2.0), (0, 0.0)]),
    ],
)
def test_the_pool_is_reordered_then_cut(order, k, expected):
    assert entries(reordered(POOL, order, k)) == expected


def test_an_empty_pool_stays_empty():
    for order in ("own_score", "newest"):
        assert entries(reordered(pool(), order, 3)) == []


def test_the_pool_itself_stays_as_it_was():
    before = entries(POOL)
    reordered(POOL, "newest", 2)
    assert entries(POOL) == before


@given(
    positions=st.lists(st.integers(0, 50), unique=True, max_size=30),
    k=st.integers(1, 12),
    order=st.sampled_from(["own_score", "newest"]),
)
def test_k_items_of_the_pool_with_falling_scores(positions, k, order):
    ranking = reordered(pool(*((p, -float(n // 2)) for n, p in enumerate(positions))), order, k)
    got = ranking.positions
    assert len(got) == len(set(got)) == min(k, len(positions))
    assert set(got) <= set(positions)
    assert all(a >= b for a, b in pairwise(ranking.scores))
    if order == "newest":
        assert got == sorted(positions)[::-1][:k]
        assert len(set(ranking.scores)) == len(got)  # no two items are equally new
