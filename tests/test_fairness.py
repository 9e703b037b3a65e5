"""The rules every method is held to."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.datasets.dataset import Item
from engram_hydra.errors import MethodError
from engram_hydra.fairness import audit_reads, blind, check_rankings
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.memories.ranking import rank, top_k


class Scripted(Memory):
    """Ranks as ``ranked(query, k)`` says; items of one ``chain`` stand together among equals."""

    def __init__(self, ranked=None, chain=None):
        self.ranked = ranked
        self.chain = chain or {}
        self.asked = []

    def write(self, items):
        pass

    def read(self, queries, k):
        self.asked.append((list(queries), k))
        return [self.ranked(query, k) for query in queries]

    def tie_group(self, item_id):
        return self.chain.get(item_id, item_id)


def items(n):
    return [Item(f"i{p}", p, f"text {p}") for p in range(n)]


def hits(*pairs):
    return [Hit(f"i{position}", score) for position, score in pairs]


def check(ranking, *, n=6, k=3, ties="oldest", full=False, chain=None):
    check_rankings([ranking], Scripted(chain=chain), ["q"], items(n), k, ties, full=full)


@pytest.mark.parametrize(
    "ranking",
    [
        hits((3, 0.9), (0, 0.5), (5, 0.1)),
        hits((1, 0.5), (2, 0.5), (4, 0.5)),
        hits((4, -1.0), (0, -2.0)),  # fewer than k, and negative
        [],
        [Hit("i0", np.float32(0.5)), Hit("i1", 0)],  # any number
    ],
)
def test_fair_rankings_pass(ranking):
    check(ranking)


@pytest.mark.parametrize(
    ("ranking", "rule"),
    [
        (hits((0, 4.0), (1, 3.0), (2, 2.0), (3, 1.0)), "4 items where at most k = 3 are allowed"),
        (hits((0, 2.0), (0, 1.0)), "an item came twice"),
        (hits((0, 2.0), (6, 1.0)), "the id 'i6' was never written"),
        (hits((0, math.nan)), "a score is not finite"),
        (hits((0, math.inf), (1, 1.0)), "a score is not finite"),
        (hits((0, 1.0), (1, -math.inf)), "a score is not finite"),
        (hits((0, 1.0), (1, 2.0)), "a score is higher than the one before it"),
        (hits((0, 3.0), (1, 1.0), (2, 1.5)), "a score is higher than the one before it"),
        (hits((1, 1.0), (0, 1.0)), "items of equal score 1 do not stand oldest first"),
        (hits((5, 2.0), (1, 1.0), (0, 1.0)), "items of equal score 1 do not stand oldest first"),
        ([("i0", 1.0)], "something other than a Hit"),
        (["i0"], "something other than a Hit"),
        (None, "one list of Hit(id, score) for each query"),
        (7, "one list of Hit(id, score) for each query"),
        ([None], "something other than a Hit"),
        ((number for number in range(2)), "something other than a Hit"),
        ([Hit("i0", "0.5")], "something other than a Hit"),
        ([Hit("i0", None)], "something other than a Hit"),
        ([Hit(["i0"], 0.5)], "something other than a Hit"),
        ([Hit(0, 0.5)], "something other than a Hit"),
        ([Hit("i0", 10**400)], "a score is not finite"),
    ],
)
def test_a_broken_rule_is_named(ranking, rule):
    with pytest.raises(MethodError, match=re.escape(rule)):
        check(ranking)


def test_rankings_come_back_as_lists_whatever_they_were():
    given = (iter(ranking) for ranking in (hits((0, 1.0), (1, 0.5)), []))
    checked = check_rankings(given, Scripted(), ["a", "b"], items(3), 2, "oldest", full=False)
    assert checked == [hits((0, 1.0), (1, 0.5)), []]


def test_no_answer_at_all_is_told():
    with pytest.raises(MethodError, match="must return one list of Hit"):
        check_rankings(None, Scripted(), ["a"], items(3), 2, "oldest", full=False)


def test_newest_first_is_the_other_way_round():
    check(hits((4, 1.0), (2, 1.0), (0, 1.0)), ties="newest")
    with pytest.raises(MethodError, match="newest first"):
        check(hits((0, 1.0), (2, 1.0)), ties="newest")


@pytest.mark.parametrize(("n", "k", "enough"), [(6, 3, 3), (2, 3, 2), (3, 3, 3)])
def test_a_built_in_method_returns_min_k_n(n, k, enough):
    ranking = hits(*((p, -float(p)) for p in range(enough)))
    check(ranking, n=n, k=k, full=True)
    check(ranking[:-1], n=n, k=k)
    with pytest.raises(MethodError, match=re.escape(f"min(k, N) = {enough}")):
        check(ranking[:-1], n=n, k=k, full=True)


def test_the_query_is_named_by_its_number():
    fair, unfair = hits((0, 1.0)), hits((0, 1.0), (1, 2.0))
    rankings, queries = [fair, fair, unfair, fair], list("abcd")
    with pytest.raises(MethodError, match="on query 2: "):
        check_rankings(rankings, Scripted(), queries, items(3), 2, "oldest", full=False)


@pytest.mark.parametrize("answered", [0, 1, 3])
def test_each_query_is_answered_once(answered):
    with pytest.raises(MethodError, match=f"answered {answered} of 2 queries"):
        check_rankings([[]] * answered, Scripted(), ["a", "b"], items(3), 2, "oldest", full=False)


CHAIN = {"i1": "chain", "i4": "chain", "i5": "chain"}  # 1, 4 and 5 are one; 0, 2, 3 stand alone


@pytest.mark.parametrize(
    ("ties", "order"), [("oldest", [0, 5, 4, 1, 2, 3]), ("newest", [5, 4, 1, 3, 2, 0])]
)
def test_a_chain_stands_together_newest_first_also_where_k_cuts_it(ties, order):
    for k in range(1, 7):
        check(hits(*((p, 0.5) for p in order[:k])), k=6, ties=ties, chain=CHAIN)
    lone_first = [p for p in order if p in (0, 2, 3)] + [5, 4, 1]
    assert lone_first != order
    with pytest.raises(MethodError, match=f"do not stand {ties} first"):
        check(hits(*((p, 0.5) for p in lone_first)), k=6, ties=ties, chain=CHAIN)


def test_a_chain_of_unequal_scores_is_no_tie():
    check(hits((4, 0.9), (0, 0.5), (1, 0.5), (5, 0.2)), k=6, chain=CHAIN)


RANKINGS = {
    "scores": st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=2, max_size=15),
    "groups": st.lists(st.integers(0, 4), min_size=15, max_size=15),
    "k": st.integers(1, 16),
    "ties": st.sampled_from(["oldest", "newest"]),
}


def ranked(scores, groups, k, ties):
    chain = {f"i{p}": groups[p] for p in range(len(scores))}
    n = len(scores)
    rows, positions = np.zeros(n, np.intp), np.arange(n)
    best = rank(rows, positions, np.array(scores), k, ties, np.array(groups[:n]))
    return [Hit(f"i{p}", scores[p]) for p in best], chain


@given(**RANKINGS)
def test_what_is_ranked_is_fair(scores, groups, k, ties):
    ranking, chain = ranked(scores, groups, k, ties)
    check(ranking, n=len(scores), k=k, ties=ties, chain=chain, full=True)
    alone = [Hit(f"i{p}", scores[p]) for p in top_k(np.array(scores), k, ties)]
    check(alone, n=len(scores), k=k, ties=ties, full=True)


@given(**RANKINGS | {"k": st.integers(2, 16)}, data=st.data())
def test_no_two_items_can_change_places(scores, groups, k, ties, data):
    ranking, chain = ranked(scores, groups, k, ties)
    first = data.draw(st.integers(0, len(ranking) - 2))
    second = data.draw(st.integers(first + 1, len(ranking) - 1))
    ranking[first], ranking[second] = ranking[second], ranking[first]
    with pytest.raises(MethodError):
        check(ranking, n=len(scores), k=k, ties=ties, chain=chain, full=True)


# Reading again


def falling(order):
    return [Hit(f"i{p}", float(-rank)) for rank, p in enumerate(order)]


def scored(memory, queries, k):
    return memory.read(queries, k)


@pytest.mark.parametrize("count", [1, 7, 8, 100])
def test_a_few_queries_are_read_again_alone_and_whole(count):
    memory = Scripted(lambda query, k: falling([2, 0, 1][:k]))
    queries = [f"q{number}" for number in range(count)]
    rankings = scored(memory, queries, 2)
    memory.asked.clear()
    audit_reads(rankings, memory, queries, 3)
    assert all(len(batch) == 1 and k == 3 for batch, k in memory.asked)
    asked = [int(batch[0][1:]) for batch, k in memory.asked]
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] == 0
    assert min(count, 8) <= len(asked) <= 15


def test_a_memory_that_orders_the_best_k_only_is_found_out():
    memory = Scripted(lambda query, k: falling([0, 1, 2] if k == 3 else [1, 0]))
    with pytest.raises(MethodError, match=r"query 0.*prefix-consistent"):
        audit_reads(scored(memory, ["q"], 2), memory, ["q"], 3)


def test_a_memory_that_reads_change_is_found_out():
    class Learning(Scripted):
        def read(self, queries, k):
            self.asked.append(queries)
            return [falling(([0, 1, 2] if len(self.asked) < 3 else [2, 1, 0])[:k])] * len(queries)

    memory = Learning()
    with pytest.raises(MethodError, match="must leave the memory as it is"):
        audit_reads(scored(memory, list("abcd"), 2), memory, list("abcd"), 3)


def test_a_memory_that_looks_at_the_batch_is_found_out():
    class Crowd(Scripted):
        def read(self, queries, k):
            return [falling(([0, 1, 2] if len(queries) > 1 else [1, 0, 2])[:k]) for _ in queries]

    memory = Crowd()
    with pytest.raises(MethodError, match="must not depend on the batch"):
        audit_reads(scored(memory, ["a", "b"], 2), memory, ["a", "b"], 3)


@pytest.mark.parametrize("answers", [0, 2])
def test_a_memory_that_does_not_answer_once_when_asked_alone_is_found_out(answers):
    class Careless(Scripted):
        def read(self, queries, k):
            return [falling([0])] * answers

    with pytest.raises(MethodError, match="query 0, read again alone"):
        audit_reads([falling([0])], Careless(), ["a"], 1)


# Blinding


def test_blind_items_keep_everything_but_their_ids():
    original = [Item("session_answer_1", 0, "a", "2023-01-01"), Item("session_2", 1, "b")]
    blinded = blind(original, "salt")
    assert [(i.position, i.text, i.time) for i in blinded] == [
        (0, "a", "2023-01-01"),
        (1, "b", None),
    ]
    assert not {i.id for i in blinded} & {i.id for i in original}
    renamed = [Item("x", 0, "c"), Item("y", 1, "d")]
    assert [i.id for i in blind(renamed, "salt")] == [i.id for i in blinded]  # no word of the ids


def test_blind_ids_are_distinct_and_in_no_order():
    ids = [item.id for item in blind(items(2000), "salt")]
    assert len(set(ids)) == 2000
    assert ids == [item.id for item in blind(items(2000), "salt")]
    assert not set(ids) & {item.id for item in blind(items(2000), "other")}
    rank = np.argsort(np.argsort(ids))
    assert abs(np.corrcoef(rank, np.arange(2000))[0, 1]) < 0.1
