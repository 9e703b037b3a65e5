"""What a memory says of itself, checked: it is shown and measured, but never taken on trust."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from numbers import Real
from statistics import fmean
from typing import TypeVar

from engram_hydra.datasets.dataset import History, Item
from engram_hydra.errors import MethodError
from engram_hydra.memories.memory import Memory

T = TypeVar("T")


@dataclass(frozen=True)
class SelfReport:
    """A memory's look inside.

    ``inert`` is ``None`` of a method that does not say, and ``displacements``, (old, new) positions, of
    one that does not decide what is superseded. ``distributions`` holds a sample under each name, and
    ``table`` a column for each property of its items.
    """

    inert: list[str] | None
    counters: dict[str, float]
    displacements: set[tuple[int, int]] | None
    distributions: dict[str, list[float]]
    table: dict[str, list[object]]


def joined(reports: Sequence[SelfReport], histories: Sequence[History]) -> SelfReport:
    """The reports of memories of one class, each on its own history, as one.

    Counters are means over the memories; samples stand together, as do the rows of the tables, under
    a column ``history``; inert is what was so everywhere. Positions of displacements count on from
    history to history, as ``joined_pairs`` has them.
    """
    if len(reports) == 1:
        return reports[0]
    inert = [report.inert for report in reports if report.inert is not None]
    pairs = [report.displacements for report in reports if report.displacements is not None]
    first = reports[0]
    return SelfReport(
        inert=[part for part in inert[0] if all(part in each for each in inert)] if inert else None,
        counters={
            name: fmean(report.counters[name] for report in reports) for name in first.counters
        },
        displacements=joined_pairs(pairs, histories) if pairs else None,
        distributions={
            name: [value for report in reports for value in report.distributions[name]]
            for name in first.distributions
        },
        table=_stacked(reports, histories),
    )


def joined_pairs(
    pairs: Iterable[Iterable[tuple[int, int]]], histories: Sequence[History]
) -> set[tuple[int, int]]:
    """Pairs of positions, a group for each history, as if all histories were one after the other."""
    starts = accumulate((len(history.items) for history in histories), initial=0)
    return {
        (start + old, start + new)
        for start, group in zip(starts, pairs, strict=False)
        for old, new in group
    }


def _stacked(
    reports: Sequence[SelfReport], histories: Sequence[History]
) -> dict[str, list[object]]:
    if not reports[0].table:
        return {}
    names: list[object] = []
    for report, history in zip(reports, histories, strict=True):
        names += [history.id] * len(next(iter(report.table.values())))
    columns = {
        name: [value for report in reports for value in report.table[name]]
        for name in reports[0].table
    }
    return {"history": names, **columns}


def self_report(memory: Memory, inert: Sequence[str], items: Sequence[Item]) -> SelfReport:
    """Ask ``memory``, which knows ``items`` under these ids; ``inert`` is what it said before the read.

    Raises MethodError where an answer is not what ``Memory`` says: an id that was never written, a
    number that is not finite, a name that fits into no table, or columns of several lengths.
    """
    return SelfReport(
        inert=None if type(memory).inert is Memory.inert else list(inert),
        counters={
            name: _number("counters", name, value)
            for name, value in _named("counters", memory.counters())
        },
        displacements=_displacements(memory, items),
        distributions={
            name: [_number("distributions", name, value) for value in sample]
            for name, sample in _named("distributions", memory.distributions())
        },
        table=_table(memory.table()),
    )


def _displacements(memory: Memory, items: Sequence[Item]) -> set[tuple[int, int]] | None:
    if type(memory).displacements is Memory.displacements:
        return None
    position = {item.id: item.position for item in items}
    found = set()
    for pair in memory.displacements():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise MethodError(
                f"displacements() holds {pair!r}: each must be a pair of an old and a new id."
            )
        unknown = [item_id for item_id in pair if item_id not in position]
        if unknown:
            raise MethodError(
                f"displacements() names the id {unknown[0]!r}, which was never written."
            )
        old, new = (position[item_id] for item_id in pair)
        if old >= new:
            raise MethodError(
                f"displacements() holds {pair!r}, whose old item was not written before the new one:"
                " each must be a pair of an old and a new id."
            )
        found.add((old, new))
    return found


def _table(columns: Mapping[str, Iterable[object]]) -> dict[str, list[object]]:
    table = {name: list(column) for name, column in _named("table", columns)}
    if len({len(column) for column in table.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in table.items())
        raise MethodError(f"table() has columns of several lengths: {lengths}.")
    for name, column in table.items():
        for value in column:
            if isinstance(value, Real):
                _number("table", name, value)
    return table


def _named(call: str, answer: Mapping[str, T]) -> Iterable[tuple[str, T]]:
    """The answer's entries; their names go into metrics and files."""
    for name in answer:
        if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_.-]+", name)):
            raise MethodError(
                f"{call}() has an entry {name!r}: name it with letters, digits and _ . - only."
            )
    return answer.items()


def _number(call: str, name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # a whole number that no float can hold
        number = math.inf
    if not math.isfinite(number):
        raise MethodError(f"{call}() gives {name} the value {value!r}, which is no finite number.")
    return number
