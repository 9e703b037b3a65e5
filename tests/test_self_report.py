"""What a memory says of itself, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from engram_hydra.datasets.dataset import Item
from engram_hydra.errors import MethodError
from engram_hydra.memories.memory import Memory
from engram_hydra.self_report import self_report

ITEMS = [Item(f"id{p}", p, f"text {p}") for p in range(4)]


class Silent(Memory):
    def write(self, items):
        pass

    def read(self, queries, k):
        return [[] for _ in queries]


class Telling(Silent):
    """Says of itself what it is told to say."""

    def __init__(self, **answers):
        self.answers = answers

    def counters(self):
        return self.answers.get("counters", {})

    def displacements(self):
        return self.answers.get("displacements", ())

    def distributions(self):
        return self.answers.get("distributions", {})

    def table(self):
        return self.answers.get("table", {})

    def inert(self):
        return ()


def test_a_silent_memory_says_nothing():
    report = self_report(Silent(), (), ITEMS)
    assert (report.counters, report.distributions, report.table) == ({}, {}, {})
    assert report.inert is None  # which is not: everything acted
    assert report.displacements is None  # which is not: it displaced nothing
    assert self_report(Telling(), (), ITEMS).displacements == set()


def test_ids_become_positions_and_numbers_plain_ones():
    memory = Telling(
        counters={"reefs": np.int64(3), "mass": np.float32(0.5), "cycles": False},
        displacements=[("id0", "id2"), ("id2", "id3"), ("id0", "id2")],
        distributions={"size": np.array([1.0, 2.0]), "none": []},
        table={"reef": np.array([0, 1]), "word": ["a", None]},
    )
    report = self_report(memory, ["feeding"], ITEMS)
    assert report.displacements == {(0, 2), (2, 3)}
    assert report.counters == {"reefs": 3.0, "mass": 0.5, "cycles": 0.0}
    assert report.distributions == {"size": [1.0, 2.0], "none": []}
    assert all(type(value) is float for value in report.distributions["size"])
    assert report.table == {"reef": [0, 1], "word": ["a", None]}
    assert report.inert == ["feeding"]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (
            {"displacements": [("id2", "id1")]},
            "displacements() holds ('id2', 'id1'), whose old item was not written before the new one",
        ),
        (
            {"displacements": [("id2", "id2")]},
            "displacements() holds ('id2', 'id2'), whose old item was not written before the new one",
        ),
        ({"counters": {"a": float("nan")}}, "counters() gives a the value nan, which is no finite"),
        ({"counters": {"a": 10**400}}, "counters() gives a the value 1000"),
        ({"counters": {"a": "many"}}, "counters() gives a the value 'many', which is no finite"),
        ({"counters": {"a": None}}, "counters() gives a the value None"),
        ({"counters": {"a b/c": 1}}, "counters() has an entry 'a b/c': name it with letters"),
        ({"counters": {3: 1}}, "counters() has an entry 3"),
        ({"distributions": {"a": [1.0, float("-inf")]}}, "distributions() gives a the value -inf"),
        ({"distributions": {"../a": [1.0]}}, "distributions() has an entry '../a'"),
        ({"table": {"a": [1, 2], "b": [1]}}, "table() has columns of several lengths: a 2, b 1."),
        ({"table": {"a": ["x", float("nan")]}}, "table() gives a the value nan"),
        ({"table": {"": []}}, "table() has an entry ''"),
        ({"displacements": [("id0", "i9")]}, "displacements() names the id 'i9', which was never"),
        ({"displacements": [("fact_0", "id1")]}, "displacements() names the id 'fact_0'"),
        ({"displacements": [(0, 1)]}, "displacements() names the id 0, which was never written"),
        ({"displacements": [("id0",)]}, "displacements() holds ('id0',): each must be a pair"),
        ({"displacements": ["id0"]}, "displacements() holds 'id0': each must be a pair"),
    ],
    ids=str,
)
def test_what_is_unsound_is_refused_in_one_sentence(answers, words):
    with pytest.raises(MethodError) as refused:
        self_report(Telling(**answers), (), ITEMS)
    message = str(refused.value)
    assert message.startswith(words)
    assert message.endswith(".")
    assert "\n" not in message
