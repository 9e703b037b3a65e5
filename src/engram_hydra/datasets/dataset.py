"""What every data set is, once loaded: items in the order of writing, and questions with their gold."""

from __future__ import annotations

from dataclasses import dataclass


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

    ``answers`` holds the accepted answers (at least one). ``kind`` is ``single_hop``, ``two_hop`` or
    ``multi_hop``. ``current`` is the position of the fact that holds now, and ``stale`` the positions
    of those it superseded; both are known only for single-hop questions whose slot is known, else
    ``None`` and empty.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: str
    current: int | None = None
    stale: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items and questions, with where they came from.

    ``items[i].position == i``. ``superseded_by`` lists the known conflicts as (old, new) positions.
    ``sha256`` (64 hex digits) identifies the content: of the pinned file, or of the generated text.
    ``source`` is the file, hub address or generator it came from, for people.
    """

    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    superseded_by: tuple[tuple[int, int], ...]
    sha256: str
    source: str

    @property
    def texts(self) -> list[str]:
        """All texts that a method may want as vectors: the items', then the questions'."""
        return [item.text for item in self.items] + [question.text for question in self.questions]
