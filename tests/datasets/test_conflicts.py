"""Slots read from sentences, and the conflicts among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.datasets.conflicts import RELATIONS, Conflicts, Statement, parse

# Invented names of capitalised syllables: no pattern's words can occur in one.
SYLLABLES = st.sampled_from(["Ba", "Dro", "Fe", "Gli", "Ku", "Mo", "Née", "Ött", "Sha", "Ty"])
WORDS = st.lists(SYLLABLES, min_size=1, max_size=3).map(lambda parts: "".join(parts).capitalize())
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
STATEMENTS = st.builds(Statement, NAMES, st.sampled_from(list(RELATIONS)), NAMES)


def test_there_are_37_relations_and_two_catch_alls_at_the_end() -> None:
    assert len(RELATIONS) == 39
    assert list(RELATIONS.values())[37:] == ["The {} is {}.", "{} is {}."]


@given(STATEMENTS)
def test_a_sentence_gives_back_what_it_was_made_of(statement: Statement) -> None:
    sentence = RELATIONS[statement.relation].format(statement.subject, statement.object)
    assert parse(sentence) == statement


@pytest.mark.parametrize(
    ("fact", "statement"),
    [
        ("The Harbour Master of Omra is Ilve Tarn.", ("Harbour Master of Omra", "the_is")),
        ("The Governor of Omra is Ilve Tarn.", ("Omra", "governor")),
        ("The director of Salt and Rope is Ilve Tarn.", ("Salt and Rope", "director")),
        ("Keeper of the lamp is Ilve Tarn.", ("Keeper of the lamp", "is")),
        ("Omra is Ilve is Tarn.", ("Omra", "is")),
        ("Ilve's child's child is Orm.", ("Ilve's child", "child")),
    ],
)
def test_specific_patterns_come_before_catch_alls(fact: str, statement: tuple[str, str]) -> None:
    parsed = parse(fact)
    assert parsed is not None
    assert (parsed.subject, parsed.relation) == statement


@pytest.mark.parametrize(
    "fact",
    ["", "Ilve sells rope.", "Ilve is Orm", "The capital of  is .", " is Orm.", "3. Ilve sang."],
)
def test_what_no_pattern_fits(fact: str) -> None:
    assert parse(fact) is None


@given(st.lists(STATEMENTS, max_size=30, unique_by=lambda s: (s.subject, s.relation)))
def test_slots_stated_once_have_no_conflict(statements: list[Statement]) -> None:
    conflicts = Conflicts(statements)
    assert conflicts.superseded_by == ()
    assert len(conflicts.slots) == len(statements)


FEW = st.builds(
    Statement,
    st.sampled_from(["Ilve Tarn", "Ilve", "Omra"]),
    st.sampled_from(["spouse", "capital"]),
    st.sampled_from(["Orm", "Bel", "The Orm"]),
)


@given(st.lists(FEW, max_size=12))
def test_pairs_join_neighbours_of_a_slot(statements: list[Statement]) -> None:
    expected = []
    for old, a in enumerate(statements):
        same = [n for n, b in enumerate(statements) if n > old and b[:2] == a[:2]]
        if same and statements[same[0]].object != a.object:
            expected.append((old, same[0]))
    assert list(Conflicts(statements).superseded_by) == expected


def conflicts(*facts: tuple[str, str, str]) -> Conflicts:
    return Conflicts([Statement(*fact) for fact in facts])


def test_a_question_finds_its_current_and_stale_facts() -> None:
    known = conflicts(
        ("Omra", "capital", "Bel"),
        ("Ilve", "spouse", "Orm"),
        ("Omra", "capital", "The Tarn!"),
        ("Omra", "head_of_state", "Ilve"),
    )
    assert known.of_question("What is the capital of OMRA?", ["tarn"]) == (2, (0,))
    assert known.of_question("Who heads omra?", ["Ilve"]) == (3, ())
    assert known.of_question("Who is married to Ilve?", ["x", "Orm"]) == (1, ())


def test_a_label_that_is_not_the_newest_object_is_unknown() -> None:
    known = conflicts(("Omra", "capital", "Bel"), ("Omra", "capital", "Tarn"))
    assert known.of_question("What is the capital of Omra?", ["Bel"]) == (None, ())
    assert known.of_question("What is the capital of Ilve?", ["Tarn"]) == (None, ())


def test_the_longest_subject_wins() -> None:
    known = conflicts(
        ("North Omra", "capital", "Bel"),
        ("North Omra", "capital", "Tarn"),
        ("Omra", "capital", "Tarn"),
    )
    assert known.of_question("What is the capital of North Omra?", ["Tarn"]) == (1, (0,))


def test_a_statement_repeated_is_not_stale() -> None:
    known = conflicts(
        ("Omra", "capital", "Tarn"), ("Omra", "capital", "Bel"), ("Omra", "capital", "Tarn")
    )
    assert known.superseded_by == ((0, 1), (1, 2))
    assert known.of_question("What is the capital of Omra?", ["Tarn"]) == (2, (1,))
