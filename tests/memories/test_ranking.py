"""The shared ranking and its tie rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.memories.ranking import rank, top_k

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30)
TIES = st.sampled_from(["oldest", "newest"])


@given(scores=SCORES, k=st.integers(1, 35), ties=TIES)
def test_is_a_full_sort_cut_at_k(scores, k, ties):
    sign = 1 if ties == "oldest" else -1
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], sign * i))[:k]
    assert top_k(np.array(scores), k, ties).tolist() == expected


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 4)),
        max_size=40,
    ),
    k=st.integers(1, 12),
    ties=TIES,
    grouped=st.booleans(),
)
def test_rows_are_ranked_apart_and_groups_stand_together_newest_first(entries, k, ties, grouped):
    """Against sorting each row with Python's own sort; entry i has position 100 - i."""
    sign = 1 if ties == "oldest" else -1

    def place(i):
        tied = [
            j
            for j, entry in enumerate(entries)
            if entry[:2] == entries[i][:2] and (j == i or (grouped and entry == entries[i]))
        ]
        return min(sign * (100 - j) for j in tied)

    def key(i):
        return (-entries[i][1], place(i), -(100 - i))

    expected = []
    for row in sorted({entry[0] for entry in entries}):
        expected += sorted((i for i, e in enumerate(entries) if e[0] == row), key=key)[:k]
    rows, scores, groups = (np.array([e[c] for e in entries]) for c in range(3))
    positions = 100 - np.arange(len(entries))
    best = rank(rows, positions, scores, k, ties, groups if grouped else None)
    assert best.tolist() == expected
