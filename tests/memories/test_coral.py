"""Coral against its plain re-telling, and the invariants of its description."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_coral import NaiveCoral
from vectors_on_grid import TableEmbedder, clustered

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.coral import neighbours
from engram_hydra.memories.coral.archipelago import Archipelago
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.heirs import chain_ends
from engram_hydra.memories.index import ExactIndex

CONSTANTS = {
    "settling_exponent": 4.0,
    "founding_affinity": 0.5,
    "min_reef_size": 3,
    "outlier_z": 0.8,
    "resistance": 0.1,
    "fixed_cosine": 0.9,
    "calcified_score": 0.5,
    "mass_split": 0.3,
    "maintenance_cost": 0.05,
    "lean_cycles": 3,
    "cycle_every": None,
}
SWITCHES = {
    "heirs": True,
    "calcification": True,
    "immune_response": True,
    "feeding": True,
    "resist": True,
    "reef_threshold": True,
    "settling_noise": True,
}


def items(n: int) -> list[Item]:
    return [Item(f"id{i}", i, str(i)) for i in range(n)]


def coral(embed: TableEmbedder, seed: int = 0, **changed: object) -> Archipelago:
    options = CONSTANTS | SWITCHES | {"ties": "oldest"} | changed
    options.setdefault("index", ExactIndex())
    return Archipelago(embed=embed, rng=np.random.default_rng(seed), **options)


def positions(ranking) -> list[int]:
    return [int(hit.id.removeprefix("id")) for hit in ranking]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    off=st.sets(st.sampled_from([*SWITCHES])),
    cycle_every=st.sampled_from([None, 1, 7]),
    resistance=st.sampled_from([0.0, 0.1, 1.0]),
    founding_affinity=st.sampled_from([0.2, 0.5, 0.8]),
)
def test_equals_its_plain_retelling(seed, n, off, cycle_every, resistance, founding_affinity):
    embed = clustered(np.random.default_rng(seed), n)
    changed = dict.fromkeys(off, False) | {
        "cycle_every": cycle_every,
        "resistance": resistance,
        "founding_affinity": founding_affinity,
    }
    memory = coral(embed, seed, **changed)
    memory.write(items(n))
    naive = NaiveCoral(embed.table, CONSTANTS | SWITCHES | changed, seed)
    for i in range(n):
        naive.write(i)

    for i, polyp in enumerate(naive.polyps):
        assert memory.polyps[i].living == polyp.living
        assert memory.polyps[i].heir == (-1 if polyp.heir is None else polyp.heir)
        assert memory.polyps[i].dependants == polyp.dependants
        assert memory.polyps[i].rings == polyp.rings
        assert memory.polyps[i].mass == pytest.approx(polyp.mass)
    assert [reef.members.tolist() for reef in memory.reefs] == naive.reefs
    assert memory.maintenance_paid == pytest.approx(naive.paid)

    (ranking,) = memory.read(["0"], 10)
    assert [(p, h.score) for p, h in zip(positions(ranking), ranking, strict=True)] == naive.read(
        0, 10
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 80), cycle_every=st.sampled_from([None, 5]))
def test_invariants(seed, n, cycle_every):
    memory = coral(clustered(np.random.default_rng(seed), n), seed, cycle_every=cycle_every)
    memory.write(items(n))
    polyps = memory.polyps
    assert polyps.mass.sum() == pytest.approx(n - memory.maintenance_paid)
    heirs = np.flatnonzero(polyps.heir >= 0)
    assert (polyps.heir[heirs] > heirs).all()  # always younger, so no chain can bite its tail
    assert not polyps.living[heirs].any()
    assert len(set(polyps.heir[heirs])) == len(heirs)
    assert sorted(np.concatenate([reef.members for reef in memory.reefs])) == list(range(n))
    for end in chain_ends(polyps.heir):
        assert polyps.heir[end] == -1  # living, or calcified without an heir


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), cut=st.integers(0, 60))
def test_results_do_not_depend_on_how_writes_are_batched(seed, n, cut):
    embed = clustered(np.random.default_rng(seed), n)
    whole, parts = coral(embed, seed), coral(embed, seed)
    whole.write(items(n))
    parts.write(items(n)[:cut])
    parts.write(items(n)[cut:])
    assert whole.read(["0", "0"], n) == parts.read(["0", "0"], n)
    assert whole.polyps.mass.tolist() == parts.polyps.mass.tolist()


@pytest.mark.parametrize("dim", [8, 64])
def test_running_sums_and_the_members_themselves_decide_alike(monkeypatch, dim):
    """Near a cut the members are asked: here always, there as shipped."""
    embed = clustered(np.random.default_rng(7), 900, dim=dim)
    states = []
    for close in (neighbours.CLOSE, np.inf):
        monkeypatch.setattr(neighbours, "CLOSE", close)
        memory = coral(embed, 7, min_reef_size=4)
        memory.write(items(900))
        states.append(memory.polyps.columns())
    assert states[0] == states[1]
    assert sum(heir >= 0 for heir in states[0]["heir"]) > 100


def test_two_rivals_within_a_rounding_error_are_told_apart():
    """In float32 the younger one may seem nearer; exact products decide."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        vectors = np.repeat(rng.normal(size=(1, 24)), 40, axis=0)
        vectors[:30] += 1e-6 * rng.normal(size=(30, 24))
        embed = TableEmbedder(vectors)
        memory = coral(embed, min_reef_size=2, founding_affinity=0.1, immune_response=False)
        memory.write(items(30))
        memory.write([Item("id30", 30, "30")])
        exact = embed.table[:30].astype(float) @ embed.table[30].astype(float)
        rough = embed.table[:30] @ embed.table[30]
        wrong += rough.argmax() != exact.argmax()
        before = coral(embed, min_reef_size=2, founding_affinity=0.1, immune_response=False)
        before.write(items(30))
        changed = memory.polyps.dependants[:30] - before.polyps.dependants
        assert np.flatnonzero(changed).tolist() == [exact.argmax()]
    assert wrong > 20  # else float32 would do


def test_no_immune_equals_dense_exactly():
    embed = clustered(np.random.default_rng(3), 300)
    memory, dense = (
        coral(embed, immune_response=False),
        Dense(ties="oldest", embed=embed, index=ExactIndex()),
    )
    for one in (memory, dense):
        one.write(items(300))
    queries = [str(i) for i in range(0, 300, 7)]
    assert memory.read(queries, 10) == dense.read(queries, 10)


@pytest.mark.parametrize("off", ["heirs", "calcification"])
def test_parts_that_act_in_reading_leave_the_written_reef_alone(off):
    embed = clustered(np.random.default_rng(5), 200)
    full, without = coral(embed), coral(embed, **{off: False})
    full.write(items(200))
    without.write(items(200))
    for column, values in vars(full.polyps).items():
        assert values.tolist() == getattr(without.polyps, column).tolist()
    assert (~full.polyps.living).any()  # else there is nothing to compare


def test_same_seed_same_reef_and_other_seed_another():
    embed = clustered(np.random.default_rng(1), 200)
    reefs = []
    for seed in (0, 0, 1):
        memory = coral(embed, seed, founding_affinity=0.2)
        memory.write(items(200))
        reefs.append(memory.polyps.reef.tolist())
    assert reefs[0] == reefs[1] != reefs[2]


def test_feeding_keeps_what_is_read_alive():
    """Reads between cycles: who is returned lives on, the others starve, and without feeding all do."""
    embed = TableEmbedder(np.eye(6))
    living = {}
    for feeding in (True, False):
        memory = coral(embed, cycle_every=1, feeding=feeding, maintenance_cost=0.0)
        for item in items(6):
            memory.write([item])
            memory.read(["0"], 1)
        living[feeding] = np.flatnonzero(memory.polyps.living).tolist()
    assert living[True] == [0, 4, 5]
    assert living[False] == [4, 5]


def test_one_read_changes_no_later_one():
    embed = clustered(np.random.default_rng(2), 100)
    memory = coral(embed, cycle_every=10)
    memory.write(items(100))
    first = memory.read(["1"], 5)
    memory.read([str(i) for i in range(100)], 50)
    assert memory.read(["1"], 5) == first


def test_equal_scores_of_a_chain_stand_newest_first_at_the_oldest_ones_place():
    """A (displaced by C) and C answer the query alike; B, told between them, ties with both."""
    near, other = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    embed = TableEmbedder(np.array([near, near, near, other, other, other, other]))
    memory = coral(embed, calcification=False)
    memory.write(items(7))
    memory.polyps.living[0], memory.polyps.heir[0] = False, 2
    assert positions(memory.read(["0"], 3)[0]) == [2, 0, 1]
    assert positions(memory.read(["0"], 1)[0]) == [2]


def test_what_never_acted_is_called_inert():
    embed = clustered(np.random.default_rng(4), 100)
    memory = coral(embed, immune_response=False)
    memory.write(items(100))
    assert {"immune_response", "heirs", "calcification", "mass_split", "feeding"} <= set(
        memory.inert()
    )
    crowded = clustered(np.random.default_rng(4), 100, dim=2)
    acting = coral(crowded, cycle_every=2, founding_affinity=0.7, resistance=0.5)
    for item in items(100):
        acting.write([item])
        acting.read(["3"], 2)
    assert acting.inert() == ["fixed_threshold", "fixed_cosine"]
