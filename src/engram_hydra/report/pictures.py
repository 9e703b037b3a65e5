"""The pictures of a chapter, each drawn from tidy rows that stand beside it as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engram_hydra.report import plots
from engram_hydra.report.ablation_table import Table
from engram_hydra.report.comparisons import Comparison
from engram_hydra.report.costs import COSTS, logged
from engram_hydra.report.curves import curves
from engram_hydra.report.document import Picture
from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Section


def chapter_pictures(
    estimator: Estimator,
    dataset: str,
    labels: Mapping[Cell, str],
    tables: Sequence[Table],
    compared: Sequence[Comparison],
    sections: Mapping[str, Section | str],
    k: int,
) -> list[Picture]:
    """Those for which there are figures; names carry the data set and the metric."""
    pictures = []
    for table in tables:
        metric = table.metric
        title = f"{dataset}, {metric}"
        rows = [
            {
                "row": c.row,
                "against": c.against,
                **_ends(c.difference),
                "supported": c.outcome in ("better", "worse"),
            }
            for c in compared
            if c.metric == metric and isinstance(c.difference, Estimate)
        ]
        if rows:
            pictures.append(plots.forest(rows, name=f"{dataset}_{metric}_forest", title=title))
        dots = [
            {"row": label, "seed": seed, "value": value}
            for cell, label in labels.items()
            for seed, value in logged(estimator, cell, metric).items()
        ]
        if any(dot["seed"] != "deterministic" for dot in dots):
            pictures.append(plots.seed_dots(dots, name=f"{dataset}_{metric}_seeds", title=title))
    found = curves(estimator, labels, k)
    points = [
        {"row": label, "k": cut, **_ends(estimate)}
        for label, curve in found.items()
        for cut, estimate in curve
    ]
    if points and k > 1:
        pictures.append(
            plots.retrieval_curves(points, name=f"{dataset}_curves", title=f"{dataset}, first k")
        )
    pictures += _of_sections(dataset, sections)
    times = [
        {"row": label, **{name: _mean(logged(estimator, cell, name)) for name in list(COSTS)[:2]}}
        for cell, label in labels.items()
        if logged(estimator, cell, "write_seconds")
    ]
    if times:
        pictures.append(plots.costs(times, name=f"{dataset}_costs", title=f"{dataset}, cost"))
    return pictures


def _of_sections(dataset: str, sections: Mapping[str, Section | str]) -> list[Picture]:
    pictures = []
    attribution = sections.get("Attribution")
    if isinstance(attribution, Section):
        rows = [
            {"metric": e.keys["metric"], "part": e.keys["part"], "effect": e.keys["effect"]}
            | _ends(e.value)
            for e in attribution.entries
            if isinstance(e.value, Estimate) and e.keys["effect"] in ("cost", "alone", "share")
        ]
        for metric in dict.fromkeys(row["metric"] for row in rows):
            pictures.append(
                plots.attribution(
                    [row for row in rows if row["metric"] == metric],
                    name=f"{dataset}_{metric}_attribution",
                    title=f"{dataset}, {metric}",
                )
            )
    immune = sections.get("Immune response")
    if isinstance(immune, Section):
        rows = [
            {"row": e.keys["row"], "what": e.keys["what"].removeprefix("immune_")} | _rate(e)
            for e in immune.entries
            if e.keys["what"] in ("immune_precision", "immune_recall") and e.value != "n/a"
        ]
        if rows:
            pictures.append(
                plots.immune(rows, name=f"{dataset}_immune", title=f"{dataset}, immune response")
            )
    return pictures


def _ends(value: Any) -> dict[str, float]:
    return {"value": value.value, "low": value.low, "high": value.high}


def _rate(entry: Any) -> dict[str, float]:
    """A rate with its interval, or the mean over seeds with their range."""
    if isinstance(entry.value, Estimate):
        return _ends(entry.value)
    spread = entry.spread
    low = entry.value if spread.low is None else spread.low
    return {
        "value": entry.value,
        "low": low,
        "high": entry.value if spread.high is None else spread.high,
    }


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values) if values else 0.0
