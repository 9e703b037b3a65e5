"""What every memory promises, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from test_coral import coral
from vectors_on_grid import TableEmbedder, clustered

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.bm25 import BM25
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex, HnswIndex
from engram_hydra.memories.random import Random
from engram_hydra.memories.tide import Tide

OKAPI = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "tokenizer": "lower_split"}
MEMORIES = {
    "bm25": lambda embed, ties: BM25(**OKAPI, ties=ties),
    "dense": lambda embed, ties: Dense(ties=ties, embed=embed, index=ExactIndex()),
    "tide": lambda embed, ties: Tide(w=0.2, half_life=0.5, ties=ties, embed=embed),
    "random": lambda embed, ties: Random(ties=ties, rng=np.random.default_rng(3)),
    "coral": lambda embed, ties: coral(embed, 3, ties=ties),
    "coral with cycles": lambda embed, ties: coral(embed, 3, ties=ties, cycle_every=4),
    "coral without heirs": lambda embed, ties: coral(embed, 3, ties=ties, heirs=False),
    "coral, hnsw": lambda embed, ties: coral(embed, 3, ties=ties, index=HnswIndex(ef_search=8)),
    "dense, hnsw": lambda embed, ties: Dense(ties=ties, embed=embed, index=HnswIndex(ef_search=8)),
    "heirs only": lambda embed, ties: HeirsOnly(threshold=0.8, ties=ties, embed=embed),
}
WORDS = ["red", "green", "blue", "reef", "fish"]


def items(rng: np.random.Generator, n: int) -> list[Item]:
    words = rng.choice(WORDS, size=(n, 3))
    return [Item(f"id{i}", i, f"{i} {' '.join(words[i])}") for i in range(n)]


@pytest.mark.parametrize("make", MEMORIES.values(), ids=MEMORIES)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 60),
    k=st.integers(1, 70),
    ties=st.sampled_from(["oldest", "newest"]),
)
def test_promises(make, seed, n, k, ties):
    rng = np.random.default_rng(seed)
    embed = clustered(rng, n)
    written = items(rng, n)
    memory = make(embed, ties)
    memory.write(written)
    queries = [f"{int(rng.integers(n))} {word}" for word in WORDS]
    at_k, whole = memory.read(queries, k), memory.read(queries, n)
    known = {item.id for item in written}
    for few, all_ in zip(at_k, whole, strict=True):
        assert len(few) == min(k, n)
        assert {hit.id for hit in all_} == known
        assert few == all_[:k]
        assert all(a.score >= b.score for a, b in pairwise(all_))

    other_name = {item.id: f"z{(7 * item.position) % 61}" for item in written}  # in no order
    renamed = make(embed, ties)
    renamed.write([replace(item, id=other_name[item.id]) for item in written])
    first_name = {new: old for old, new in other_name.items()}
    again = [[(first_name[hit.id], hit.score) for hit in r] for r in renamed.read(queries, k)]
    assert again == [[tuple(hit) for hit in ranking] for ranking in at_k]

    alone = [memory.read([query], k)[0] for query in reversed(queries)]
    assert alone[::-1] == at_k


@pytest.mark.parametrize("make", MEMORIES.values(), ids=MEMORIES)
def test_an_empty_memory_returns_nothing(make):
    memory = make(TableEmbedder(np.eye(2)), "oldest")
    memory.write([])
    assert memory.read(["0 red", "1 blue"], 3) == [[], []]


def test_dense_finds_what_an_exact_search_finds_and_widens_through_ties():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 16))
    vectors[100:400] = vectors[0]  # far more equal vectors than the spare candidates hold
    embed = TableEmbedder(vectors)
    memory = Dense(ties="newest", embed=embed, index=ExactIndex())
    memory.write([Item(str(i), i, str(i)) for i in range(500)])
    (ranking,) = memory.read(["0"], 5)
    assert [int(hit.id) for hit in ranking] == [399, 398, 397, 396, 395]
    (ranking,) = memory.read(["450"], 20)
    cosines = embed.table.astype(float) @ embed.table[450].astype(float)
    assert [int(h.id) for h in ranking] == sorted(range(500), key=lambda i: (-cosines[i], -i))[:20]


def test_bm25_is_rank_bm25_over_lower_cased_words():
    texts = ["The reef is old", "the fish is new", "A new reef", "one", "two", "three", "four"]
    memory = BM25(**OKAPI, ties="oldest")
    memory.write([Item(str(i), i, text) for i, text in enumerate(texts)])
    (ranking,) = memory.read(["New REEF"], 7)
    expected = BM25Okapi([t.lower().split() for t in texts]).get_scores(["new", "reef"])
    assert {hit.id: hit.score for hit in ranking} == {str(i): s for i, s in enumerate(expected)}
    assert ranking[0].id == "2"


def test_bm25_on_the_tokens_of_longmemeval_s_script():
    texts = ["The reef  is old", "the fish is new", "A new reef", "one", "two", "three", ""]
    memory = BM25(**{**OKAPI, "tokenizer": "split_space"}, ties="oldest")
    memory.write([Item(str(i), i, text) for i, text in enumerate(texts)])
    (ranking,) = memory.read(["New  reef"], 7)
    expected = BM25Okapi([t.split(" ") for t in texts]).get_scores(["New", "", "reef"])
    assert {hit.id: hit.score for hit in ranking} == {str(i): s for i, s in enumerate(expected)}
    assert ranking[0].id == "6"  # for the empty word


def test_bm25_of_texts_without_words_ranks_by_the_tie_rule():
    memory = BM25(**OKAPI, ties="newest")
    memory.write([Item(str(i), i, " ") for i in range(3)])
    assert [hit.id for hit in memory.read(["x"], 2)[0]] == ["2", "1"]


def test_tide_weighs_the_cosine_by_age_and_leaves_negative_ones():
    embed = TableEmbedder(np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]))
    memory = Tide(w=0.5, half_life=0.5, ties="oldest", embed=embed)
    memory.write([Item(str(i), i, str(i)) for i in range(3)])
    (ranking,) = memory.read(["0"], 3)
    # ages 1, 1/2, 0: recency 2^-2, 2^-1, 1
    expected = {"0": 1 * (0.5 + 0.5 * 0.25), "1": 0.6 * (0.5 + 0.5 * 0.5), "2": -1.0}
    assert {hit.id: hit.score for hit in ranking} == pytest.approx(expected, abs=1e-7)


def test_random_draws_by_seed_and_query():
    def order(seed, query):
        memory = Random(ties="oldest", rng=np.random.default_rng(seed))
        memory.write([Item(str(i), i, "") for i in range(50)])
        return [hit.id for hit in memory.read(["other", query], 50)[1]]

    assert order(0, "a") == order(0, "a")
    assert order(0, "a") != order(1, "a")
    assert order(0, "a") != order(0, "b")
