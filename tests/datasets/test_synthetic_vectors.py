"""The conflicts are counted again from subjects, relations and objects; the geometry from products."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.datasets.synthetic_vectors import KIND_OF, VectorWorld
from engram_hydra.errors import ConfigError

FACTS = 1000


@pytest.fixture(scope="module")
def world() -> VectorWorld:
    return VectorWorld(facts=FACTS, seed=3)


def told(world: VectorWorld) -> dict[tuple[int, int], list[int]]:
    """Positions of the facts of each slot, oldest first."""
    slots = defaultdict(list)
    for position, slot in enumerate(zip(world.subject, world.relation, strict=True)):
        slots[slot].append(position)
    return slots


@settings(max_examples=40, deadline=None)
@given(st.integers(20, 3000), st.floats(0, 0.9), st.integers(0, 999))
def test_known_conflicts_are_those_of_the_facts(facts: int, rate: float, seed: int) -> None:
    world = VectorWorld(facts=facts, conflict_rate=rate, seed=seed)
    slots = told(world).values()
    again = sorted(pair for slot in slots for pair in pairwise(slot))
    assert world.superseded_by.tolist() == [list(pair) for pair in again]
    assert len(again) == round(rate * facts)
    assert len(world.subject) == facts
    for positions in slots:
        objects = world.object[positions]
        assert len(set(objects)) == len(positions)
        assert world.subject[positions[0]] not in objects


def test_a_slot_of_many_facts_has_a_new_object_for_each() -> None:
    world = VectorWorld(facts=2000, conflict_rate=0.9)
    most = max(told(world).values(), key=len)
    assert len(most) > 15
    assert len(set(world.object[most])) == len(most)


def test_relations_are_of_unequal_sizes() -> None:
    sizes = np.bincount(VectorWorld(facts=20_000).relation) / 20_000
    assert len(sizes) == 24
    assert 0.06 < sizes.max() < 0.08
    assert 0.007 < sizes.min() < 0.011


def test_a_subject_is_of_one_kind(world: VectorWorld) -> None:
    kinds = defaultdict(set)
    for subject, relation in zip(world.subject, world.relation, strict=True):
        kinds[subject].add(KIND_OF[relation])
    assert {len(of_one) for of_one in kinds.values()} == {1}
    assert len(set().union(*kinds.values())) == 6


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_cosines_resemble_those_of_embedded_sentences(seed: int) -> None:
    """The bounds are MiniLM's figures on ``synthetic``, within a few hundredths."""
    world = VectorWorld(facts=2000, seed=seed)
    vectors = world.vectors(0, 2000)
    upper = np.triu_indices(2000, 1)
    cosines = (vectors @ vectors.T)[upper]
    subject, relation, kind = (
        (column[:, None] == column)[upper]
        for column in (world.subject, world.relation, KIND_OF[world.relation])
    )
    for pairs, mean, sd in (
        (subject & relation, 0.649, 0.104),
        (subject & ~relation, 0.513, 0.083),
        (~subject & relation, 0.347, 0.114),
        (~subject & ~relation & kind, 0.217, 0.083),
        (~kind, 0.209, 0.089),
    ):
        assert cosines[pairs].mean() == pytest.approx(mean, abs=0.03)
        assert cosines[pairs].std() == pytest.approx(sd, abs=0.04)


def test_a_question_is_nearest_its_slot(world: VectorWorld) -> None:
    queries, current = world.queries(200)
    cosines = queries @ world.vectors(0, FACTS).T
    slot = world.subject.astype(np.int64) * len(KIND_OF) + world.relation
    own = slot[current][:, None] == slot
    assert cosines[own].mean() == pytest.approx(0.694, abs=0.03)
    assert own[np.arange(200), cosines.argmax(axis=1)].mean() > 0.8


def test_questions_ask_for_what_holds_now(world: VectorWorld) -> None:
    _, current = world.queries(300)
    last = {slot[-1] for slot in told(world).values()}
    assert set(current.tolist()) <= last
    assert len(set(current.tolist())) == 300
    with pytest.raises(ConfigError, match=f"give 0 to {len(last)} questions"):
        world.queries(len(last) + 1)


def test_seeds_of_questions_and_worlds_matter(world: VectorWorld) -> None:
    assert not np.array_equal(world.queries(50, seed=0)[1], world.queries(50, seed=1)[1])
    other = VectorWorld(facts=FACTS, seed=4)
    assert not np.array_equal(world.subject, other.subject)
    same_told = np.flatnonzero(world.relation == other.relation)[:1]
    assert (world.vectors(0, FACTS)[same_told] != other.vectors(0, FACTS)[same_told]).any()


def test_vectors_are_unit_and_on_the_grid(world: VectorWorld) -> None:
    queries, _ = world.queries(50)
    vectors = np.concatenate([world.vectors(0, FACTS), queries])
    assert vectors.shape == (FACTS + 50, 384)
    assert vectors.dtype == np.float32
    steps = vectors.astype(np.float64) * 2**24
    assert np.array_equal(steps, np.rint(steps))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert len(np.unique(vectors, axis=0)) == len(vectors)


@settings(max_examples=30, deadline=None)
@given(cuts=st.sets(st.integers(1, 5999), max_size=12))
def test_blocks_do_not_matter(cuts: set[int]) -> None:
    world = VectorWorld(facts=6000)
    bounds = [0, *sorted(cuts), 6000]
    blocks = [world.vectors(a, b) for a, b in pairwise(bounds)]
    assert np.array_equal(np.concatenate(blocks), world.vectors(0, 6000))


def test_texts_stand_for_vectors(world: VectorWorld) -> None:
    items = world.items(20, 30)
    assert [item.position for item in items] == list(range(20, 30))
    assert np.array_equal(world.embed([item.text for item in items]), world.vectors(20, 30))
    queries, current = world.queries(2)
    mixed = world.embed([f"?{current[1]}", "7", f"?{current[0]}"])
    assert np.array_equal(mixed, np.stack([queries[1], world.vectors(7, 8)[0], queries[0]]))
    assert world.embed([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["a fact", "", "?", "1.5", str(FACTS), "-1", f"?{FACTS}"])
def test_other_texts_are_refused(world: VectorWorld, text: str) -> None:
    with pytest.raises(ConfigError, match=r"^[^\n]+\.$"):
        world.embed(["1", text])


@pytest.mark.parametrize(
    "wrong",
    [
        {"facts": 19},
        {"facts": 2_000_001},
        {"conflict_rate": -0.1},
        {"conflict_rate": 0.91},
        {"conflict_rate": float("nan")},
        {"seed": -1},
        {"seed": 1000},
    ],
)
def test_arguments_out_of_range(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"^{name}="):
        VectorWorld(**{"facts": 100, **wrong})


def test_the_smallest_worlds_stand() -> None:
    assert len(VectorWorld(facts=20, conflict_rate=0).superseded_by) == 0
    assert len(VectorWorld(facts=20, conflict_rate=0.9).superseded_by) == 18
    assert VectorWorld(facts=20).vectors(5, 5).shape == (0, 384)


def test_the_facts_are_pinned(world: VectorWorld) -> None:
    """Figures in reports must stay comparable: a change here is a change of the data."""
    digest = hashlib.sha256()
    for column in (world.subject, world.relation, world.object, world.superseded_by):
        digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    assert digest.hexdigest() == "c4f871cd2bd4953f3df85964ad248695a02f75a1eacb33237e9f40cfc5863b6d"


def test_a_million_facts_are_told_in_seconds() -> None:
    start = time.perf_counter()
    world = VectorWorld(facts=1_000_000)
    assert time.perf_counter() - start < 20
    held = sum(column.nbytes for column in (world.subject, world.relation, world.object))
    assert held == 12_000_000
    assert len(world.superseded_by) == 350_000
    assert np.array_equal(world.vectors(999_999, 1_000_000), world.embed(["999999"]))
