"""A part of the report besides its tables: what people read, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engram_hydra.report import csv_text
from engram_hydra.report.document import Block
from engram_hydra.report.estimates import Estimate, Spread
from engram_hydra.report.figure_names import figure_names

NUMBERS = ("value", "ci_low", "ci_high", "n", "seeds", "sd", "seed_min", "seed_max")


@dataclass(frozen=True)
class Entry:
    """One number of a section; ``keys`` say which, the same ones for all entries of the section.

    ``value`` is a fraction with its interval or a difference of fractions, a plain number, or the
    word that stands in its place. ``more`` are further columns, the same ones for all entries.
    """

    keys: Mapping[str, str]
    value: Estimate | float | str
    spread: Spread = field(default_factory=Spread)
    notes: Sequence[str] = ()
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """``name`` is that of its CSV file, without the ending; ``entries`` holds at least one."""

    name: str
    blocks: Sequence[Block]
    entries: Sequence[Entry]

    def rows(self) -> list[dict[str, object]]:
        """One row per number, in full precision; None where there is none."""
        return [
            {
                **entry.keys,
                **dict.fromkeys(NUMBERS),
                **_numbers(entry.value),
                "seeds": entry.spread.seeds,
                "sd": entry.spread.sd,
                "seed_min": entry.spread.low,
                "seed_max": entry.spread.high,
                **entry.more,
                "notes": "; ".join(entry.notes),
            }
            for entry in self.entries
        ]

    def to_csv(self, settings: Mapping[str, object]) -> str:
        """The rows as CSV; ``settings`` stand in each line."""
        rows = self.rows()
        return csv_text.to_csv((*settings, *rows[0]), ({**settings, **row} for row in rows))

    def figures(self) -> Iterator[tuple[str, float]]:
        """Each number and the ends of its interval, under a name of its own."""
        keys = [tuple(entry.keys.values()) for entry in self.entries]
        for entry, keyed in zip(self.entries, figure_names(keys), strict=True):
            name = ".".join(filter(None, (self.name, keyed)))
            if isinstance(entry.value, Estimate):
                yield name, entry.value.value
                yield f"{name}_ci_low", entry.value.low
                yield f"{name}_ci_high", entry.value.high
            elif not isinstance(entry.value, str):
                yield name, entry.value


def grouped(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Notes by row as lines to read, each note once, with the rows it belongs to."""
    rows: dict[str, list[str]] = {}
    for row, of_row in notes.items():
        for note in dict.fromkeys(of_row):
            rows.setdefault(note, []).append(row)
    return [f"{'; '.join(names)}: {note}" for note, names in rows.items()]


def _numbers(value: Estimate | float | str) -> dict[str, object]:
    if not isinstance(value, Estimate):
        return {"value": value}
    return {"value": value.value, "ci_low": value.low, "ci_high": value.high, "n": value.n}
