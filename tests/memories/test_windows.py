"""Long texts: each item by the best of its windows, and nothing else changed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_coral import coral, items, positions
from vectors_on_grid import WindowedEmbedder, clustered, on_grid, windowed

from engram_hydra.errors import MethodError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex, HnswIndex
from engram_hydra.memories.tide import Tide
from engram_hydra.memories.windows import WindowIndex

W, HALF_LIFE = 0.4, 0.5
MEMORIES = {
    "dense": lambda embed, ties: Dense(ties=ties, embed=embed, index=ExactIndex()),
    "tide": lambda embed, ties: Tide(w=W, half_life=HALF_LIFE, ties=ties, embed=embed),
    "coral": lambda embed, ties: coral(embed, 3, ties=ties),
    "heirs only": lambda embed, ties: HeirsOnly(threshold=0.8, ties=ties, embed=embed),
}
every_memory = pytest.mark.parametrize("make", MEMORIES.values(), ids=MEMORIES)
cases = given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    k=st.integers(1, 60),
    cut=st.integers(0, 60),
    ties=st.sampled_from(["oldest", "newest"]),
)


def written(make, embed, n, ties="oldest", cut=0):
    """A memory of ``n`` items; those from ``cut`` on are written after a first read."""
    memory = make(embed, ties)
    memory.write(items(n)[:cut])
    memory.read(["0"], 1)
    memory.write(items(n)[cut:])
    return memory


def scores_of(memory, embed, query, n):
    """What each item scores, told plainly from the memory's state and the windows' cosines."""
    cosine = [embed.nearest(query, row) for row in range(n)]
    if isinstance(memory, Tide):
        ages = np.array([(n - 1 - row) / max(n - 1, 1) for row in range(n)])
        weights = (1 - W + W * 2.0 ** (-ages / HALF_LIFE)).tolist()
        return [c * w if c > 0 else c for c, w in zip(cosine, weights, strict=True)]
    if isinstance(memory, Dense):
        return cosine
    halved = [not alive and c > 0 for alive, c in zip(memory.living, cosine, strict=True)]
    own = [c * memory.calcified_score if h else c for c, h in zip(cosine, halved, strict=True)]
    for row in range(n):
        end = row
        while memory.heir[end] >= 0:
            end = int(memory.heir[end])
        if end != row and memory.living[end]:
            own[end] = max(own[end], cosine[row])
    return own


@every_memory
@settings(max_examples=40, deadline=None)
@cases
def test_an_item_scores_by_the_best_of_its_windows(make, seed, n, k, cut, ties):
    rng = np.random.default_rng(seed)
    embed = windowed(rng, n)
    memory = written(make, embed, n, ties, cut)
    queries = [int(rng.integers(n)) for _ in range(4)]
    rankings = memory.read([str(query) for query in queries], k)
    for query, ranking in zip(queries, rankings, strict=True):
        expected = scores_of(memory, embed, query, n)
        got = [
            (position, hit.score) for position, hit in zip(positions(ranking), ranking, strict=True)
        ]
        assert got == [(position, expected[position]) for position, _ in got]
        assert [score for _, score in got] == sorted(expected, reverse=True)[:k]
        if isinstance(memory, Dense | Tide):
            sign = 1 if ties == "oldest" else -1
            order = sorted(range(n), key=lambda i: (-expected[i], sign * i))
            assert [position for position, _ in got] == order[:k]


@every_memory
@settings(max_examples=25, deadline=None)
@cases
def test_promises_hold_with_long_texts(make, seed, n, k, cut, ties):
    """Prefixes, each item once, whatever is read and written together."""
    embed = windowed(np.random.default_rng(seed), n)
    memory, parts = written(make, embed, n, ties), written(make, embed, n, ties, cut)
    queries = [str(row) for row in range(0, n, 5)]
    whole, at_k = memory.read(queries, n), memory.read(queries, k)
    for few, all_ in zip(at_k, whole, strict=True):
        assert few == all_[:k]
        assert sorted(positions(all_)) == list(range(n))
        assert all(a.score >= b.score for a, b in pairwise(all_))
    assert [memory.read([query], k)[0] for query in queries] == at_k
    assert parts.read(queries, k) == at_k


@every_memory
@settings(max_examples=25, deadline=None)
@cases
def test_without_long_texts_nothing_changes(make, seed, n, k, cut, ties):
    """Neither where none is long, nor where each long one has a single window, which is its vector."""
    plain = clustered(np.random.default_rng(seed), n)
    none_long = WindowedEmbedder(plain, {})
    one_each = WindowedEmbedder(plain, {row: plain.table[[row]].astype(float) for row in range(n)})
    one_each.table, one_each.parts = plain.table, {row: plain.table[[row]] for row in range(n)}
    queries = [str(row) for row in range(0, n, 5)]
    expected = repr(written(make, plain, n, ties).read(queries, k))
    for embed in (none_long, one_each):
        assert repr(written(make, embed, n, ties, cut).read(queries, k)) == expected


def test_no_immune_equals_dense_with_long_texts():
    embed = windowed(np.random.default_rng(3), 300)
    reef = coral(embed, immune_response=False)
    dense = Dense(ties="oldest", embed=embed, index=ExactIndex())
    for memory in (reef, dense):
        memory.write(items(300))
    queries = [str(row) for row in range(0, 300, 7)]
    assert reef.read(queries, 10) == dense.read(queries, 10)


@pytest.mark.parametrize("make", [MEMORIES["coral"], MEMORIES["heirs only"]])
def test_what_is_superseded_goes_by_one_vector_for_each_item(make):
    embed = windowed(np.random.default_rng(5), 200)
    plain = clustered(np.random.default_rng(5), 200)
    plain.table = embed.table
    found = [written(make, each, 200).displacements() for each in (embed, plain)]
    assert found[0] == found[1] != []


def test_a_long_item_that_fills_the_proposals_hides_no_other():
    """The nearest 400 windows are of two items: the search must look beyond them."""
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(60, 8))
    near = apart[0] + 0.01 * rng.normal(size=(2, 200, 8))
    plain = clustered(rng, 60)
    plain.table = on_grid(apart)
    embed = WindowedEmbedder(plain, {7: near[0], 9: near[1]})
    for make in MEMORIES.values():
        memory = written(make, embed, 60)
        (ranking,) = memory.read(["0"], 10)
        expected = scores_of(memory, embed, 0, 60)
        assert [hit.score for hit in ranking] == sorted(expected, reverse=True)[:10]


def test_a_graph_does_not_hide_windows():
    embed = windowed(np.random.default_rng(1), 100)
    memories = [Dense(ties="oldest", embed=embed, index=i) for i in (ExactIndex(), HnswIndex())]
    rankings = []
    for memory in memories:
        memory.write(items(100))
        rankings.append(memory.read(["3", "4"], 10))
    assert rankings[0] == rankings[1]


def test_windows_that_are_no_unit_vectors_are_refused_and_nothing_is_kept():
    embed = windowed(np.random.default_rng(1), 5, long=1)
    embed.parts[2][1] = np.nan
    memory = Dense(ties="oldest", embed=embed, index=ExactIndex())
    with pytest.raises(MethodError, match="length nan"):
        memory.write(items(5))
    assert memory.ids == []


def test_the_index_finds_items_and_not_windows():
    vectors = on_grid(np.random.default_rng(2).normal(size=(6, 4)))
    index = WindowIndex()
    index.follow(vectors[:3], {1: vectors[[1, 4, 5]]})
    products = vectors.astype(float) @ vectors.T.astype(float)
    best = np.stack([products[0], products[[1, 4, 5]].max(axis=0), products[2]])
    cosines, found = index.search(vectors, 3)
    for query in range(6):
        assert found[query].tolist() == np.argsort(-best[:, query], kind="stable").tolist()
    assert cosines == pytest.approx(np.take_along_axis(best.T, found, axis=1), abs=1e-6)
    rows, positions_ = np.divmod(np.arange(18), 3)
    assert index.cosines(vectors, rows, positions_).tolist() == best.T.reshape(-1).tolist()
    assert index.cosines(vectors, rows[:0], positions_[:0]).tolist() == []
