"""The report of one data set, as one long CSV file for tools."""

from __future__ import annotations

import csv
import io

from engram_hydra.report.ablation_table import Row
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.published import Figure
from engram_hydra.report.render import Report

CSV_FIELDS = (
    "dataset",
    "source",
    "metric",
    "row",
    "unit",
    "value",
    "ci_low",
    "ci_high",
    "n",
    "seeds",
    "sd",
    "seed_min",
    "seed_max",
    "contrast_is",
    "contrast",
    "contrast_ci_low",
    "contrast_ci_high",
    "k",
    "reader",
    "embedder",
    "notes",
)


def to_csv(report: Report) -> str:
    """One line per metric and row, in full precision, measured ones first.

    A value is a number, ``not run`` or ``n/a``; fields that do not apply are empty.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_FIELDS, restval="", lineterminator="\n")
    writer.writeheader()
    for table in report.tables:
        writer.writerows(_measured(report, table.metric, row) for row in table.rows)
    writer.writerows(_cited(report, figure) for figure in report.figures)
    return out.getvalue()


def _measured(report: Report, metric: str, row: Row) -> dict[str, object]:
    return {
        "dataset": report.dataset,
        "source": "measured",
        "metric": metric,
        "row": row.label,
        "unit": "fraction",
        "n": row.value.n if isinstance(row.value, Estimate) else "",
        **_fields(row.value, "value", "ci"),
        "seeds": row.spread.seeds,
        "sd": row.spread.sd,
        "seed_min": row.spread.low,
        "seed_max": row.spread.high,
        "contrast_is": row.contrast_is,
        **(_fields(row.contrast, "contrast", "contrast_ci") if row.contrast_is else {}),
        "k": report.k,
        "reader": report.reader,
        "embedder": report.embedder,
        "notes": "; ".join(row.notes),
    }


def _cited(report: Report, figure: Figure) -> dict[str, object]:
    return {
        "dataset": report.dataset,
        "source": figure.table.citation,
        "metric": figure.metric,
        "row": figure.name,
        "unit": figure.unit,
        "value": figure.value,
        "k": figure.table.setting["k"],
        "reader": figure.table.setting["reader"],
        "notes": figure.table.remark,
    }


def _fields(value: Estimate | str, name: str, interval: str) -> dict[str, object]:
    if isinstance(value, str):
        return {name: value}
    return {name: value.value, f"{interval}_low": value.low, f"{interval}_high": value.high}
