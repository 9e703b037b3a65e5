"""The shared ranking and its tie rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.memories.ranking import top_k

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30)
TIES = st.sampled_from(["oldest", "newest"])


@given(scores=SCORES, k=st.integers(1, 35), ties=TIES)
def test_is_a_full_sort_cut_at_k(scores, k, ties):
    sign = 1 if ties == "oldest" else -1
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], sign * i))[:k]
    assert top_k(np.array(scores), k, ties).tolist() == expected


@given(scores=SCORES, ties=TIES, groups=st.lists(st.integers(0, 5), min_size=30, max_size=30))
def test_groups_stand_together_newest_first_and_prefixes_hold(scores, ties, groups):
    n = len(scores)
    group = np.array(groups[:n])
    sign = 1 if ties == "oldest" else -1

    def place(i):
        return min(sign * j for j in range(n) if group[j] == group[i] and scores[j] == scores[i])

    expected = sorted(range(n), key=lambda i: (-scores[i], place(i), -i))
    for k in range(1, n + 1):
        assert top_k(np.array(scores), k, ties, groups=group).tolist() == expected[:k]


@pytest.mark.parametrize(("ties", "expected"), [("oldest", [7, 2, 5]), ("newest", [7, 9, 5])])
def test_candidates_keep_their_positions_and_the_tie_at_the_cut_is_whole(ties, expected):
    scores, positions = np.array([0.5, 0.5, 0.5, 0.9]), np.array([9, 5, 2, 7])
    assert top_k(scores, 3, ties, positions=positions).tolist() == expected
