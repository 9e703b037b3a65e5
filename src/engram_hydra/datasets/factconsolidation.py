"""FactConsolidation of MemoryAgentBench: numbered facts, some of which later ones contradict.

Hu, Wang and McAuley 2025, arXiv:2507.05257; hub data set ``ai-hyz/MemoryAgentBench``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

from engram_hydra.datasets.conflicts import Conflicts, Statement, parse
from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.datasets.digest import content_sha256
from engram_hydra.errors import ConfigError, DataError
from engram_hydra.metrics.answers import normalize

_T = TypeVar("_T")
_KINDS = {"_sh_": "single_hop", "_mh_": "multi_hop"}


def load(
    *,
    name: str,
    file: Path,
    source: str,
    serial: Literal["keep", "strip"],
) -> Dataset:
    """The row ``source`` (``factconsolidation_sh_6k`` …) as a data set called ``name``.

    ``file`` is the table, as parquet or JSON. An item's text is the fact's whole line, with its
    serial number unless ``serial`` is ``strip``; its id is ``fact_<serial number>``. Questions have
    kind ``single_hop`` or ``multi_hop``; single-hop ones have ``current`` and ``stale`` where their
    slot is known.
    ``sha256`` is of the content, so that it is the same for every form.

    Raises ``DataError`` if the file is malformed, and ``ConfigError`` for another word than ``keep``
    and ``strip``.
    """
    if serial not in ("keep", "strip"):
        raise ConfigError(f"dataset.serial is {serial!r}: choose keep or strip.")
    row = _find_row(file, source)
    facts = _facts(row)
    conflicts = Conflicts(_statements(row, facts))
    items = tuple(
        Item(f"fact_{position}", position, f"{position}. {fact}" if serial == "keep" else fact)
        for position, fact in enumerate(facts)
    )
    questions = _questions(row, conflicts)
    return Dataset(
        name=name,
        histories=(History(name, items, questions, conflicts.superseded_by),),
        sha256=content_sha256(items, questions),
        source=f"{source} in {file}",
    )


class _Row:
    """One row of the table; what is wrong with it is told with its number and the field."""

    def __init__(self, where: str, value: object) -> None:
        self._where = where
        self._value = value

    def wrong(self, field: str, what: str) -> DataError:
        return DataError(
            f"{self._where}, field {field}: {what}; put the pinned version of the file in its place."
        )

    def get(self, field: str, kind: type[_T]) -> _T:
        """The value of ``field`` (dots go into structures), which is a ``kind``."""
        value = self._value
        for key in field.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            raise self.wrong(field, f"it is {_kind(value)} and should be {kind.__name__}")
        return value

    def strings(self, field: str) -> list[str]:
        values = self.get(field, list)
        if not values:
            raise self.wrong(field, "it is empty")
        for number, value in enumerate(values):
            if not isinstance(value, str) or not value:
                raise self.wrong(field, f"entry {number} is {_kind(value)} and should be some text")
        return values


def _kind(value: object) -> str:
    return "missing" if value is None else type(value).__name__


def _find_row(path: Path, source: str) -> _Row:
    rows = [_Row(f"{path}, row {number}", value) for number, value in enumerate(_table(path))]
    sources = [row.get("metadata.source", str) for row in rows]
    if sources.count(source) != 1:
        raise DataError(
            f"{path} has {sources.count(source)} rows with metadata.source {source!r} where one is "
            f"wanted: choose a dataset.source that stands once in {', '.join(sources)}."
        )
    return rows[sources.index(source)]


def _table(path: Path) -> list[object]:
    """The rows as the hub shows them, from either form."""
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            rows = parquet.ParquetFile(path).read().to_pylist()
        else:
            rows = json.loads(path.read_bytes())
    # pyarrow's errors on a damaged file are one or the other, too.
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} can't be parsed ({error}): put the pinned version of the file in its place."
        ) from error
    if not isinstance(rows, list):
        raise DataError(
            f"{path} is no list of rows: put the pinned version of the file in its place."
        )
    return rows


def _facts(row: _Row) -> list[str]:
    """The facts without their serial numbers, which count from 0 after a first line of heading."""
    heading, *lines = row.get("context", str).removesuffix("\n").split("\n")
    if not heading.endswith(":") or not lines:
        raise row.wrong("context", "it should be a heading that ends in a colon, and facts")
    facts = [line.removeprefix(f"{number}. ") for number, line in enumerate(lines)]
    for number, (line, fact) in enumerate(zip(lines, facts, strict=True)):
        if fact == line or not fact:
            raise row.wrong("context", f"line {number + 1} should be '{number}. fact'")
    return facts


def _statements(row: _Row, facts: Sequence[str]) -> list[Statement]:
    statements = []
    for number, fact in enumerate(facts):
        statement = parse(fact)
        if statement is None:
            raise row.wrong("context", f"no known sentence pattern fits fact {number}")
        statements.append(statement)
    return statements


def _questions(row: _Row, conflicts: Conflicts) -> tuple[Question, ...]:
    source = row.get("metadata.source", str)
    hops = next((kind for mark, kind in _KINDS.items() if mark in source), None)
    if hops is None:
        raise row.wrong("metadata.source", f"it should hold one of {', '.join(_KINDS)}")
    texts = row.strings("questions")
    ids = row.strings("metadata.qa_pair_ids")
    answers = _answers(row)
    if len(answers) != len(texts):
        raise row.wrong("answers", f"it has {len(answers)} entries for {len(texts)} questions")
    if len(ids) != len(texts) or len(set(ids)) != len(ids):
        raise row.wrong("metadata.qa_pair_ids", f"it should be {len(texts)} different ids")
    questions = []
    for question_id, text, accepted in zip(ids, texts, answers, strict=True):
        known = conflicts.of_question(text, accepted) if hops == "single_hop" else (None, ())
        questions.append(Question(question_id, text, accepted, hops, *known))
    return tuple(questions)


def _answers(row: _Row) -> list[tuple[str, ...]]:
    answers = []
    for number, accepted in enumerate(row.get("answers", list)):
        # An answer that SubEM normalises to nothing would be contained in every prediction.
        if (
            not isinstance(accepted, list)
            or not accepted
            or not all(isinstance(answer, str) and normalize(answer) for answer in accepted)
        ):
            raise row.wrong("answers", f"entry {number} should be a list of non-empty answers")
        answers.append(tuple(accepted))
    return answers
