"""Sensitivity: how far each conclusion depends on each constant, one of them changed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, Estimate, fraction, points
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section, grouped
from engram_hydra.report.variants import Change

ANCHORED = ("Coral - Dense", "Coral - Tide")
COSTS = ("cost of heirs", "cost of calcification")
CHANGES = "changes"  # the verdict on a conclusion that is not the one as shipped
HOLDS = "as shipped"
# It is used under this ablation only, so there its rows are compared.
ONLY_UNDER = {"fixed_cosine": "fixed_threshold"}


@dataclass(frozen=True)
class Row:
    """Coral's value and the conclusions with one constant changed; ``change`` is None as shipped.

    ``value`` is None where the change does not touch Coral. ``verdicts`` say of each conclusion
    ``as shipped`` or ``changes``: whether its interval lies above 0, below it, or includes it.
    """

    ablation: str
    change: Change | None
    value: Estimate | str | None
    conclusions: Mapping[str, Estimate | str]
    verdicts: Mapping[str, str]
    notes: Sequence[str]

    @property
    def label(self) -> str:
        shipped = "as shipped" if self.ablation == "none" else self.ablation
        return self.change.label if self.change else shipped


def sensitivity_rows(estimator: Estimator, metric: str, changes: Sequence[Change]) -> list[Row]:
    """What is shipped, then a row for each change that was run, compared with it.

    Under a change of Coral the anchors are those as shipped, under one of Tide Coral is, and under
    one of the data all are run anew. Constants that are used under an ablation only come last, after
    a row of that ablation as shipped.

    Raises DataError if runs that must be paired saw different questions.
    """
    rows = []
    for ablation in ("none", *dict.fromkeys(ONLY_UNDER.values())):
        under = [
            change for change in changes if ONLY_UNDER.get(change.constant, "none") == ablation
        ]
        if run := [change for change in under if change.variant in ran(estimator)]:
            shipped = _row(estimator, metric, ablation, None, {})
            rows.append(shipped)
            rows += [
                _row(estimator, metric, ablation, change, shipped.conclusions) for change in run
            ]
    return rows


def ran(estimator: Estimator) -> set[str]:
    """The variants of which there is any run."""
    return {cell.variant for cell in estimator.cells}


def _row(
    estimator: Estimator,
    metric: str,
    ablation: str,
    change: Change | None,
    shipped: Mapping[str, Estimate | str],
) -> Row:
    variant, method = (change.variant, change.method) if change else ("", "")
    coral = Cell("coral", ablation, variant if method != "tide" else "")
    dense = Cell("dense", variant=variant if not method else "")
    tide = Cell("tide", variant=variant if method != "coral" else "")
    contrasts = {"Coral - Tide": (coral, tide)}
    if method != "tide":
        contrasts = {"Coral - Dense": (coral, dense), **contrasts}
    if method != "tide" and ablation == "none":
        contrasts["cost of heirs"] = (coral, coral._replace(ablation="no_heirs"))
        contrasts["cost of calcification"] = (coral, coral._replace(ablation="no_calc"))
    value: Estimate | str | None = None
    notes: list[str] = []
    if method != "tide":
        value, _, notes = estimator.of(coral, metric)
    conclusions = {}
    for name, (a, b) in contrasts.items():
        conclusions[name], remarks = estimator.contrast({a: 1, b: -1}, metric)
        notes += [f"{name} {remark}" for remark in remarks]
    verdicts = {
        name: HOLDS if _side(estimate) == _side(shipped[name]) else CHANGES
        for name, estimate in conclusions.items()
        if isinstance(estimate, Estimate) and isinstance(shipped.get(name), Estimate)
    }
    return Row(ablation, change, value, conclusions, verdicts, notes)


def _side(estimate: Estimate | str) -> str:
    if isinstance(estimate, str):
        return estimate
    return "above 0" if estimate.low > 0 else "below 0" if estimate.high < 0 else "includes 0"


def sensitivity_section(
    estimator: Estimator, metric: str, changes: Sequence[Change]
) -> Section | None:
    """The rows for one metric, and in words which conclusions depend on what; None if nothing was run."""
    rows = sensitivity_rows(estimator, metric, changes)
    if not rows:
        return None
    counts = {e.n for row in rows for e in row.conclusions.values() if isinstance(e, Estimate)}
    counted = ", ".join(map(str, sorted(counts))) or "0"
    with_costs = [row for row in rows if set(COSTS) & set(row.conclusions)]
    blocks: list[Block] = [
        Heading(f"Sensitivity: one constant changed, {metric}, n = {counted}", 2),
        Paragraph(
            "Each row changes one constant from what is committed, after the freeze; nothing is tuned by "
            "it. Differences are in points, paired by question. A conclusion is whether an interval lies "
            "above 0, below 0 or includes it; * marks one that changes. fixed_cosine acts under ablation "
            "fixed_threshold only, and is compared with that."
        ),
        _grid(rows, "Coral [95%]", ANCHORED),
        *([_grid(with_costs, "", COSTS)] if with_costs else []),
        Bullets([_in_words(name, rows) for name in (*ANCHORED, *COSTS)]),
    ]
    notes = grouped({row.label: row.notes for row in rows})
    if missing := [change.label for change in changes if change.variant not in ran(estimator)]:
        notes.append(f"not run: {', '.join(missing)}")
    return Section(
        "sensitivity",
        [*blocks, *([Bullets(notes)] if notes else [])],
        [entry for row in rows for entry in _entries(metric, row)],
    )


def _grid(rows: Sequence[Row], value: str, names: Sequence[str]) -> Grid:
    header = (
        "constant",
        "value",
        "",
        *([value] if value else []),
        *(f"{name} [95%]" for name in names),
    )
    return Grid(header, [_cells(row, bool(value), names) for row in rows])


def _cells(row: Row, with_value: bool, names: Sequence[str]) -> list[str]:
    change = row.change
    cells = [change.constant, str(change.value), change.factor] if change else [row.label, "", ""]
    if with_value:
        cells.append("" if row.value is None else fraction(row.value))
    for name in names:
        mark = "*" if row.verdicts.get(name) == CHANGES else " "
        cells.append(points(row.conclusions[name]) + mark if name in row.conclusions else " ")
    return cells


def _in_words(name: str, rows: Sequence[Row]) -> str:
    """On which constants a conclusion depends, in a sentence."""
    shipped = _side(rows[0].conclusions.get(name, "not run"))
    judged = [row for row in rows if name in row.verdicts and row.change]
    changed = [
        f"{row.label} ({row.change.factor})" if row.change and row.change.factor else row.label
        for row in judged
        if row.verdicts[name] == CHANGES
    ]
    if not judged:
        return f"{name}: {shipped} as shipped; nothing to compare it with was run"
    if not changed:
        return f"{name}: {shipped} as shipped; depends on none (0 of {len(judged)} changes)"
    return (
        f"{name}: {shipped} as shipped; depends on {', '.join(changed)} "
        f"({len(changed)} of {len(judged)} changes)"
    )


def _entries(metric: str, row: Row) -> list[Entry]:
    change = row.change
    keys = {
        "metric": metric,
        "constant": change.constant if change else row.label,
        "set_to": str(change.value) if change else "",
        "factor": change.factor if change else "",
    }
    entries = []
    if row.value is not None:
        entries.append(Entry({**keys, "what": "Coral"}, row.value, notes=row.notes))
    for name, estimate in row.conclusions.items():
        verdict = [row.verdicts[name]] if name in row.verdicts else []
        entries.append(Entry({**keys, "what": name}, estimate, notes=verdict))
    return entries
