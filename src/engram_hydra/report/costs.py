"""What a row costs: time to write and to read, and the context that its reader is given."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from engram_hydra.report.document import Block, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, Spread
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section

COSTS = {
    "write_seconds": ("write s", "{:.3f}"),
    "read_ms_per_query": ("read ms a query", "{:.3f}"),
    "context_tokens": ("context tokens", "{:,.0f}"),
    "truncated_fraction": ("truncated", "{:.3f}"),
}


def costs_section(estimator: Estimator, labels: Mapping[Cell, str]) -> Section | None:
    """A row for each cell of ``labels`` that was run: means over its seeds, in the entries with range.

    None where no run logged a cost.
    """
    entries = [
        Entry({"row": label, "what": name}, fmean(values.values()), Spread.of(values))
        for cell, label in labels.items()
        for name in COSTS
        if (values := logged(estimator, cell, name))
    ]
    if not entries:
        return None
    by_row: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_row.setdefault(entry.keys["row"], {})[entry.keys["what"]] = entry
    blocks: list[Block] = [
        Heading("Cost", 2),
        Paragraph(
            "Means over the seeds. Times are of this machine at that hour, with the vectors of texts "
            "cached: compare them within a sweep, and no further. Equal k is not equal budget: the "
            "context is what a reader is given for one question."
        ),
        Grid(
            ("row", "seeds", *(title for title, _ in COSTS.values())),
            [
                [
                    label,
                    next(iter(row.values())).spread.seeds,
                    *(
                        form.format(row[name].value) if name in row else ""
                        for name, (_, form) in COSTS.items()
                    ),
                ]
                for label, row in by_row.items()
            ],
        ),
    ]
    return Section("costs", blocks, entries)


def logged(estimator: Estimator, cell: Cell, name: str) -> dict[str, float]:
    """What the cell's runs logged under this name, by seed."""
    runs = estimator.cells.get(cell, {})
    return {seed: run.metrics[name] for seed, run in runs.items() if name in run.metrics}
