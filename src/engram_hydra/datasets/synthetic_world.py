"""The invented world of the ``synthetic`` data set: its relations, their wording, and its names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")

THE = frozenset({"workshop", "ship", "instrument", "guild"})
"""The kinds whose names are spoken with an article."""

SHARES = {"person": 5, "town": 3, "workshop": 2, "ship": 2, "instrument": 2, "guild": 2}
"""How many entities of each kind one unit of the world has."""


@dataclass(frozen=True, slots=True, eq=False)  # each is one of RELATIONS: compared by identity
class Relation:
    """What a subject of one kind has exactly one of, and how people tell it and ask for it.

    ``tellings`` are whole sentences with ``{s}`` for the subject and ``{o}`` for the object,
    ``questions`` ask for the object of ``{s}``, and ``phrase`` stands for the object without naming
    it, so that it can take the place of ``{s}`` in another relation's question.
    """

    name: str
    subject: str
    object: str
    tellings: tuple[str, ...]
    questions: tuple[str, str]
    phrase: str


RELATIONS = (
    Relation(
        "home", "person", "town",
        ("{s} lives in {o}.", "{s} has a home in {o}.", "{o} is where {s} has settled."),
        ("Where does {s} live?", "In which town does {s} have a home?"),
        "the town where {s} lives",
    ),
    Relation(
        "employer", "person", "workshop",
        ("{s} is employed at {o}.", "{o} pays {s} for honest work.", "{s} works at {o}."),
        ("Where is {s} employed?", "Which workshop pays {s} every week?"),
        "the workshop where {s} works",
    ),
    Relation(
        "teacher", "person", "person",
        ("{s} is training under {o}.", "The teacher of {s} is {o}."),
        ("Who is training {s} in the craft?", "Who is the teacher of {s} these days?"),
        "the teacher of {s}",
    ),
    Relation(
        "membership", "person", "guild",
        ("{o} let {s} join.", "{s} is a member of {o}."),
        ("Which guild did {s} join?", "Of which guild is {s} a member?"),
        "the guild that {s} joined",
    ),
    Relation(
        "berth", "person", "ship",
        ("{s} sails on {o}.", "{o} takes {s} to sea.", "{o} has {s} in its crew."),
        ("On which ship does {s} serve?", "Which vessel takes {s} to sea?"),
        "the ship that takes {s} to sea",
    ),
    Relation(
        "music", "person", "instrument",
        ("{s} can play {o}.", "{s} makes music on {o}.", "{o} is heard when {s} performs."),
        ("Which instrument does {s} play?", "What does {s} make music on?"),
        "the instrument {s} plays",
    ),
    Relation(
        "site", "workshop", "town",
        ("{s} stands in {o}.", "{o} is home to {s}."),
        ("In which town does {s} stand?", "Which town is home to {s} now?"),
        "the town that is home to {s}",
    ),
    Relation(
        "manager", "workshop", "person",
        ("{s} is run by {o}.", "{o} is in charge of {s}."),
        ("Who runs {s} today?", "Who is in charge of {s} now?"),
        "the manager of {s}",
    ),
    Relation(
        "port", "ship", "town",
        ("{s} lies at anchor off {o}.", "{s} has a berth in {o}.", "{o} gives {s} shelter."),
        ("Where does {s} drop anchor?", "In which port does {s} have a berth?"),
        "the home port of {s}",
    ),
    Relation(
        "captain", "ship", "person",
        ("{s} follows the orders of {o}.", "The captain of {s} is {o}.", "{o} commands {s}."),
        ("Whose orders does {s} follow?", "Who is the captain of {s} these days?"),
        "the captain of {s}",
    ),
    Relation(
        "care", "instrument", "workshop",
        ("{s} goes to {o} for repair.", "{o} looks after {s}."),
        ("Where is {s} sent for repair?", "Which workshop looks after {s} between concerts?"),
        "the workshop that looks after {s}",
    ),
    Relation(
        "owner", "instrument", "person",
        ("{s} is the property of {o}.", "The owner of {s} is {o}."),
        ("Who has {s} as a possession?", "Who is the owner of {s} at present?"),
        "the owner of {s}",
    ),
    Relation(
        "hall", "guild", "town",
        ("{s} has its meetings in {o}.", "The seat of {s} is {o}."),
        ("Where does {s} hold its meetings?", "Which town is the seat of {s} now?"),
        "the town where {s} gathers",
    ),
    Relation(
        "leader", "guild", "person",
        ("{o} leads {s}.", "The head of {s} is {o}.", "{s} has elected {o}."),
        ("Who leads {s} at the moment?", "Who is the head of {s} nowadays?"),
        "the head of {s}",
    ),
    Relation(
        "mayor", "town", "person",
        ("{o} governs {s}.", "{s} has {o} in its town hall.", "{s} has {o} as its mayor."),
        ("Who governs {s} at present?", "Who sits in the town hall of {s} now?"),
        "the mayor of {s}",
    ),
    Relation(
        "market", "town", "guild",
        ("{s} leaves its market to {o}.", "Trade in {s} is up to {o}."),
        ("What guild has {s} as its market town?", "Which guild controls trade in {s} these days?"),
        "the guild that controls trade in {s}",
    ),
)  # fmt: skip

# Pronounceable words of two syllables, such as "Talmir" or "Grelkun".
STARTS = ("b br d dr f g gr h k l m n r s st t th tr v w", "a e i o u", "l m n r s")
ENDS = ("b d f g k l m n r t v", "a e i o u", "l n r s nd th")

TOWNS = "Bridge Mere Wick Holt Cross Brook Fell Moor Gate Sands"
TRADES = "Forge Pottery Loom Tannery Foundry Bindery Glassworks Sawmill"
SHIPS = "Amber Bold Crimson Distant Grey Hidden Ivory Lucky Merry Pale Silver Swift"
INSTRUMENTS = "harp lute viol fiddle cello dulcimer zither mandolin"
GUILDS = "Guild Lodge Circle League Fellowship Society Brotherhood Company"


def pick(rng: np.random.Generator, count: int) -> int:
    """A whole number from 0 to ``count`` − 1, from ``rng.random`` alone: it is fast and stable."""
    return int(rng.random() * count)


def shuffled(rng: np.random.Generator, values: Sequence[T]) -> list[T]:
    """``values`` in a random order, again from ``rng.random`` alone."""
    return [values[i] for i in np.argsort(rng.random(len(values)), kind="stable").tolist()]


def spoken(name: str, kind: str) -> str:
    """An entity's name as it stands within a sentence."""
    return f"the {name}" if kind in THE else name


def name_entities(rng: np.random.Generator, counts: dict[str, int]) -> dict[str, list[str]]:
    """Names for ``counts[kind]`` entities of each kind of ``SHARES``, all different, no articles.

    Each is two words, and each invented word serves several entities: given names, families (which
    also name workshops and instruments), places, and the namesakes of ships and of guilds.
    """
    given = _words(rng, 4 + counts["person"] // 2)
    family = _words(rng, 4 + counts["person"] // 3)
    places = _words(rng, 4 + counts["town"] // 2)
    ships = _words(rng, 4 + counts["ship"] // 2)
    guilds = _words(rng, 4 + counts["guild"] // 2)
    words = {
        "person": (given, family),
        "town": (places, TOWNS.split()),
        "workshop": (family, TRADES.split()),
        "ship": (SHIPS.split(), ships),
        "instrument": (family, INSTRUMENTS.split()),
        "guild": (guilds, GUILDS.split()),
    }
    return {
        kind: _names(rng, firsts, seconds, counts[kind])
        for kind, (firsts, seconds) in words.items()
    }


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """``count`` different invented words."""
    parts = [part.split() for part in (*STARTS, *ENDS)]
    words: dict[str, None] = {}  # a dict keeps its order, a set does not
    while len(words) < count:
        words["".join(part[pick(rng, len(part))] for part in parts).capitalize()] = None
    return list(words)


def _names(
    rng: np.random.Generator, firsts: Sequence[str], seconds: Sequence[str], count: int
) -> list[str]:
    """``count`` different names, each one of ``firsts`` and one of ``seconds``."""
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{firsts[pick(rng, len(firsts))]} {seconds[pick(rng, len(seconds))]}"] = None
    return list(names)
