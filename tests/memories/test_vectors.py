"""What memories of vectors refuse, and what they answer at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from test_coral import coral, items
from vectors_on_grid import TableEmbedder

from engram_hydra.datasets.dataset import Item
from engram_hydra.errors import MethodError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex, HnswIndex
from engram_hydra.memories.tide import Tide

MAKE = {
    "dense": lambda embed: Dense(ties="oldest", embed=embed, index=ExactIndex()),
    "dense, hnsw": lambda embed: Dense(ties="oldest", embed=embed, index=HnswIndex()),
    "tide": lambda embed: Tide(w=0.2, half_life=0.5, ties="oldest", embed=embed),
    "coral": lambda embed: coral(embed),
    "coral, hnsw": lambda embed: coral(embed, index=HnswIndex()),
    "heirs only": lambda embed: HeirsOnly(threshold=0.8, ties="oldest", embed=embed),
}
every_memory = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


def given(rows):
    """An embedder that gives these rows, whatever the texts."""
    return lambda texts: np.array(rows, dtype=np.float32)[: len(texts)]


@every_memory
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1, 0], [np.nan, 1]], "text 1 a vector of length nan"),
        ([[0, 1], [np.inf, 0]], "text 1 a vector of length inf"),
        ([[0, 0], [1, 0]], "text 0 a vector of length 0,"),
        ([[1, 0], [3, 4]], "text 1 a vector of length 5,"),
        ([[1, 0]], "shape (1, 2) for 2 texts"),
        ([1, 0], "shape (2,) for 2 texts"),
    ],
)
def test_vectors_that_are_none_are_refused_and_nothing_is_kept(make, rows, words):
    memory = make(given(rows))
    with pytest.raises(MethodError) as refused:
        memory.write(items(2))
    assert words in str(refused.value)
    assert memory.ids == []
    memory.embed = given([[1, 0], [0, 1]])
    memory.write(items(2))
    assert {hit.id for hit in memory.read(["0"], 5)[0]} == {"id0", "id1"}


@every_memory
def test_a_query_of_no_length_or_of_another_width_is_refused(make):
    memory = make(given([[1, 0], [0, 1]]))
    memory.write(items(2))
    memory.embed = given([[np.nan, 0]])
    with pytest.raises(MethodError, match="text 0 a vector of length nan"):
        memory.read(["x"], 1)
    memory.embed = given([[1, 0, 0]])
    with pytest.raises(MethodError, match="3 components to a memory of 2"):
        memory.read(["x"], 1)
    with pytest.raises(MethodError, match="3 components to a memory of 2"):
        memory.write([Item("id2", 2, "x")])


@every_memory
@pytest.mark.parametrize("positions", [[0, 0], [1, 2], [0, 2], [1, 0]])
def test_positions_must_be_each_the_next(make, positions):
    memory = make(given([[1, 0], [0, 1]]))
    with pytest.raises(MethodError, match="each once"):
        memory.write([Item(f"id{p}", p, "") for p in positions])
    assert memory.ids == []


@every_memory
def test_no_item_one_item_no_query_and_k_above_n(make):
    memory = make(TableEmbedder(np.eye(3)))
    assert memory.read(["0", "1"], 4) == [[], []]
    memory.write([])
    assert memory.read(["0"], 4) == [[]]
    memory.write(items(1))
    assert [hit.id for hit in memory.read(["1"], 4)[0]] == ["id0"]
    assert memory.read([], 4) == []
    memory.write([Item("id1", 1, "1")])
    assert [hit.id for hit in memory.read(["1"], 4)[0]] == ["id1", "id0"]


@every_memory
def test_an_array_of_float64_or_of_strides_is_taken_for_what_it_is(make):
    table = TableEmbedder(np.eye(4)).table
    memory = make(lambda texts: np.asfortranarray(table[[int(t) for t in texts]].astype(float)))
    memory.write(items(4))
    assert memory.read(["2"], 1)[0][0].id == "id2"
