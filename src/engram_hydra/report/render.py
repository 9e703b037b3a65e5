"""The report of one data set, as a document for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import Row, Table
from engram_hydra.report.cells import Selection
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import NOT_APPLICABLE, NOT_RUN, Estimate, fraction
from engram_hydra.report.published import Figure
from engram_hydra.report.section import Section

SHOWN_IDS = 3
RESOLVED = (
    "This reader answers from the newest of the facts that match best, so it resolves conflicts by "
    "itself: these figures decide nothing about a memory."
)


@dataclass(frozen=True)
class Report:
    """What one data set's report is made of: how its runs were selected, and what they gave.

    ``sections`` holds each one by its title; in place of one that was not run, how to get it.
    """

    dataset: str
    k: int
    reader: str
    embedder: str
    selection: Selection
    tables: Sequence[Table]
    figures: Sequence[Figure]
    sections: Mapping[str, Section | str]
    shown_variants: Collection[str]  # the declared variants that stand in a row or a section


def document(report: Report) -> list[Block]:
    """The whole report: settings, a table for each metric, sections, published figures, what is missing."""
    blocks = [Heading(f"Ablation table: {report.dataset}", 1), *_settings(report)]
    for table in report.tables:
        blocks += _table(table, report.reader)
    for section in report.sections.values():
        blocks += section.blocks if isinstance(section, Section) else []
    return [*blocks, *_published(report.figures), *_left_out(report), *_not_run(report)]


def _settings(report: Report) -> list[Block]:
    hashes = {
        run.tags.get("engram.data_sha256", "")[:12]
        for key, run in report.selection.cells.items()
        if not key.variant
    }
    text = (
        f"k = {report.k}, reader {report.reader}, embedder {report.embedder}, "
        f"data {' '.join(sorted(hashes)) or '(no run)'}. Fractions with 95% intervals in brackets; "
        "SD and range over the seeds. The last column is a part's cost (full - without it), its gain "
        "alone, or what a row has over Coral (on another index: over itself, exact), paired by question."
    )
    blocks: list[Block] = [Paragraph(text)]
    code = {run.tags.get("engram.code_sha256", "")[:12] for run in report.selection.cells.values()}
    if len(code) > 1:
        blocks.append(
            Paragraph(
                f"These runs come from {len(code)} versions of the code ({', '.join(sorted(code))}): "
                "run them again with one before you rely on a difference."
            )
        )
    if report.dataset.startswith(("fc_", "synthetic")):
        blocks.append(
            Paragraph(
                "All questions of this set share one context, so every interval is conditional on it."
            )
        )
    return blocks


def _table(table: Table, reader: str) -> list[Block]:
    header = ("row", "mean [95%]", "n", "seeds", "SD", "range", "cost or gain [95%]")
    rows = [
        (
            row.label,
            fraction(row.value),
            str(row.value.n) if isinstance(row.value, Estimate) else "",
            row.spread.seeds,
            "" if row.spread.sd is None else f"{row.spread.sd:.3f}",
            "" if row.spread.low is None else f"{row.spread.low:.3f}-{row.spread.high:.3f}",
            fraction(row.contrast, "+") if row.contrast_is else "",
        )
        for row in table.rows
    ]
    notes = [f"{row.label}: {'; '.join(row.notes)}" for row in table.rows if row.notes]
    title, meaning = table.metric, HEADLINES[table.metric]
    if table.metric == "subem":
        by_itself = reader == "newest"
        title = f"subem, {'resolved by the ' if by_itself else ''}reader {reader}"
        meaning += f" {RESOLVED}" if by_itself else ""
    blocks: list[Block] = [Heading(title, 2), Paragraph(meaning), Grid(header, rows)]
    return [*blocks, Bullets(notes)] if notes else blocks


def _published(figures: Sequence[Figure]) -> list[Block]:
    if not figures:
        return []
    blocks: list[Block] = [
        Heading("Published figures (indicative)", 2),
        Paragraph(
            "Others' figures under their own settings, which differ from ours; never subtracted from "
            "a measured figure nor tested against one."
        ),
    ]
    for source, group in groupby(figures, lambda figure: figure.table.citation):
        shown = list(group)
        table = shown[0].table
        settings = [f"{name.replace('_', ' ')}: {text}" for name, text in table.setting.items()]
        blocks += [
            Heading(source, 3),
            Grid(("row", "metric", "value"), [(f.name, f.metric, _printed(f)) for f in shown]),
            Bullets([*settings, table.remark]),
        ]
    return blocks


def _left_out(report: Report) -> list[Block]:
    """Runs by reason, and declared variants that stand in no row."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for run, reason in report.selection.left_out:
        kind, _, newer = reason.partition(" by ")
        by_reason[kind].append(run.run_id[:8] + (f" by {newer[:8]}" if newer else ""))
    for key, run in report.selection.cells.items():
        if key.variant and key.variant not in report.shown_variants:
            by_reason[f"variant {key.variant}, in no row here"].append(run.run_id[:8])
    if not by_reason:
        return []
    items = [f"{kind}: {len(ids)} ({_some(ids)})" for kind, ids in sorted(by_reason.items())]
    return [Heading("Runs left out", 2), Bullets(items)]


def _some(ids: Sequence[str]) -> str:
    """The first few; runs.json has them all."""
    more = len(ids) - SHOWN_IDS
    return ", ".join(ids[:SHOWN_IDS]) + (f" and {more} more, see runs.json" if more > 0 else "")


def _not_run(report: Report) -> list[Block]:
    blocks: list[Block] = []
    if not report.tables:
        blocks.append(Paragraph("No complete run fits this selection."))
    labels = [row.label for table in report.tables[:1] for row in table.rows if _missing(row)]
    labels += [
        f"{title}: not run ({how})"
        for title, how in report.sections.items()
        if isinstance(how, str)
    ]
    if labels:
        blocks.append(Bullets(labels))
    return [Heading("Not run", 2), *blocks] if blocks else []


def _missing(row: Row) -> bool:
    return NOT_RUN in (row.value, row.contrast if row.value == NOT_APPLICABLE else None)


def _printed(figure: Figure) -> str:
    return f"{figure.value:.1f} %" if figure.unit == "percent" else f"{figure.value:.3f}"
