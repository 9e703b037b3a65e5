"""Every number of the report under a name of its own, so that it lives in the database too."""

from __future__ import annotations

from collections.abc import Iterator

from engram_hydra.report.ablation_table import Table
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.figure_names import figure_names, short
from engram_hydra.report.report import Report


def figures(report: Report) -> Iterator[tuple[str, float]]:
    """Name and value: ``fc_sh_6k/answer_in_top_1.dense``, with ``_ci_low`` and ``_ci_high`` beside it."""
    for name, value in _all(report):
        yield short(name), value


def _all(report: Report) -> Iterator[tuple[str, float]]:
    for chapter in report.chapters:
        for table in chapter.tables:
            for name, value in _of_table(table):
                yield f"{chapter.dataset}/{name}", value
    for dataset, section in report.all_sections():
        if section.name != "table":  # the tables' own figures again
            for name, value in section.figures():
                yield "/".join(filter(None, (dataset, name))), value


def _of_table(table: Table) -> Iterator[tuple[str, float]]:
    labels = figure_names([(row.label,) for row in table.rows])
    for row, label in zip(table.rows, labels, strict=True):
        name = f"{table.metric}.{label}"
        for what, estimate in (("", row.value), (".contrast", row.contrast)):
            if isinstance(estimate, Estimate):
                yield f"{name}{what}", estimate.value
                yield f"{name}{what}_ci_low", estimate.low
                yield f"{name}{what}_ci_high", estimate.high
