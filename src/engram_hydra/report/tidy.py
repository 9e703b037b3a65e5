"""The report for tools: as one long CSV file, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from engram_hydra.report import csv_text
from engram_hydra.report.ablation_table import Row
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.published import Figure
from engram_hydra.report.report import Report

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
    "outcome",
    "p_holm",
    "k",
    "reader",
    "embedder",
    "notes",
)


def to_csv(chapters: Sequence[Chapter]) -> str:
    """One line per data set, metric and row, in full precision, measured ones first.

    A value is a number, ``not run`` or ``n/a``; fields that do not apply are empty.
    """
    return csv_text.to_csv(CSV_FIELDS, (row for chapter in chapters for row in _rows(chapter)))


def to_json(report: Report) -> str:
    """Warnings, main findings, verdicts, the table, every section's numbers and the runs they come from.

    A number that is none is null.
    """
    content: dict[str, Any] = {
        "title": report.title,
        "warnings": report.warnings,
        "main_findings": report.main_findings,
        "verdicts": [asdict(verdict) for verdict in report.verdicts],
        "table": [row for chapter in report.chapters for row in _rows(chapter)],
        "sections": [
            {"dataset": dataset, "name": section.name, "rows": section.rows()}
            for dataset, section in report.all_sections()
            if section.name != "table"
        ],
        "runs": {
            chapter.dataset: {
                "/".join(key).rstrip("/"): run.run_id
                for key, run in chapter.selection.cells.items()
            }
            for chapter in report.chapters
        },
        "made_by": dict(report.made_by),
    }
    return json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(content: Any) -> Any:
    """The same without infinities, such as what one question could detect, which JSON can't say."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _rows(chapter: Chapter) -> Iterator[dict[str, object]]:
    for table in chapter.tables:
        for row in table.rows:
            yield _measured(chapter, table.metric, row)
    for figure in chapter.figures:
        yield _cited(chapter, figure)


def _measured(chapter: Chapter, metric: str, row: Row) -> dict[str, object]:
    return {
        "dataset": chapter.dataset,
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
        "outcome": row.outcome,
        "p_holm": row.p_holm,
        "k": chapter.k,
        "reader": chapter.reader,
        "embedder": chapter.embedder,
        "notes": "; ".join(row.notes),
    }


def _cited(chapter: Chapter, figure: Figure) -> dict[str, object]:
    return {
        "dataset": chapter.dataset,
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
