"""The ablation table: the whole, each part off in turn, each part alone, and the anchors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.estimates import NOT_APPLICABLE, Cell, Estimate, Spread, fraction
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.names import WHOLE, row_name

HNSW = "index_hnsw"
TIES_NEWEST = "bm25_ties_newest"
SPLIT_SPACE = "bm25_split_space"
CORAL = Cell("coral")
NO_HEIRS = Cell("coral", "no_heirs")
NO_CALC = Cell("coral", "no_calc")
NO_IMMUNE = Cell("coral", "no_immune")
ORACLE = Cell("oracle_immune")
HEIRS_ONLY = Cell("heirs_only")
DENSE = Cell("dense")
MEM0 = Cell("mem0")


@dataclass(frozen=True)
class Row:
    """One line of a table; values are fractions.

    ``value`` is the method's own, ``contrast`` the paired difference that ``contrast_is`` spells out
    (the cost of a part, its gain alone, or what a ceiling or control has over Coral); either is an
    Estimate, ``not run`` or ``n/a``. ``outcome`` is what the test of a part's cost in its family shows,
    and ``p_holm`` its p there: see ``ablation_tests``.
    """

    label: str
    value: Estimate | str
    spread: Spread
    contrast: Estimate | str
    contrast_is: str
    notes: tuple[str, ...]
    outcome: str = ""
    p_holm: float | None = None


@dataclass(frozen=True)
class Table:
    """All rows of one metric."""

    metric: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _Line:
    """What a row shows: a cell's own value, a difference, or both."""

    label: str
    cell: Cell | None = None
    contrast: tuple[Cell, Cell] | None = None


CORAL_LINES = (
    _Line(row_name(CORAL), CORAL),
    *(
        _Line(row_name(cell), cell, (CORAL, cell))
        for cell in (
            NO_HEIRS,
            NO_CALC,
            NO_IMMUNE,
            *(
                Cell("coral", ablation)
                for ablation in (
                    "no_feeding",
                    "no_resistance",
                    "fixed_threshold",
                    "no_settling_noise",
                )
            ),
        )
    ),
    _Line("heirs alone", None, (NO_CALC, NO_IMMUNE)),
    _Line("calcification alone", None, (NO_HEIRS, NO_IMMUNE)),
)
_ANCHORS = (
    *(
        _Line(row_name(cell), cell)
        for cell in (
            Cell("tide"),
            DENSE,
            Cell("bm25"),
            Cell("bm25", variant=TIES_NEWEST),
            Cell("random"),
        )
    ),
    *(_Line(row_name(cell), cell, (cell, CORAL)) for cell in (ORACLE, HEIRS_ONLY)),
)
_OCCASIONAL = tuple(
    _Line(row_name(cell), cell) for cell in (Cell("bm25", variant=SPLIT_SPACE), MEM0)
)


def ablation_tables(estimator: Estimator) -> list[Table]:
    """A table for each headline metric that any selected run logged.

    Rows stand in a fixed order, what was not run included; then other ablations and the user's own
    methods, and what ran on another index beside Dense on the same. Audit runs and other declared
    variants belong to their own checks, not here.

    Raises DataError if runs that must be paired saw different questions or hold a bad number.
    """
    lines = _lines(estimator)
    return [
        Table(metric, tuple(_row(estimator, line, metric) for line in lines))
        for metric in HEADLINES
        if estimator.logs(metric)
    ]


def row_labels(estimator: Estimator) -> dict[Cell, str]:
    """The names of the cells that have a row of their own, in the order of the rows."""
    return {line.cell: line.label for line in _lines(estimator) if line.cell}


def standing_rows() -> dict[Cell, str]:
    """The names of the cells that have a row in every table, whether they were run or not."""
    return {line.cell: line.label for line in (*CORAL_LINES, *_ANCHORS) if line.cell}


def cells_of_rows() -> dict[str, tuple[Cell, ...]]:
    """The cells behind each standing row, by its name: its own, or the two it is the difference of."""
    lines = (*CORAL_LINES, *_ANCHORS)
    return {line.label: (line.cell,) if line.cell else line.contrast or () for line in lines}


def _lines(estimator: Estimator) -> list[_Line]:
    return [
        *CORAL_LINES,
        *_ANCHORS,
        *_as_run(estimator),
        *_others(estimator),
        *_on_hnsw(estimator),
    ]


def _as_run(estimator: Estimator) -> list[_Line]:
    """Rows that stand in a table only where they were run."""
    return [line for line in _OCCASIONAL if line.cell in estimator.cells]


def _others(estimator: Estimator) -> list[_Line]:
    """Rows for the cells that have no fixed one: each method whole, then its ablations against it."""
    placed = {line.cell for line in (*CORAL_LINES, *_ANCHORS, *_OCCASIONAL)}
    lines = []
    for cell in sorted(set(estimator.cells) - placed, key=_whole_first):
        if cell.variant or cell.audit:
            continue
        whole = Cell(cell.method)
        lines.append(_Line(row_name(cell), cell, None if cell == whole else (whole, cell)))
    methods = dict.fromkeys(line.cell.method for line in lines if line.cell)
    return lines + [line for method in methods for line in _alone(estimator, method)]


def _alone(estimator: Estimator, method: str) -> list[_Line]:
    """What each part of a method of the user's own gains with all its others off, where that was run."""
    off = {
        part
        for cell in estimator.cells
        if cell.method == method and not (cell.variant or cell.audit)
        for part in cell.ablation.split("+")
    } - {WHOLE}
    null = Cell(method, "+".join(sorted(off)))
    if method == CORAL.method or len(off) < 2 or null not in estimator.cells:
        return []
    return [
        _Line(
            f"{method}, {part.removeprefix('no_').replace('_', ' ')} alone",
            None,
            (only, null),
        )
        for part in sorted(off)
        if (only := Cell(method, "+".join(sorted(off - {part})))) in estimator.cells
    ]


def _whole_first(cell: Cell) -> tuple[bool, str, bool, Cell]:
    """Coral's combined ablations, then one method after the other, each whole before its ablations."""
    return cell.method != CORAL.method, cell.method, cell.ablation != WHOLE, cell


def _on_hnsw(estimator: Estimator) -> list[_Line]:
    """Rows for the cells on an approximate index, Coral's beside its Dense twin, each against exact."""
    found = {cell for cell in estimator.cells if cell.variant == HNSW and not cell.audit}
    if not found:
        return []
    coral, dense = CORAL._replace(variant=HNSW), Cell("dense", variant=HNSW)
    others = [
        _Line(f"{row_name(_exact(cell))}, index hnsw", cell, (cell, _exact(cell)))
        for cell in sorted(found - {coral, dense})
    ]
    twins = [
        _Line(row_name(coral), coral, (coral, _exact(coral))),
        _Line(row_name(dense), dense, (dense, _exact(dense))),
    ]
    return [*twins, *others]


def _exact(cell: Cell) -> Cell:
    return cell._replace(variant="")


def _row(estimator: Estimator, line: _Line, metric: str) -> Row:
    value: Estimate | str = NOT_APPLICABLE
    spread = Spread()
    notes: list[str] = []
    if line.cell:
        value, spread, notes = estimator.of(line.cell, metric)
        if line.cell == MEM0:
            notes += _as_dense(estimator, metric)
        if line.cell.variant == HNSW:
            notes += _index_recall(estimator, line.cell)
    if not line.contrast:
        return Row(line.label, value, spread, NOT_APPLICABLE, "", tuple(notes))
    a, b = line.contrast
    contrast, remarks = estimator.contrast({a: 1, b: -1}, metric)
    notes += remarks
    if line.cell is None or line.cell in estimator.cells:
        notes += [
            f"{name} not run"
            for cell, name in zip((a, b), _names(a, b), strict=True)
            if cell != line.cell and cell not in estimator.cells
        ]
    if line.cell == NO_IMMUNE and isinstance(contrast, Estimate):
        notes.append(
            "without it nothing is displaced: this is Dense, and its cost the whole difference to it"
        )
    return Row(line.label, value, spread, contrast, " - ".join(_names(a, b)), tuple(notes))


def _as_dense(estimator: Estimator, metric: str) -> list[str]:
    """That Mem0 gave Dense's value on every question, where it did, as a note."""
    values, _ = estimator.paired([MEM0, DENSE], metric)
    if isinstance(values, str) or (values[0] != values[1]).any():
        return []
    return [
        f"equals Dense on all {values.shape[1]} questions: without a language model to rewrite what is "
        "stored, Mem0 is a search by the same vectors"
    ]


def _index_recall(estimator: Estimator, cell: Cell) -> list[str]:
    """How much of the exact top k an approximate index found, as a note."""
    logged = {name for run in estimator.cells.get(cell, {}).values() for name in run.metrics}
    notes = []
    for name in sorted(logged):
        if re.fullmatch(r"index_recall_at_\d+", name):
            recall, _, _ = estimator.of(cell, name)
            notes.append(f"{name} {fraction(recall)}")
    return notes


def _names(a: Cell, b: Cell) -> tuple[str, str]:
    """What a contrast calls its cells: ablations of one method by the part, else by the method."""
    if a.method == b.method:
        return _part(a), _part(b)
    return _method(a), _method(b)


def _part(cell: Cell) -> str:
    return "full" if cell.ablation == "none" else cell.ablation


def _method(cell: Cell) -> str:
    return ", ".join(part for part in cell if part not in ("", "none"))
