"""What every data set is, once loaded: histories to remember, and questions about each with their gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to remember.

    ``id`` is the data set's own name for it; a memory never sees that one, only an opaque one that
    the runner puts in its place. ``position`` counts from 0 in the order of writing. ``time`` is an
    ISO 8601 date and time where the data set has one.
    """

    id: str
    position: int
    text: str
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold, which never leaves the scorer.

    ``answers`` holds the accepted answers (at least one). ``kind`` is what sort of question it is.
    ``gold`` are the positions of the items to retrieve, ascending; where the data set names none,
    an item is relevant if it contains an answer. ``current`` is the position of the fact that holds
    now, and ``stale`` the positions of those it superseded; both are known only for single-hop
    questions whose slot is known, else ``None`` and empty.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: str
    current: int | None = None
    stale: tuple[int, ...] = ()
    gold: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """What one memory is to remember, and what it is then asked.

    ``items[i].position == i``. ``superseded_by`` lists the known conflicts as (old, new) positions.
    ``documents[i]`` is the id of the item of position ``i`` in metrics that compare ids, which may
    stand twice; empty where metrics compare items. ``number`` tells a history from the others of its
    set: a memory's own random stream starts from it and the run's seed. ``None``: from the seed alone.
    """

    id: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    superseded_by: tuple[tuple[int, int], ...] = ()
    documents: tuple[str, ...] = ()
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Histories, each for a memory of its own, with where they came from.

    ``sha256`` (64 hex digits) identifies the content. ``source`` is the file, hub address or generator
    it came from, for people. ``excluded`` gives the ids of questions that are not asked, each with
    the reason.
    """

    name: str
    histories: tuple[History, ...]
    sha256: str
    source: str
    excluded: Mapping[str, str] = field(default_factory=dict)

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of all histories, whose positions count within each."""
        return tuple(item for history in self.histories for item in history.items)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all histories, in the order in which they are asked and scored."""
        return tuple(question for history in self.histories for question in history.questions)

    @property
    def texts(self) -> list[str]:
        """All texts that a method may want as vectors: the items', then the questions'."""
        return [item.text for item in self.items] + [question.text for question in self.questions]
