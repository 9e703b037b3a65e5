"""The exact index and the graph: what they hold, find, and promise."""

from __future__ import annotations

import faiss
import numpy as np
import pytest
from test_coral import coral, items
from vectors_on_grid import clustered, on_grid

from engram_hydra.memories.dense import Dense
from engram_hydra.memories.index import ExactIndex, HnswIndex

N, DIM = 3000, 24


@pytest.fixture(scope="module")
def vectors():
    return on_grid(np.random.default_rng(0).normal(size=(N, DIM)))


@pytest.mark.parametrize("make", [ExactIndex, HnswIndex])
def test_holds_what_was_added_in_its_order(make, vectors):
    index = make()
    assert (index.size, index.dim) == (0, None)
    index.add(vectors[:1000])
    index.add(vectors[1000:])
    assert (index.size, index.dim) == (N, DIM)
    assert np.array_equal(index.vectors, vectors)
    _, found = index.search(vectors[:50], 1)
    assert found[:, 0].tolist() == list(range(50))


def test_the_exact_index_proposes_the_nearest(vectors):
    index = ExactIndex()
    index.add(vectors)
    cosines, found = index.search(vectors[:20], 5)
    products = vectors[:20].astype(float) @ vectors.T.astype(float)
    assert np.sort(found, axis=1).tolist() == np.sort(np.argsort(-products, axis=1)[:, :5]).tolist()
    assert cosines == pytest.approx(np.take_along_axis(products, found, axis=1), abs=1e-6)


def graph(index: HnswIndex) -> list[int]:
    """All links of the graph, as FAISS holds them."""
    return faiss.vector_to_array(index._faiss.hnsw.neighbors).tolist()


def test_a_graph_is_the_same_for_a_seed_whatever_the_threads_and_another_for_another(vectors):
    graphs = []
    before = faiss.omp_get_max_threads()
    try:
        for seed, threads in ((0, 1), (0, 2), (0, 2), (1, 1)):
            faiss.omp_set_num_threads(threads)
            index = HnswIndex(links=8, seed=seed)
            index.add(vectors)
            assert faiss.omp_get_max_threads() == threads  # left as it was
            graphs.append((graph(index), index.search(vectors[:40], 10)[1].tolist()))
    finally:
        faiss.omp_set_num_threads(before)
    assert graphs[0] == graphs[1] == graphs[2] != graphs[3]


def test_a_wider_beam_finds_more_and_recall_says_so():
    embed = clustered(np.random.default_rng(3), 4000, dim=32, centres=400)
    queries = [str(i) for i in range(0, 4000, 40)]
    recalls = {}
    for width in (10, 200):
        memory = Dense(ties="oldest", embed=embed, index=HnswIndex(links=4, ef_search=width))
        memory.write(items(4000))
        recall = recalls[width] = memory.index_recall(queries, 10)
        whole = Dense(ties="oldest", embed=embed, index=ExactIndex())
        whole.write(items(4000))
        for query, share in zip(queries[:20], recall, strict=False):
            exact = {hit.score for hit in whole.read([query], 10)[0]}
            found = [hit.score for hit in memory.read([query], 10)[0]]
            assert sum(score in exact for score in found) / 10 == pytest.approx(share)
    assert np.mean(recalls[10]) < np.mean(recalls[200]) <= 1


def test_an_exact_index_recalls_all_ties_included():
    embed = clustered(np.random.default_rng(1), 200, dim=3)
    memory = Dense(ties="newest", embed=embed, index=ExactIndex())
    memory.index.width = 200
    memory.write(items(200))
    assert memory.index_recall(["0", "7"], 10) == [1.0, 1.0]


def test_coral_on_a_graph_is_near_to_coral_on_all():
    """The graph's reef is not the exact one, but most of its displacements are."""
    embed = clustered(np.random.default_rng(5), 3000, dim=16, centres=6)
    found = {}
    for name, index in (("exact", ExactIndex()), ("hnsw", HnswIndex(ef_search=64))):
        memory = coral(embed, index=index, outlier_z=1.5, founding_affinity=0.3)
        memory.write(items(3000))
        found[name] = set(memory.displacements())
    assert len(found["exact"]) > 300
    assert len(found["exact"] & found["hnsw"]) > 0.9 * len(found["exact"] | found["hnsw"])


def test_coral_on_a_graph_repeats_itself_at_a_seed():
    embed = clustered(np.random.default_rng(5), 1000, dim=16, centres=6)
    states = []
    for seed in (0, 0, 1):
        memory = coral(embed, seed, index=HnswIndex(links=4, ef_search=8, seed=seed))
        memory.write(items(1000))
        states.append((memory.polyps.columns(), memory.read(["1", "2"], 10)))
    assert states[0] == states[1] != states[2]


def test_running_moments_are_those_of_the_members():
    """Against numpy over the members' cosines, across the points where they are added up."""
    from engram_hydra.memories.coral.neighbours import _Moments

    rng = np.random.default_rng(2)
    vectors = on_grid(rng.normal(size=(200, 16)) + 1).astype(np.float64)
    moments = _Moments(16)
    for start in range(0, 190, 19):
        moments.add(vectors[start : start + 19])
        cosines = vectors[190:] @ vectors[: start + 19].T
        total, squares = moments.of(vectors[190:])
        assert total == pytest.approx(cosines.sum(axis=1), abs=1e-12)
        assert squares == pytest.approx((cosines**2).sum(axis=1), abs=1e-12)
