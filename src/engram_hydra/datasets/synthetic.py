"""The ``synthetic`` data set: an invented world whose facts change, with its gold by construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.datasets.digest import content_sha256
from engram_hydra.datasets.synthetic_world import (
    RELATIONS,
    SHARES,
    Relation,
    name_entities,
    pick,
    shuffled,
    spoken,
)
from engram_hydra.errors import ConfigError, DataError


class Slot(NamedTuple):
    """What one fact can be about: a subject's name and a relation."""

    subject: str
    relation: Relation


class Fact(NamedTuple):
    """One telling: the slot, the name of the object it states, and the sentence."""

    slot: Slot
    object: str
    text: str


def generate(
    *,
    facts: int = 450,
    conflict_rate: float = 0.35,
    single_hop: int = 100,
    two_hop: int = 100,
    seed: int = 0,
) -> Dataset:
    """A seeded world of people, towns, workshops, ships, instruments and guilds, told in facts.

    ``facts`` (20 to 200,000) sentences are told, of which exactly ``round(conflict_rate * facts)``
    (``conflict_rate`` 0 to 0.9) give a slot, i.e. a subject and a relation, another object than the
    slot's facts before; ``superseded_by`` has one pair per such fact, from the slot's previous one.
    The order of telling is shuffled, and a slot never returns to an object it had.

    ``single_hop`` questions ask for a slot's current object, half of them (rounded up) on slots
    with stale facts; where either sort runs out the other fills up. ``two_hop`` questions ask for
    the current object of the current object; their number on changed slots is left to chance. No
    question is asked twice or contains its answer. The facts do not depend on the numbers of
    questions, nor either sort of question on the number of the other.

    Raises ``ConfigError`` for an argument out of range, ``DataError`` if the world has too few
    slots, or too few paths of two slots, for the questions asked for.
    """
    _check(facts, conflict_rate, single_hop, two_hop, seed)
    world, single, double = (np.random.Generator(np.random.PCG64([seed, i])) for i in range(3))
    told = _tell(world, facts, conflict_rate)
    positions: dict[Slot, list[int]] = {}
    for position, fact in enumerate(told):
        positions.setdefault(fact.slot, []).append(position)

    items = tuple(Item(f"fact_{i}", i, fact.text) for i, fact in enumerate(told))
    questions = (
        *_ask_single_hop(single, told, positions, single_hop),
        *_ask_two_hop(double, told, positions, two_hop),
    )
    pairs = [pair for chain in positions.values() for pair in pairwise(chain)]
    return Dataset(
        name="synthetic",
        histories=(History("synthetic", items, questions, tuple(sorted(pairs))),),
        sha256=content_sha256(items, questions),
        source=(
            f"engram_hydra.datasets.synthetic.generate(facts={facts}, "
            f"conflict_rate={conflict_rate}, single_hop={single_hop}, two_hop={two_hop}, "
            f"seed={seed})"
        ),
    )


def _tell(rng: np.random.Generator, facts: int, conflict_rate: float) -> list[Fact]:
    """The world's ``facts`` in the order of telling: the last one of a slot is its current one."""
    slot_count = facts - round(conflict_rate * facts)
    tellings = [1] * slot_count
    for _ in range(facts - slot_count):
        tellings[pick(rng, slot_count)] += 1

    # The subjects have about three times as many slots as are told. A small world has more names
    # than subjects, so that a slot that changes often finds a new object each time.
    slots_per_unit = sum(SHARES[relation.subject] for relation in RELATIONS)
    units = -(-3 * slot_count // slots_per_unit)
    subjects = {kind: share * units for kind, share in SHARES.items()}
    enough = 2 * max(tellings) + 4
    names = name_entities(rng, {kind: max(count, enough) for kind, count in subjects.items()})
    possible = [
        Slot(name, relation)
        for relation in RELATIONS
        for name in names[relation.subject][: subjects[relation.subject]]
    ]
    slots = shuffled(rng, possible)[:slot_count]

    order = [slot for slot, times in zip(slots, tellings, strict=True) for _ in range(times)]
    had: dict[Slot, list[str]] = {slot: [slot.subject] for slot in slots}
    told = []
    for slot in shuffled(rng, order):
        relation = slot.relation
        choices = names[relation.object]
        name = choices[pick(rng, len(choices))]
        while _mixed_up(name, had[slot]):
            name = choices[pick(rng, len(choices))]
        had[slot].append(name)
        template = relation.tellings[pick(rng, len(relation.tellings))]
        text = template.format(
            s=spoken(slot.subject, relation.subject), o=spoken(name, relation.object)
        )
        told.append(Fact(slot, name, text[0].upper() + text[1:]))
    return told


def _ask_single_hop(
    rng: np.random.Generator, told: Sequence[Fact], positions: dict[Slot, list[int]], count: int
) -> list[Question]:
    if count > len(positions):
        raise DataError(
            f"dataset.single_hop={count} is more than the {len(positions)} single-hop questions that "
            f"dataset.facts={len(told)} allows: lower dataset.single_hop or dataset.conflict_rate, "
            "or raise dataset.facts."
        )
    slots = shuffled(rng, list(positions))
    changed = [slot for slot in slots if len(positions[slot]) > 1]
    steady = [slot for slot in slots if len(positions[slot]) == 1]
    half = max((count + 1) // 2, count - len(steady))
    chosen = changed[:half]
    chosen += steady[: count - len(chosen)]

    questions = []
    for number, slot in enumerate(shuffled(rng, chosen)):
        *stale, current = positions[slot]
        text = _question(rng, slot.relation, spoken(slot.subject, slot.relation.subject))
        answer = told[current].object
        questions.append(
            Question(
                f"single_hop_{number:03}", text, (answer,), "single_hop", current, tuple(stale)
            )
        )
    return questions


def _ask_two_hop(
    rng: np.random.Generator, told: Sequence[Fact], positions: dict[Slot, list[int]], count: int
) -> list[Question]:
    relations_of = {kind: [r for r in RELATIONS if r.subject == kind] for kind in SHARES}
    paths = []
    for slot, chain in positions.items():
        middle = told[chain[-1]].object
        for relation in relations_of[slot.relation.object]:
            end = positions.get(Slot(middle, relation))
            if end and not _mixed_up(told[end[-1]].object, [slot.subject]):
                paths.append((slot, relation, told[end[-1]].object))
    if count > len(paths):
        raise DataError(
            f"dataset.two_hop={count} is more than the {len(paths)} two-hop questions that "
            f"dataset.facts={len(told)} allows: lower dataset.two_hop or dataset.conflict_rate, "
            "or raise dataset.facts."
        )
    questions = []
    for number, (slot, relation, answer) in enumerate(shuffled(rng, paths)[:count]):
        middle = slot.relation.phrase.format(s=spoken(slot.subject, slot.relation.subject))
        text = _question(rng, relation, middle)
        questions.append(Question(f"two_hop_{number:03}", text, (answer,), "two_hop"))
    return questions


def _question(rng: np.random.Generator, relation: Relation, subject: str) -> str:
    return relation.questions[pick(rng, len(relation.questions))].format(s=subject)


def _mixed_up(name: str, others: Iterable[str]) -> bool:
    """Whether substring matching, case ignored, would take ``name`` and another for each other."""
    name = name.lower()
    return any(name in other.lower() or other.lower() in name for other in others)


def _check(facts: int, conflict_rate: float, single_hop: int, two_hop: int, seed: int) -> None:
    if not 20 <= facts <= 200_000:
        raise ConfigError(
            f"dataset.facts={facts} is out of range: give a number from 20 to 200000."
        )
    if not 0 <= conflict_rate <= 0.9:
        raise ConfigError(
            f"dataset.conflict_rate={conflict_rate} is out of range: give a number from 0 to 0.9."
        )
    for option, value in (("single_hop", single_hop), ("two_hop", two_hop), ("seed", seed)):
        if value < 0:
            raise ConfigError(f"dataset.{option}={value} is negative: give 0 or more.")
