"""The pictures of a chapter, each drawn from tidy rows that stand beside it as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from engram_hydra.report import line_plots, plots
from engram_hydra.report.ablation_table import TIES_NEWEST, Table
from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.comparisons import Comparison
from engram_hydra.report.costs import logged
from engram_hydra.report.curves import curve
from engram_hydra.report.document import Picture
from engram_hydra.report.estimates import NOT_APPLICABLE, Cell, Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.families import ANCHORED, BM25, RANDOM, is_one_part_off, whole_name
from engram_hydra.report.immune import RATES
from engram_hydra.report.section import Entry, Section


def chapter_pictures(
    estimator: Estimator,
    dataset: str,
    labels: Mapping[Cell, str],
    tables: Sequence[Table],
    compared: Sequence[Comparison],
    sections: Mapping[str, Section | str],
    k: int,
) -> list[Picture]:
    """Those for which there are figures; names of files carry the data set and the metric."""
    pictures = []
    for metric in (table.metric for table in tables):
        stem = f"{dataset}_{metric}"
        if rows := _differences(metric, compared):
            what = f"points of {metric} on {dataset}"
            pictures.append(plots.forest(rows, name=f"{stem}_forest", what=what))
        dots = [
            {"row": label, "seed": seed, "value": value}
            for cell, label in labels.items()
            for seed, value in logged(estimator, cell, metric).items()
        ]
        if any(dot["seed"] != DETERMINISTIC for dot in dots):
            what = f"{metric} on {dataset}"
            pictures.append(plots.seed_dots(dots, name=f"{stem}_seeds", what=what))
    points = [
        {"panel": panel, "row": labels[cell], "k": cut, **_ends(estimate)}
        for panel, cell in _in_panels({c: labels[c] for c in labels if c in estimator.cells})
        for cut, estimate in curve(estimator, cell, k)
    ]
    if points and k > 1:
        what = f"share of questions with something relevant among the first k, on {dataset}"
        pictures.append(line_plots.retrieval_curves(points, name=f"{dataset}_curves", what=what))
    pictures += _of_attribution(dataset, sections.get("Attribution"))
    pictures += _of_immune(dataset, sections.get("Immune response"))
    times = [
        {
            "row": label,
            "write_seconds": fmean(seconds.values()),
            "read_ms": fmean(logged(estimator, cell, "read_ms_per_query").values()),
        }
        for cell, label in labels.items()
        if (seconds := logged(estimator, cell, "write_seconds"))
    ]
    if times:
        pictures.append(plots.costs(times, name=f"{dataset}_costs", what=f"cost on {dataset}"))
    return pictures


def across_pictures(lengths: Section | str) -> list[Picture]:
    """Each series and metric by context length, from the section's own numbers."""
    if isinstance(lengths, str):
        return []
    kinds = dict.fromkeys((e.keys["series"], e.keys["metric"]) for e in lengths.entries)
    return [_by_length(lengths, *kind) for kind in kinds]


def _by_length(lengths: Section, series: str, metric: str) -> Picture:
    of_kind = [
        e for e in lengths.entries if (e.keys["series"], e.keys["metric"]) == (series, metric)
    ]
    by_cell: dict[Cell, list[Entry]] = {}
    for entry in of_kind:
        cell = Cell(*(str(entry.more[name]) for name in ("method", "ablation", "variant")))
        by_cell.setdefault(cell, []).append(entry)
    labels = {cell: of_cell[0].keys["row"] for cell, of_cell in by_cell.items()}
    rows = [
        {"panel": panel, "row": labels[cell], "length": e.keys["length"], **_ends(e.value)}
        for panel, cell in _in_panels(labels)
        for e in by_cell[cell]
    ]
    name = f"{series}_{metric}_lengths"
    return line_plots.by_length(rows, name=name, what=f"{metric} on {series}")


def _in_panels(labels: Mapping[Cell, str]) -> Iterator[tuple[str, Cell]]:
    """The lines of a picture with the panel of each: methods, then each whole with one part off.

    Random ranking would squeeze the others; other variants than BM25's ties and ablations of several
    parts have sections of their own.
    """
    newest = BM25._replace(variant=TIES_NEWEST)
    whole = [c for c in labels if c == newest or (not c.variant and c.ablation == "none")]
    yield from (("methods", cell) for cell in whole if cell != RANDOM)
    ablated = [c for c in labels if is_one_part_off(c) and not c.variant]
    for of in dict.fromkeys(Cell(cell.method) for cell in ablated):
        panel = f"{whole_name(labels, of)}, one part off"
        members = [of, *(cell for cell in ablated if cell.method == of.method)]
        yield from ((panel, cell) for cell in members if cell in labels)


def _differences(metric: str, compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """In points, against the anchors only: an ablation's cost stands in the attribution."""
    return [
        {
            "row": one.row,
            "against": one.against,
            **_ends(one.difference, 100),
            "outcome": one.outcome,
        }
        for one in compared
        if one.metric == metric
        and one.family.endswith(ANCHORED)
        and isinstance(one.difference, Estimate)
    ]


def _of_attribution(dataset: str, section: Section | str | None) -> list[Picture]:
    if not isinstance(section, Section):
        return []
    effects = [
        (e.keys["metric"], f"{e.keys['part']}, {e.keys['effect']}", _ends(e.value, 100))
        for e in section.entries
        if isinstance(e.value, Estimate) and e.keys["effect"] in ("cost", "alone", "share")
    ]
    return [
        plots.attribution(
            [
                {"part": part, "effect": ends["value"], "low": ends["low"], "high": ends["high"]}
                for of, part, ends in effects
                if of == metric
            ],
            name=f"{dataset}_{metric}_attribution",
            what=f"points of {metric} on {dataset}",
        )
        for metric in dict.fromkeys(metric for metric, _, _ in effects)
    ]


def _of_immune(dataset: str, section: Section | str | None) -> list[Picture]:
    if not isinstance(section, Section):
        return []
    rows = [
        {"row": e.keys["row"], "what": e.keys["what"].removeprefix("immune_"), **_rate(e)}
        for e in section.entries
        if e.keys["what"] in RATES and e.value != NOT_APPLICABLE
    ]
    what = f"immune response on {dataset}: mean and range over the seeds"
    return [plots.immune(rows, name=f"{dataset}_immune", what=what)] if rows else []


def _ends(value: Estimate | float | str, factor: float = 1) -> dict[str, Any]:
    """An estimate and its interval; a word that stands for it is no number."""
    if not isinstance(value, Estimate):
        return {"value": value, "low": None, "high": None}
    return {"value": factor * value.value, "low": factor * value.low, "high": factor * value.high}


def _rate(entry: Entry) -> dict[str, Any]:
    """A rate with its interval, or the mean over seeds with their range."""
    ends = _ends(entry.value)
    if entry.spread.low is not None:
        ends |= {"low": entry.spread.low, "high": entry.spread.high}
    return ends
