"""One data set's chapter of the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import Row, Table
from engram_hydra.report.cells import Selection
from engram_hydra.report.document import (
    Block,
    Bullets,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
)
from engram_hydra.report.estimates import NOT_APPLICABLE, NOT_RUN, Estimate, fraction
from engram_hydra.report.published import Figure
from engram_hydra.report.section import Section

SHOWN_IDS = 3
PRINTED_TO = 0.0005  # half of the last digit of a published fraction
RESOLVED = (
    "This reader answers from the newest of the facts that match best, so it resolves conflicts by "
    "itself: these figures decide nothing about a memory."
)


@dataclass(frozen=True)
class Chapter:
    """What a data set's chapter is made of: how its runs were selected, and what they gave.

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
    pictures: Sequence[Picture] = ()
    questions: Drilldown | None = None


def chapter_blocks(chapter: Chapter) -> list[Block]:
    """Settings, a table for each metric, pictures, sections, published figures, what is missing."""
    blocks = [Heading(chapter.dataset, 1), *_settings(chapter)]
    for table in chapter.tables:
        blocks += _table(table, chapter.reader)
    if chapter.pictures:
        blocks += [Heading("Pictures", 2), *chapter.pictures]
    for section in chapter.sections.values():
        blocks += section.blocks if isinstance(section, Section) else []
    if chapter.questions:
        blocks += [Heading("Question by question", 2), chapter.questions]
    return [*blocks, *_published(chapter), *_left_out(chapter), *_not_run(chapter)]


def _settings(chapter: Chapter) -> list[Block]:
    hashes = {
        run.tags.get("engram.data_sha256", "")[:12]
        for key, run in chapter.selection.cells.items()
        if not key.variant
    }
    text = (
        f"k = {chapter.k}, reader {chapter.reader}, embedder {chapter.embedder}, "
        f"data {' '.join(sorted(hashes)) or '(no run)'}. Fractions with 95% intervals in brackets; "
        "SD and range over the seeds. The last column is a part's cost (full - without it), its gain "
        "alone, or what a row has over Coral (on another index: over itself, exact), paired by question."
    )
    blocks: list[Block] = [Paragraph(text)]
    code = {run.tags.get("engram.code_sha256", "")[:12] for run in chapter.selection.cells.values()}
    if len(code) > 1:
        blocks.append(
            Paragraph(
                f"These runs come from {len(code)} versions of the code ({', '.join(sorted(code))}): "
                "run them again with one before you rely on a difference."
            )
        )
    if chapter.dataset.startswith(("fc_", "synthetic")):
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


def _published(chapter: Chapter) -> list[Block]:
    if not chapter.figures:
        return []
    blocks: list[Block] = [
        Heading("Published figures (indicative)", 2),
        Paragraph(
            "Others' figures under their own settings, which differ from ours; never subtracted from "
            "a measured figure nor tested against one."
        ),
    ]
    for source, group in groupby(chapter.figures, lambda figure: figure.table.citation):
        shown = list(group)
        table = shown[0].table
        settings = [f"{name.replace('_', ' ')}: {text}" for name, text in table.setting.items()]
        blocks += [
            Heading(source, 3),
            Grid(
                ("row", "metric", "value", ""),
                [
                    (f.name, f.metric, _printed(f), "reproduced" if _reproduced(f, chapter) else "")
                    for f in shown
                ],
            ),
            Bullets([*settings, table.remark]),
        ]
    return blocks


def _reproduced(figure: Figure, chapter: Chapter) -> bool:
    """Whether the row of ours that is the same method gives the figure, as far as it is printed."""
    ours = figure.table.same_as.get(figure.name)
    if figure.metric == "subem":  # of another reader
        return False
    return any(
        isinstance(row.value, Estimate) and abs(row.value.value - figure.value) < PRINTED_TO
        for table in chapter.tables
        if table.metric == figure.metric
        for row in table.rows
        if row.label == ours
    )


def _left_out(chapter: Chapter) -> list[Block]:
    """Runs by reason, and declared variants that stand in no row."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for run, reason in chapter.selection.left_out:
        kind, _, newer = reason.partition(" by ")
        by_reason[kind].append(run.run_id[:8] + (f" by {newer[:8]}" if newer else ""))
    for key, run in chapter.selection.cells.items():
        if key.variant and key.variant not in chapter.shown_variants:
            by_reason[f"variant {key.variant}, in no row here"].append(run.run_id[:8])
    if not by_reason:
        return []
    items = [f"{kind}: {len(ids)} ({_some(ids)})" for kind, ids in sorted(by_reason.items())]
    return [Heading("Runs left out", 2), Bullets(items)]


def _some(ids: Sequence[str]) -> str:
    """The first few; runs.json has them all."""
    more = len(ids) - SHOWN_IDS
    return ", ".join(ids[:SHOWN_IDS]) + (f" and {more} more, see runs.json" if more > 0 else "")


def _not_run(chapter: Chapter) -> list[Block]:
    blocks: list[Block] = []
    if not chapter.tables:
        blocks.append(Paragraph("No complete run fits this selection."))
    labels = [row.label for table in chapter.tables[:1] for row in table.rows if _missing(row)]
    labels += [
        f"{title}: not run ({how})"
        for title, how in chapter.sections.items()
        if isinstance(how, str)
    ]
    if labels:
        blocks.append(Bullets(labels))
    return [Heading("Not run", 2), *blocks] if blocks else []


def _missing(row: Row) -> bool:
    return NOT_RUN in (row.value, row.contrast if row.value == NOT_APPLICABLE else None)


def _printed(figure: Figure) -> str:
    return f"{figure.value:.1f} %" if figure.unit == "percent" else f"{figure.value:.3f}"
