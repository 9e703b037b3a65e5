"""Precision and recall of the immune response, by hand and against the plain definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.metrics.immune import immune_metrics
from engram_hydra.stats import wilson

# Slot A: facts 0, 3, 7 and 9; slot B: 1 and 4.
KNOWN = [(0, 3), (3, 7), (7, 9), (1, 4)]


@pytest.mark.parametrize(
    ("found", "precision", "recall"),
    [
        (KNOWN, (4, 4), (4, 4)),
        ([(0, 3)], (1, 1), (1, 4)),
        ([(0, 9)], (1, 1), (1, 4)),  # a later fact of the slot supersedes it too
        ([(3, 0), (9, 9), (9, 7)], (0, 3), (0, 4)),  # backwards, itself, and what holds now
        ([(0, 4), (1, 9), (2, 5), (5, 6)], (0, 4), (0, 4)),  # other slots, no slot
        ([(0, 3), (0, 7), (2, 3)], (2, 3), (1, 4)),  # one fact displaced twice is found once
    ],
)
def test_by_hand(found, precision, recall):
    metrics = immune_metrics(found, KNOWN)
    for name, (hits, n) in {"immune_precision": precision, "immune_recall": recall}.items():
        assert metrics[name] == hits / n
        assert (metrics[f"{name}_ci_low"], metrics[f"{name}_ci_high"]) == wilson(hits, n)
        assert metrics[f"{name}_n"] == n
    assert len(metrics) == 8


def test_a_share_of_nothing_is_not_there():
    assert immune_metrics([], []) == {}
    assert {name.split("_")[1] for name in immune_metrics([], KNOWN)} == {"recall"}
    assert {name.split("_")[1] for name in immune_metrics([(0, 1)], [])} == {"precision"}


@given(
    slots=st.lists(st.integers(0, 4), max_size=25),
    found=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=30),
)
def test_is_the_plain_definition(slots, found):
    """Fact i belongs to slots[i], and each supersedes all earlier ones of its slot."""
    known, last = [], {}
    for fact, slot in enumerate(slots):
        if slot in last:
            known.append((last[slot], fact))
        last[slot] = fact
    n = len(slots)
    true = {(a, b) for a, b in found if a < b < n and slots[a] == slots[b]}
    metrics = immune_metrics(found, known)
    if found:
        assert metrics["immune_precision"] == len(true) / len(set(found))
    if known:
        assert metrics["immune_recall"] == len({a for a, _ in true}) / len(known)


def test_a_long_chain_takes_no_long_time():
    n = 200_000
    chain = [(i, i + 1) for i in range(n)]
    assert immune_metrics([(0, n)], chain)["immune_precision"] == 1
