"""One entry of a LongMemEval file, checked: a question and the sessions of its haystack."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from engram_hydra.errors import DataError
from engram_hydra.metrics.answers import normalize
from engram_hydra.metrics.summary import kind_fault

_T = TypeVar("_T")
_DATE = re.compile(
    r"([0-9]{4})/([0-9]{2})/([0-9]{2}) \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\) ([0-9]{2}):([0-9]{2})"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said; ``marked`` if it holds what the question asks for (``has_answer``)."""

    role: str
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: its id, ISO 8601 start (to the minute) and turns, of which there may be none."""

    id: str
    time: str
    turns: tuple[Turn, ...]

    @property
    def marked_by_user(self) -> bool:
        """Whether a turn of the user's is marked, which is what makes a session gold."""
        return any(turn.marked for turn in self.turns if turn.role == "user")


@dataclass(frozen=True, slots=True)
class Entry:
    """``evidence`` are the ids of the sessions the question was made from; others are filler.

    ``sessions`` are in the haystack's own order, where an id may stand twice.
    """

    id: str
    kind: str
    question: str
    answer: str
    sessions: tuple[Session, ...]
    evidence: frozenset[str]


class RawEntry:
    """An entry as parsed JSON. What is wrong with it is told with its question id, or else its place.

    ``value`` began at byte ``offset`` of ``path``. Every string that comes out can be encoded: a lone
    surrogate, which no UTF-8 can hold, becomes U+FFFD. Raises DataError if ``value`` has no question
    id, or one with white space.
    """

    def __init__(self, path: Path, offset: int, value: object) -> None:
        self._where = f"{path}, entry at byte {offset}"
        if not isinstance(value, dict):
            raise self._wrong("question_id", f"the entry is {_kind(value)} and no object")
        self._fields = value
        self.id = self._name("question_id", self._words("question_id"))
        self._where = f"{path}, question {self.id}"

    def checked(self) -> Entry:
        """The entry, with every field there and of its type.

        Raises DataError otherwise, at lists of different lengths, a date that is none, a session's id
        with white space, a role other than user and assistant, and a type of question that can't be in
        a metric's name.
        """
        self._time("question_date", self._get("question_date", str))
        return Entry(
            id=self.id,
            kind=self._kind(),
            question=self._words("question"),
            answer=self._answer(),
            sessions=self._sessions(),
            evidence=frozenset(self._names("answer_session_ids")),
        )

    def _kind(self) -> str:
        kind = self._words("question_type")
        if fault := kind_fault(kind):
            raise self._wrong("question_type", fault)
        return kind

    def _answer(self) -> str:
        answer = self._fields.get("answer")
        # Some answers are whole numbers, of which JSON's true and false are none.
        text = str(answer) if type(answer) is int else self._get("answer", str)
        if not normalize(text):  # SubEM would find it in every prediction
            raise self._wrong("answer", "it has no word")
        return text

    def _sessions(self) -> tuple[Session, ...]:
        ids = self._names("haystack_session_ids")
        dates = self._strings("haystack_dates")
        conversations = self._get("haystack_sessions", list)
        if not len(ids) == len(dates) == len(conversations):
            raise self._wrong(
                "haystack_sessions",
                f"it has {len(conversations)} entries for {len(ids)} ids and {len(dates)} dates",
            )
        return tuple(
            Session(ids[i], self._time(f"haystack_dates[{i}]", dates[i]), self._turns(i, turns))
            for i, turns in enumerate(conversations)
        )

    def _turns(self, session: int, turns: object) -> tuple[Turn, ...]:
        field = f"haystack_sessions[{session}]"
        if not isinstance(turns, list):
            raise self._wrong(field, f"it is {_kind(turns)} and should be list")
        return tuple(self._turn(f"{field}[{i}]", turn) for i, turn in enumerate(turns))

    def _turn(self, field: str, turn: object) -> Turn:
        if not isinstance(turn, dict):
            raise self._wrong(field, f"it is {_kind(turn)} and should be dict")
        for key in ("role", "content"):
            if not isinstance(turn.get(key), str):
                raise self._wrong(
                    f"{field}.{key}", f"it is {_kind(turn.get(key))} and should be str"
                )
        if turn["role"] not in ("user", "assistant"):  # neither side's text would be read
            raise self._wrong(f"{field}.role", f"it is {turn['role']!r}, not user or assistant")
        marked = turn.get("has_answer")  # filler has no mark
        if marked not in (None, True, False):
            raise self._wrong(f"{field}.has_answer", f"it is {marked!r}, not true or false")
        return Turn(turn["role"], _encodable(turn["content"]), bool(marked))

    def _time(self, field: str, text: str) -> str:
        numbers = _DATE.fullmatch(text)
        if numbers:
            with suppress(ValueError):  # such as a 30th of February
                return datetime.fromisoformat(
                    "{}-{}-{}T{}:{}".format(*numbers.groups())
                ).isoformat()
        raise self._wrong(field, f"{text!r} is no date like '2026/01/31 (Sat) 23:59'")

    def _get(self, field: str, kind: type[_T]) -> _T:
        value = self._fields.get(field)
        if not isinstance(value, kind):
            raise self._wrong(field, f"it is {_kind(value)} and should be {kind.__name__}")
        return value

    def _words(self, field: str) -> str:
        text = self._get(field, str)
        if not text.strip():
            raise self._wrong(field, "it is empty")
        return _encodable(text)

    def _strings(self, field: str) -> list[str]:
        values = self._get(field, list)
        for i, value in enumerate(values):
            if not isinstance(value, str) or not value:
                raise self._wrong(f"{field}[{i}]", f"it is {_kind(value)} and should be some text")
        return [_encodable(value) for value in values]

    def _names(self, field: str) -> list[str]:
        return [self._name(f"{field}[{i}]", id) for i, id in enumerate(self._strings(field))]

    def _name(self, field: str, id: str) -> str:
        if id.split() != [id]:  # line separators are white space too
            raise self._wrong(
                field, f"{id!r} holds white space, which parts the columns of TREC files"
            )
        return id

    def _wrong(self, field: str, what: str) -> DataError:
        return DataError(f"{self._where}, field {field}: {what}; correct it, or restore the file.")


def _kind(value: object) -> str:
    return "missing" if value is None else type(value).__name__


def _encodable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
