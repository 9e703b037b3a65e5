"""CSV that a spreadsheet shows as it is: no text in it is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a spreadsheet computes begins with one of these


def to_csv(fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """These fields of the rows under their names; empty where a row has none.

    Numbers have six significant digits; ``report.json`` has them all.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(cell, fields))
    writer.writerows([cell(row.get(field, "")) for field in fields] for row in rows)
    return out.getvalue()


def cell(value: object) -> object:
    """The value, rounded; a text that would be a formula, and is no number, has an apostrophe before it."""
    if isinstance(value, float):
        return float(f"{value:.6g}") + 0.0  # no -0.0
    return f"'{value}" if isinstance(value, str) and _computes(value) else value


def _computes(text: str) -> bool:
    if not text.startswith(FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
