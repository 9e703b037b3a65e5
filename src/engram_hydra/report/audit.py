"""The audit: what a larger pool, and its re-order, were worth to each method, at equal k."""

from __future__ import annotations

from collections.abc import Sequence

from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, Estimate, fraction, points
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section, grouped

PLAIN = "plain"
RULES = (PLAIN, "own_score", "newest_first")
SIDES = (Cell("dense"), Cell("coral"))


def audit_section(estimator: Estimator, metrics: Sequence[str]) -> Section | None:
    """Each audited method under each rule, against its own plain k, and these gains against Dense's.

    None where no audit was run; Dense and Coral stand in it even if one of them was not.

    Raises DataError if runs that must be paired saw different questions.
    """
    audited = {cell._replace(audit="") for cell in estimator.cells if cell.audit}
    if not audited:
        return None
    methods = [*SIDES, *sorted(audited - set(SIDES))]
    blocks: list[Block] = [
        Heading("Audit: the larger pool and its re-order", 2),
        Paragraph(
            "Each method returns a larger pool, which a rule orders and cuts to the same k. The last "
            "column, in points, is paired by question. own_score - plain: what the larger pool was worth "
            "by itself, 0 where rankings are prefix-consistent. newest_first - plain: what the pool and "
            "the re-order by date were worth. The last rows: what it was worth to a method beyond what "
            "it was worth to Dense. Audit runs stand in no other table."
        ),
    ]
    entries: list[Entry] = []
    for metric in metrics:
        of_metric = [
            *(_under_rule(estimator, cell, rule, metric) for cell in methods for rule in RULES),
            *(_beyond_dense(estimator, c, rule, metric) for c in methods[1:] for rule in RULES[1:]),
        ]
        blocks += _blocks(metric, of_metric)
        entries += [entry for row in of_metric for entry in row]
    return Section("audit", blocks, entries)


def _under_rule(estimator: Estimator, cell: Cell, rule: str, metric: str) -> list[Entry]:
    """The method's value under the rule, and its difference to the method's own plain k."""
    under = cell._replace(audit=rule)
    value, spread, notes = estimator.of(under, metric)
    keys = {"metric": metric, "method": _name(cell), "rule": rule, "what": "value"}
    row = [Entry(keys, value, spread, notes)]
    if rule != PLAIN:
        gain, notes = estimator.contrast({under: 1, cell._replace(audit=PLAIN): -1}, metric)
        row.append(Entry({**keys, "what": f"{rule} - {PLAIN}"}, gain, notes=notes))
    return row


def _beyond_dense(estimator: Estimator, cell: Cell, rule: str, metric: str) -> list[Entry]:
    """What the rule was worth to the method, less what it was worth to Dense."""
    dense = SIDES[0]
    weights = {
        cell._replace(audit=rule): 1,
        cell._replace(audit=PLAIN): -1,
        dense._replace(audit=rule): -1,
        dense._replace(audit=PLAIN): 1,
    }
    beyond, notes = estimator.contrast(weights, metric)
    keys = {"metric": metric, "method": f"{_name(cell)} beyond {_name(dense)}", "rule": rule}
    return [Entry({**keys, "what": f"{rule} - {PLAIN}"}, beyond, notes=notes)]


def _blocks(metric: str, rows: Sequence[Sequence[Entry]]) -> list[Block]:
    shown, notes = [], {}
    for row in rows:
        label = f"{row[0].keys['method']}, {row[0].keys['rule']}"
        by_what = {entry.keys["what"] == "value": entry for entry in row}
        value, gain = by_what.get(True), by_what.get(False)
        counted = [entry.value.n for entry in row if isinstance(entry.value, Estimate)]
        shown.append(
            (
                label,
                fraction(value.value) if value else "",
                str(counted[0]) if counted else "",
                value.spread.seeds if value else "",
                points(gain.value) if gain else "",
            )
        )
        notes[label] = [note for entry in row for note in entry.notes]
    header = ("method, rule", "mean [95%]", "n", "seeds", "worth [95%]")
    lines = grouped(notes)
    return [Heading(metric, 3), Grid(header, shown), *([Bullets(lines)] if lines else [])]


def _name(cell: Cell) -> str:
    return ", ".join(part for part in cell if part not in ("", "none"))
