"""The ablation table: the whole, each part off in turn, each part alone, and the anchors."""

from __future__ import annotations

from dataclasses import dataclass

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.cells import Selection
from engram_hydra.report.estimates import NOT_APPLICABLE, Cell, Estimate, Estimator, Spread

CORAL = Cell("coral")
NO_HEIRS = Cell("coral", "no_heirs")
NO_CALC = Cell("coral", "no_calc")
NO_IMMUNE = Cell("coral", "no_immune")


@dataclass(frozen=True)
class Row:
    """One line of a table; values are fractions.

    ``value`` is the method's own, ``contrast`` the paired difference that ``contrast_is`` spells out
    (the cost of a part, or its gain alone); either is an Estimate, ``not run`` or ``n/a``.
    """

    label: str
    value: Estimate | str
    spread: Spread
    contrast: Estimate | str
    contrast_is: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """All rows of one metric."""

    metric: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _Line:
    """What a row shows: a cell's own value, a difference, or both; and of which part it is the gain."""

    label: str
    cell: Cell | None = None
    contrast: tuple[Cell, Cell] | None = None
    gain_of: Cell | None = None


_CORAL_LINES = (
    _Line("Coral (as shipped)", CORAL),
    _Line("no heirs", NO_HEIRS, (CORAL, NO_HEIRS)),
    _Line("no calcification", NO_CALC, (CORAL, NO_CALC)),
    _Line("no immune response", NO_IMMUNE, (CORAL, NO_IMMUNE)),
    *(
        _Line(label, Cell("coral", ablation), (CORAL, Cell("coral", ablation)))
        for label, ablation in (
            ("no feeding", "no_feeding"),
            ("no resistance", "no_resistance"),
            ("fixed threshold", "fixed_threshold"),
            ("no settling noise", "no_settling_noise"),
        )
    ),
    _Line("heirs alone", None, (NO_CALC, NO_IMMUNE), gain_of=NO_HEIRS),
    _Line("calcification alone", None, (NO_HEIRS, NO_IMMUNE), gain_of=NO_CALC),
)
_ANCHORS = (
    _Line("Tide", Cell("tide")),
    _Line("Dense", Cell("dense")),
    _Line("BM25, ties oldest", Cell("bm25")),
    _Line("BM25, ties newest", Cell("bm25", variant="bm25_ties_newest")),
    _Line("random ranking", Cell("random")),
    _Line("oracle displacement", Cell("oracle_immune")),
)


def ablation_tables(selection: Selection) -> list[Table]:
    """A table for each headline metric that any selected run logged.

    Rows stand in a fixed order, what was not run included; then other ablations and the user's own
    methods. Declared variants other than BM25's tie rule belong to their own checks, not here.

    Raises DataError if runs that must be paired saw different questions or hold a bad number.
    """
    estimator = Estimator(selection)
    logged = {name for run in selection.cells.values() for name in run.metrics}
    lines = (*_CORAL_LINES, *_ANCHORS, *_others(estimator))
    return [
        Table(metric, tuple(_row(estimator, line, metric) for line in lines))
        for metric in HEADLINES
        if metric in logged
    ]


def _others(estimator: Estimator) -> list[_Line]:
    """Rows for the cells that have no fixed one: an ablation against its own whole."""
    placed = {line.cell for line in (*_CORAL_LINES, *_ANCHORS)}
    lines = []
    for cell in sorted(set(estimator.cells) - placed):
        if cell.variant:
            continue
        if cell.ablation == "none":
            lines.append(_Line(cell.method, cell))
        else:
            whole = Cell(cell.method)
            lines.append(_Line(f"{cell.method}, {cell.ablation}", cell, (whole, cell)))
    return lines


def _row(estimator: Estimator, line: _Line, metric: str) -> Row:
    value: Estimate | str = NOT_APPLICABLE
    spread = Spread()
    notes: list[str] = []
    if line.cell:
        value, spread, notes = estimator.of(line.cell, metric)
    if not line.contrast:
        return Row(line.label, value, spread, NOT_APPLICABLE, "", tuple(notes))
    a, b = line.contrast
    contrast, remarks = estimator.difference(a, b, metric)
    notes += remarks
    notes += [
        f"{_name(cell)} not run"
        for cell in (a, b)
        if cell != line.cell and cell not in estimator.cells
    ]
    if line.cell == NO_IMMUNE and isinstance(contrast, Estimate):
        notes.append(
            "without it nothing is displaced: this is Dense, and its cost the whole difference to it"
        )
    if line.gain_of and isinstance(contrast, Estimate):
        cost, _ = estimator.difference(CORAL, line.gain_of, metric)
        if isinstance(cost, Estimate) and contrast.low > 0 and cost.low <= 0 <= cost.high:
            notes.append(
                f"redundant: alone it gains {100 * contrast.value:.1f} points, while the interval of its "
                f"cost in the whole ({100 * cost.value:+.1f}) includes 0"
            )
    return Row(line.label, value, spread, contrast, f"{_name(a)} - {_name(b)}", tuple(notes))


def _name(cell: Cell) -> str:
    return "full" if cell.ablation == "none" else cell.ablation
