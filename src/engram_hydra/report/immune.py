"""The immune response: what it displaced, how rightly, and which parts had nothing to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from statistics import fmean

from engram_hydra.config import Coral as CoralOptions
from engram_hydra.report.ablation_table import CORAL, ORACLE
from engram_hydra.report.cells import Run
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, Estimate, Spread, fraction
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.names import row_name
from engram_hydra.report.section import Entry, Section, grouped

RATES = ("immune_precision", "immune_recall")
DISPLACED = "memory_displacements"
COUNTS = {
    DISPLACED: "displacements",
    "immune_recall_n": "superseded",
    "memory_reefs": "reefs",
    "memory_calcified": "calcified",
}


def immune_section(estimator: Estimator, labels: Mapping[Cell, str]) -> Section | None:
    """A row for each cell that displaces; ``labels`` names cells and says which come first.

    None where no run logged a displacement or a rate.
    """
    measured = {
        cell: runs
        for cell, runs in estimator.cells.items()
        if not (cell.variant or cell.audit)
        and any({*RATES, DISPLACED} & set(run.metrics) for run in runs.values())
    }
    if not measured:
        return None
    order = [cell for cell in labels if cell in measured]
    order += [cell for cell in measured if cell not in labels]
    cells = {labels.get(cell, row_name(cell)): cell for cell in order}
    entries = {
        label: {name: _entry(label, name, measured[cell]) for name in (*RATES, *COUNTS)}
        for label, cell in cells.items()
    }
    blocks: list[Block] = [
        Heading("The immune response", 2),
        Paragraph(
            "Precision: of the displacements, the share where the new item truly supersedes the old one. "
            "Recall: of the items truly superseded, the share that was displaced so. Mean over seeds "
            "with SD and range; one run stands with its 95% interval in their place. Counts are means over "
            "seeds; superseded: items known to be. This says why an ablation costs what it costs."
        ),
        Grid(
            ("row", "seeds", "precision", "SD", "range", "recall", "SD", "range"),
            [
                [label, _seeds(row), *_rate(row[RATES[0]]), *_rate(row[RATES[1]])]
                for label, row in entries.items()
            ],
        ),
        Grid(
            ("row", *COUNTS.values()),
            [[label, *(_count(row[name]) for name in COUNTS)] for label, row in entries.items()],
        ),
        Paragraph(
            "Inert, on every seed: the options of what acted on nothing. Changing one of them alone "
            "changes no result here, unless it brings its mechanism to act."
        ),
        Bullets(_inert({label: measured[cell] for label, cell in cells.items()})),
    ]
    return Section("immune", blocks, [entry for row in entries.values() for entry in row.values()])


def _entry(label: str, name: str, runs: Mapping[str, Run]) -> Entry:
    keys = {"row": label, "what": name}
    # What a method displaced is counted in its pairs; without known conflicts, by its own counter.
    sources = ("immune_precision_n", name) if name == DISPLACED else (name,)
    logged = {
        seed: next(run.metrics[source] for source in sources if source in run.metrics)
        for seed, run in runs.items()
        if set(sources) & set(run.metrics)
    }
    if not logged:
        return Entry(keys, "n/a")
    spread = Spread.of(logged)
    if name in RATES and len(logged) == 1:
        [metrics] = [run.metrics for run in runs.values() if name in run.metrics]
        low, high, n = (metrics[f"{name}_{end}"] for end in ("ci_low", "ci_high", "n"))
        return Entry(keys, Estimate(metrics[name], low, high, int(n)), spread)
    return Entry(keys, fmean(logged.values()), spread)


def _seeds(row: Mapping[str, Entry]) -> str:
    return next((entry.spread.seeds for entry in row.values() if entry.spread.seeds), "")


def _rate(entry: Entry) -> tuple[str, str, str]:
    """Mean, SD and range, or the one value with its interval."""
    mean, _, interval = fraction(entry.value).partition(" ")
    if entry.spread.sd is None:
        return mean, "", interval
    return mean, f"{entry.spread.sd:.3f}", f"{entry.spread.low:.3f}-{entry.spread.high:.3f}"


def _count(entry: Entry) -> str:
    return f"{entry.value:.1f}" if isinstance(entry.value, float) else "n/a"


def _inert(named: Mapping[str, Mapping[str, Run]]) -> list[str]:
    """The options inert in all runs of a row, as lines; those that are so in every row stand first."""
    found = {
        label: options for label, runs in named.items() if (options := _options(runs)) is not None
    }
    lists = list(found.values())
    shared = [o for o in lists[0] if all(o in other for other in lists)] if len(lists) > 1 else []
    lines = [f"in every row: {', '.join(shared)}"] if shared else []
    of_row: dict[str, list[str]] = {
        label: ["not reported"] for label in named if label not in found
    }
    for label, options in found.items():
        own = ", ".join(o for o in options if o not in shared)
        if own or not shared:
            of_row[label] = [f"also {own}" if shared else own or "nothing"]
    return [*lines, *grouped(of_row)]


def _options(runs: Mapping[str, Run]) -> list[str] | None:
    """The options inert in all runs, as one sets them, in the order of the first; None if unreported.

    Coral also names mechanisms that are no options: their constants stand beside them.
    """
    if not any("engram.inert" in run.tags for run in runs.values()):
        return None
    lists = [run.tags.get("engram.inert", "").split(", ") for run in runs.values()]
    common = [name for name in lists[0] if name and all(name in other for other in lists)]
    if next(iter(runs.values())).tags["engram.method"] in (CORAL.method, ORACLE.method):
        options = {spec.name for spec in fields(CoralOptions)}
        return [f"method.{name}" for name in common if name in options]
    return common
