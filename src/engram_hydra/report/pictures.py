"""The pictures of a chapter, each drawn from tidy rows that stand beside it as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from engram_hydra.report import plots
from engram_hydra.report.ablation_table import Table
from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.comparisons import ANCHORED, BETTER, WORSE, Comparison
from engram_hydra.report.costs import logged
from engram_hydra.report.curves import curves
from engram_hydra.report.document import Picture
from engram_hydra.report.estimates import NOT_APPLICABLE, Cell, Estimate
from engram_hydra.report.estimator import Estimator
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
        {"row": label, "k": cut, **_ends(estimate)}
        for label, curve in curves(estimator, labels, k).items()
        for cut, estimate in curve
    ]
    if points and k > 1:
        what = f"share of questions with something relevant among the first k, on {dataset}"
        pictures.append(plots.retrieval_curves(points, name=f"{dataset}_curves", what=what))
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
    return [
        plots.by_length(
            [
                {"row": e.keys["row"], "length": e.keys["length"], **_ends(e.value)}
                for e in lengths.entries
                if (e.keys["series"], e.keys["metric"]) == kind
            ],
            name="_".join((*kind, "lengths")),
            what=f"{kind[1]} on {kind[0]}",
        )
        for kind in kinds
    ]


def _differences(metric: str, compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """In points, against the anchors only: an ablation's cost stands in the attribution."""
    return [
        {
            "row": one.row,
            "against": one.against.partition(",")[0],  # short, above a narrow panel
            **_ends(one.difference, 100),
            "supported": one.outcome in (BETTER, WORSE),
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
