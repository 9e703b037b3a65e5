"""The ``synthetic`` world as vectors alone: up to two million facts, for tests of scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.embedders.encoder import on_grid
from engram_hydra.errors import ConfigError

DIM = 384
AT_ONCE = 2_500

# Six kinds of subject: how many there are of each in one unit of the world, and what each has.
SHARES = np.array([8, 5, 3, 2, 1, 1])
RELATIONS = np.array([8, 6, 4, 3, 2, 1])
KIND_OF = np.repeat(np.arange(len(SHARES)), RELATIONS)
OBJECT_KIND = (KIND_OF + 1 + np.arange(len(KIND_OF)) % (len(SHARES) - 1)) % len(SHARES)

# A vector is a weighted sum of directions: what all sentences share, the kind of subject, the
# relation and its wording, the subject, and the object, which a question does not name.
FACT = {
    "all": 0.44,
    "kind": 0.1,
    "relation": 0.31,
    "wording": 0.34,
    "subject": 0.54,
    "object": 0.52,
}
QUESTION = {"all": 0.46, "kind": 0.1, "relation": 0.42, "wording": 0.42, "subject": 0.62}
WORDINGS = 3  # of each relation, told or asked

# A direction is the sum of three rows of a codebook, and so nobody keeps one for each entity. Their
# variance falls off like j ** -DECAY: 384 equal components would spread cosines too little.
CODES = 4096
DECAY = 0.75
ALL, KIND, RELATION, TOLD, ASKED, ENTITY = range(6)  # what a direction is of


class VectorWorld:
    """A seeded world of facts of which ``conflict_rate`` supersede another, embedded without texts.

    As in ``synthetic.generate``: exactly ``round(conflict_rate * facts)`` facts give a slot, i.e. a
    subject and a relation, another object than all the slot's facts before; the order of telling is
    shuffled; subjects have about three times as many slots as are told. The 24 relations of six
    kinds of subject hold between 7% and 1% of the facts each.

    The weights make cosines (mean ± sd) like those that all-MiniLM-L6-v2 gives the sentences of
    ``synthetic``, measured on 2,000 facts and 100 questions (there of seed 0, here of seeds 0 to 5):

    ================================  =============  =============
    a fact and another                MiniLM         here
    ================================  =============  =============
    of its slot                       0.649 ± 0.104  0.646 ± 0.076
    of its subject, another relation  0.513 ± 0.083  0.510 ± 0.070
    of its relation                   0.347 ± 0.114  0.352 ± 0.108
    of its kind, another relation     0.217 ± 0.083  0.212 ± 0.095
    of another kind                   0.209 ± 0.089  0.202 ± 0.096
    of a slot, and a question on it   0.694 ± 0.095  0.699 ± 0.048
    ================================  =============  =============

    The same arguments give the same vectors, in blocks of any size; the world itself holds three
    small integers a fact.

    Attributes:
        facts: how many.
        subject, relation, object: int32, shape (facts,), by position. Subjects and objects are
            numbered as entities of one world; a relation's objects are of another kind than its
            subjects.
        superseded_by: intp, shape (pairs, 2): (old, new) positions by old, each superseded fact with
            the next one of its slot.
    """

    def __init__(self, *, facts: int, conflict_rate: float = 0.35, seed: int = 0) -> None:
        """``facts`` 20 to 2,000,000, ``conflict_rate`` 0 to 0.9, ``seed`` 0 to 999; else ConfigError."""
        _check(facts, conflict_rate, seed)
        self.facts = facts
        self.seed = seed
        world, codes = (np.random.Generator(np.random.PCG64([seed, i])) for i in range(2))
        self._tell(world, facts - round(conflict_rate * facts))
        book = codes.standard_normal((CODES, DIM)) * np.arange(1, DIM + 1) ** (-DECAY / 2)
        self._book = book.astype(np.float32)
        self._told, self._asked = self._sentences(FACT, TOLD), self._sentences(QUESTION, ASKED)

    def _tell(self, rng: np.random.Generator, slots: int) -> None:
        """The integers of the world, from ``rng.random`` alone: it is stable."""
        tellings = np.bincount(_picks(rng, self.facts - slots, slots), minlength=slots) + 1
        # Few subjects may have many objects: a slot that changes often needs a new one each time.
        subjects = SHARES * -(-3 * slots // int(SHARES @ RELATIONS))
        entities = np.maximum(subjects, tellings.max())
        first = entities.cumsum() - entities  # of each kind
        possible = np.repeat(subjects, RELATIONS)  # slots of each relation
        chosen = _order(rng, int(possible.sum()))[:slots]
        relation = possible.cumsum().searchsorted(chosen, side="right")
        subject = first[KIND_OF[relation]] + chosen - (possible.cumsum() - possible)[relation]
        object_kind = OBJECT_KIND[relation]
        start = _picks(rng, slots, entities[object_kind])

        slot = np.repeat(np.arange(slots), tellings)[_order(rng, self.facts)]
        by_slot = np.argsort(slot, kind="stable")
        turn = np.empty_like(slot)  # 0 for the first fact of a slot
        turn[by_slot] = np.arange(self.facts) - np.repeat(tellings.cumsum() - tellings, tellings)
        kind = object_kind[slot]
        stated = first[kind] + (start[slot] + turn) % entities[kind]

        self.subject = subject[slot].astype(np.int32)
        self.relation = relation[slot].astype(np.int32)
        self.object = stated.astype(np.int32)
        pairs = np.column_stack([by_slot[:-1], by_slot[1:]])[np.diff(slot[by_slot]) == 0]
        self.superseded_by: NDArray[np.intp] = pairs[np.argsort(pairs[:, 0])]

    def vectors(self, start: int, stop: int) -> NDArray[np.float32]:
        """Of the facts from ``start`` to ``stop`` - 1: shape (stop - start, 384), on the grid.

        Raises ConfigError where there are no such facts.
        """
        return self._embed(np.arange(start, stop), asked=False)

    def queries(self, count: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Questions on ``count`` different slots: vectors (count, 384), and their current facts.

        The positions have shape (count,). Raises ConfigError if there are fewer slots.
        """
        current = np.delete(np.arange(self.facts), self.superseded_by[:, 0])
        if not 0 <= count <= len(current):
            raise ConfigError(f"count={count} is out of range: give 0 to {len(current)} questions.")
        rng = np.random.Generator(np.random.PCG64([self.seed, 2, seed]))
        current = current[_order(rng, len(current))[:count]]
        return self._embed(current, asked=True), current

    def items(self, start: int, stop: int) -> list[Item]:
        """The same facts as items, whose text is their position, as ``embed`` takes it."""
        return [Item(f"fact_{i}", i, str(i)) for i in range(start, stop)]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors for texts: "17" is the fact at position 17, "?17" a question on its slot.

        float32 of shape (n, 384). Raises ConfigError at a text or position that is not of this world.
        """
        try:
            positions = np.array([int(text.removeprefix("?")) for text in texts], dtype=np.intp)
        except ValueError as error:
            raise ConfigError(
                f"a vector world has no such text ({error}): give positions as '17' or '?17'."
            ) from error
        asked = np.array([text.startswith("?") for text in texts], dtype=bool)
        vectors = np.empty((len(texts), DIM), np.float32)
        for which in (False, True):
            vectors[asked == which] = self._embed(positions[asked == which], asked=which)
        return vectors

    def _embed(self, positions: NDArray[np.intp], *, asked: bool) -> NDArray[np.float32]:
        if len(positions) and not 0 <= positions.min() <= positions.max() < self.facts:
            raise ConfigError(
                f"positions {positions.min()} to {positions.max()} are not all of this world:"
                f" its facts are 0 to {self.facts - 1}."
            )
        weights, sentences = (QUESTION, self._asked) if asked else (FACT, self._told)
        vectors = np.empty((len(positions), DIM), np.float32)
        for start in range(0, len(positions), AT_ONCE):
            part = positions[start : start + AT_ONCE]
            wording = (_hash(part) % np.uint64(WORDINGS)).astype(np.intp)
            rows = sentences[self.relation[part], wording]
            rows += weights["subject"] * self._directions(ENTITY, self.subject[part])
            if not asked:
                rows += weights["object"] * self._directions(ENTITY, self.object[part])
            vectors[start : start + AT_ONCE] = on_grid(rows)
        return vectors

    def _sentences(self, weights: dict[str, float], wordings: int) -> NDArray[np.float32]:
        """Each relation's sentences without the entities, shape (24, WORDINGS, 384)."""
        relations = np.arange(len(KIND_OF))
        shared = (
            weights["all"] * self._directions(ALL, np.zeros(1))
            + weights["kind"] * self._directions(KIND, KIND_OF)
            + weights["relation"] * self._directions(RELATION, relations)
        )
        own = self._directions(wordings, np.arange(len(KIND_OF) * WORDINGS))
        own = weights["wording"] * own.reshape(-1, WORDINGS, DIM)
        sentences: NDArray[np.float32] = shared[:, None] + own
        return sentences

    def _directions(self, of: int, numbers: NDArray[Any]) -> NDArray[np.float32]:
        """A direction of length 1 for each number, shape (n, 384); each ``of`` has its own."""
        codes = _hash(numbers.astype(np.int64) * 6 + of)
        a, b, c = (codes >> np.uint64(shift) & np.uint64(CODES - 1) for shift in (0, 16, 32))
        rows: NDArray[np.float32] = self._book[a] + self._book[b] + self._book[c]
        rows /= np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
        return rows


def _picks(rng: np.random.Generator, count: int, below: int | NDArray[np.intp]) -> NDArray[np.intp]:
    """Whole numbers from 0 to ``below`` - 1, shape (count,)."""
    return (rng.random(count) * below).astype(np.intp)


def _order(rng: np.random.Generator, count: int) -> NDArray[np.intp]:
    """The numbers from 0 to ``count`` - 1 in a random order."""
    return np.argsort(rng.random(count), kind="stable")


def _hash(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """64 well mixed bits for each number: SplitMix64 (Steele et al. 2014, doi:10.1145/2660193.2660195)."""
    mixed: NDArray[np.uint64] = numbers.astype(np.uint64) + np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _check(facts: int, conflict_rate: float, seed: int) -> None:
    for name, value, low, high in (
        ("facts", facts, 20, 2_000_000),
        ("conflict_rate", conflict_rate, 0, 0.9),
        ("seed", seed, 0, 999),
    ):
        if not low <= value <= high:
            raise ConfigError(
                f"{name}={value} of a vector world is out of range: give {low} to {high}."
            )
