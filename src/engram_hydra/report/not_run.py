"""What a table lacks, in words: rows without runs, or all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engram_hydra.report.ablation_table import CORAL, CORAL_LINES, Row, Table, cells_of_rows
from engram_hydra.report.cells import OTHER_K, Selection
from engram_hydra.report.estimates import NOT_APPLICABLE, NOT_RUN
from engram_hydra.report.why_missing import rows_missing

if TYPE_CHECKING:
    from engram_hydra.report.chapter import Chapter

ALL_OF_CORAL = "Coral and all its parts"


def is_missing(row: Row) -> bool:
    """Whether the row has neither a value nor, where it is a difference, that."""
    return NOT_RUN in (row.value, row.contrast if row.value == NOT_APPLICABLE else None)


def missing_rows(table: Table) -> list[str]:
    """The rows without runs; all of Coral's in three words where there is no run of it at all."""
    missing = [row.label for row in table.rows if is_missing(row)]
    hidden = unrun_coral([table])
    said = [ALL_OF_CORAL] if hidden else []
    return said + [label for label in missing if label not in hidden]


def unrun_coral(tables: Sequence[Table]) -> set[str]:
    """The names of Coral's rows where none of them has a run: one after the other they say nothing."""
    of_coral = {line.label for line in CORAL_LINES}
    there = {row.label for table in tables for row in table.rows if not is_missing(row)}
    return set() if of_coral & there else of_coral


def not_run(table: Table, selection: Selection) -> list[str]:
    """Sentences that name the rows without runs: those not run, and those whose runs are ignored.

    Nothing where every row has some.
    """
    cells = {**cells_of_rows(), ALL_OF_CORAL: (CORAL,)}
    missing = {label: cells.get(label, ()) for label in missing_rows(table)}
    return [rows_missing(missing, selection)] if missing else []


def nothing_fits(chapter: Chapter) -> str:
    """That no run fits the selection, and the command for those at another k, if there are any."""
    said = ["No complete run fits this selection."]
    found = Counter(
        int(tag)
        for run, why in chapter.selection.left_out
        if why == OTHER_K and re.fullmatch("[0-9]{1,9}", tag := run.tags.get("engram.k", ""))
    )
    for other, count in sorted(found.items()):
        runs = "1 run" if count == 1 else f"{count} runs"
        said.append(
            f"k={other} has {runs}:"
            f" python -m engram_hydra.aggregate datasets={chapter.dataset} k={other}."
        )
    return " ".join(said)
