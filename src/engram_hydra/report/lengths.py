"""Each metric by context length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, fraction
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section
from engram_hydra.report.why_missing import how_to_get

LENGTHS = ("6k", "32k", "64k", "262k")  # of the context, in tokens; the longest is last
SERIES = ("fc_sh", "fc_mh")


def length_section(estimators: Mapping[str, Estimator]) -> Section | str:
    """Each headline metric of each row at every length that was run, series by series.

    A length without runs is named below. In the section's place how to get the runs, where no series
    has two lengths.
    """
    blocks: list[Block] = [
        Heading("By context length", 1),
        Paragraph(
            "Fractions with 95% intervals. The lengths of a series are nested or nearly so: they are "
            "not independent replications."
        ),
    ]
    entries: list[Entry] = []
    missing: list[str] = []
    for series in SERIES:
        found = {
            length: estimators[f"{series}_{length}"]
            for length in LENGTHS
            if was_run(estimators, f"{series}_{length}")
        }
        missing += [f"{series}_{length}" for length in LENGTHS if length not in found]
        if len(found) < 2:
            continue
        labels = _labels(found.values())
        for metric in HEADLINES:
            if not any(estimator.logs(metric) for estimator in found.values()):
                continue
            by_row = {
                label: [
                    _entry(series, length, metric, label, estimator, cell)
                    for length, estimator in found.items()
                ]
                for cell, label in labels.items()
            }
            rows = [[row, *(fraction(e.value) for e in of_row)] for row, of_row in by_row.items()]
            blocks += [Heading(f"{series}, {metric}", 2), Grid(("row", *found), rows)]
            entries += [entry for of_row in by_row.values() for entry in of_row]
    if not entries:
        return how_to_get(estimators, [f"{SERIES[0]}_{length}" for length in LENGTHS[:2]])
    if missing:
        blocks.append(Bullets([how_to_get(estimators, missing)]))
    return Section("lengths", blocks, entries)


def was_run(estimators: Mapping[str, Estimator], dataset: str) -> bool:
    """Whether there is any run on the data set."""
    return dataset in estimators and bool(estimators[dataset].cells)


def _labels(estimators: Iterable[Estimator]) -> dict[Cell, str]:
    """The rows that any of them has run, in their order."""
    estimators = list(estimators)
    labels = {cell: label for e in estimators for cell, label in row_labels(e).items()}
    return {c: label for c, label in labels.items() if any(c in e.cells for e in estimators)}


def _entry(
    series: str, length: str, metric: str, label: str, estimator: Estimator, cell: Cell
) -> Entry:
    value, spread, notes = estimator.of(cell, metric)
    keys = {"series": series, "length": length, "metric": metric, "row": label}
    which = {"method": cell.method, "ablation": cell.ablation, "variant": cell.variant}
    return Entry(keys, value, spread, notes, which)
