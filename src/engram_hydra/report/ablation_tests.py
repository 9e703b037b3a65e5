"""Each method against its ablations, as tested in its family: beside the row of the ablation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from engram_hydra.report.ablation_table import CORAL, NO_CALC, NO_HEIRS, Row, Table
from engram_hydra.report.comparisons import BETTER, NOT_SHOWN, WORSE, Comparison
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.families import ABLATED
from engram_hydra.report.names import row_name
from engram_hydra.report.part_role import role_note

SHOWN = "shown"
KEY = (
    "Holm: whether the cost is shown, by an interval without 0 and a p below .05 after Holm in the "
    "family of the method against its ablations; identical: no question differs"
)

Tests = Mapping[tuple[str, str], Comparison]  # by metric, and the row of what lacks a part

_ALONE = {"heirs alone": row_name(NO_HEIRS), "calcification alone": row_name(NO_CALC)}


def ablation_tests(found: Iterable[Comparison]) -> dict[tuple[str, str], Comparison]:
    """The tested ones of the families of ablations."""
    return {
        (one.metric, one.against): one
        for one in found
        if one.family.endswith(ABLATED) and isinstance(one.difference, Estimate)
    }


def with_tests(tables: Sequence[Table], tests: Tests) -> list[Table]:
    """The tables with each ablation's outcome in its row, and what a part is beside its gain alone."""
    return [
        Table(table.metric, tuple(_tested(row, table.metric, tests) for row in table.rows))
        for table in tables
    ]


def _tested(row: Row, metric: str, tests: Tests) -> Row:
    if row.label in _ALONE and isinstance(row.contrast, Estimate):
        cost = tests.get((metric, _ALONE[row.label]))
        note = role_note(row.contrast, cost) if cost else ""
        return replace(row, notes=(*row.notes, *([note] if note else [])))
    test = tests.get((metric, row.label))
    if test is None or row.label == row_name(CORAL):
        return row
    return replace(row, outcome=shown(test), p_holm=test.p_holm)


def shown(test: Comparison) -> str:
    """``shown``, ``not shown`` or ``identical``: the outcome without its direction."""
    return SHOWN if test.outcome in (BETTER, WORSE) else test.outcome or NOT_SHOWN
