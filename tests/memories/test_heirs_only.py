"""The supersession pointer alone, and the oracle that displaces what is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_coral import CONSTANTS, SWITCHES, items, positions
from vectors_on_grid import TableEmbedder, clustered

from engram_hydra.memories.coral.oracle import OracleImmune
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex


def heirs_only(embed, threshold=0.8):
    return HeirsOnly(threshold=threshold, ties="oldest", embed=embed)


def oracle(embed, superseded_by, **changed):
    options = CONSTANTS | SWITCHES | {"ties": "oldest"} | changed
    return OracleImmune(
        superseded_by=superseded_by,
        embed=embed,
        index=ExactIndex(),
        rng=np.random.default_rng(0),
        **options,
    )


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 60),
    threshold=st.sampled_from([0.3, 0.8, 0.99]),
    cut=st.integers(0, 60),
)
def test_displaces_the_nearest_one_without_an_heir_if_near_enough(seed, n, threshold, cut):
    embed = clustered(np.random.default_rng(seed), n)
    memory = heirs_only(embed, threshold)
    memory.write(items(n)[:cut])
    memory.write(items(n)[cut:])
    vectors = embed.table.astype(float)
    heirs: dict[int, int] = {}
    for new in range(n):
        free = [old for old in range(new) if old not in heirs]
        nearest = max(free, key=lambda old: vectors[old] @ vectors[new], default=None)
        if nearest is not None and vectors[nearest] @ vectors[new] > threshold:
            heirs[nearest] = new
    assert memory.displacements() == [(f"id{old}", f"id{heirs[old]}") for old in sorted(heirs)]
    assert memory.counters() == {"displacements": len(heirs), "living": n - len(heirs)}


def test_an_heir_stands_before_what_it_superseded_which_keeps_its_score():
    """0 is superseded by 1, 1 by 2; 3 is apart. The query is nearest to 0."""
    angles = np.radians([0, 20, 40, 120])
    embed = TableEmbedder(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    memory = heirs_only(embed)
    memory.write(items(4))
    (ranking,) = memory.read(["0"], 4)
    assert positions(ranking) == [2, 0, 1, 3]  # 2 answers for 0, with which it ties, newest first
    assert ranking[0].score == ranking[1].score == pytest.approx(1, abs=1e-6)
    assert ranking[2].score == pytest.approx(np.cos(angles[1]), abs=1e-6)


def test_the_oracle_displaces_exactly_what_is_known_across_reefs_and_blocks():
    n = 600
    embed = clustered(np.random.default_rng(1), n)
    known = ((0, 5), (5, 299), (7, 8), (300, 301), (10, 599))  # blocks are of 256
    memory = oracle(embed, known)
    memory.write(items(n))
    assert memory.displacements() == [(f"id{old}", f"id{new}") for old, new in sorted(known)]
    reef = memory.polyps.reef
    assert {reef[old] == reef[new] for old, new in known} == {True, False}
    assert memory.polyps.mass.sum() == pytest.approx(n)
    assert memory.polyps.mass[0] == pytest.approx(0.3)
    for reef in memory.reefs:  # the mass that moved is in the centroids
        weighted = memory.polyps.mass[reef.members] @ memory.index.vectors[reef.members].astype(
            float
        )
        assert memory.centroids._sums[reef.number] == pytest.approx(weighted)


def test_without_immune_response_the_oracle_is_silent():
    embed = clustered(np.random.default_rng(1), 100)
    memory = oracle(embed, ((0, 5),), immune_response=False)
    memory.write(items(100))
    assert memory.displacements() == []


def test_the_oracle_names_what_it_does_not_ask():
    embed = clustered(np.random.default_rng(1), 100)
    memory = oracle(embed, ((0, 5),))
    memory.write(items(100))
    inert = memory.inert()
    assert {"outlier_z", "fixed_cosine", "min_reef_size"} <= set(inert)
    assert "immune_response" not in inert and "heirs" not in inert
    assert len(set(inert)) == len(inert)
