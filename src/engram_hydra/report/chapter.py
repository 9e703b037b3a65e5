"""One data set's chapter of the report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import Table
from engram_hydra.report.ablation_tests import KEY
from engram_hydra.report.accounting import Accounting, account, accounting_blocks
from engram_hydra.report.cells import Selection
from engram_hydra.report.comparisons import Comparison
from engram_hydra.report.contrasts import SUBEM
from engram_hydra.report.document import (
    Block,
    Bullets,
    Detail,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
)
from engram_hydra.report.estimates import Cell, Estimate, fraction
from engram_hydra.report.not_run import is_missing, not_run, nothing_fits
from engram_hydra.report.pair_tests import p_text
from engram_hydra.report.published import Figure
from engram_hydra.report.section import Section, grouped

FEW = 30  # questions: with fewer, no difference below 6 / 30, 20 points, could be shown
PRINTED_TO = 0.0005  # half of the last digit of a published fraction
BY_ITSELF = "newest"  # the reader that resolves conflicts by itself
FOLDED = ("Cost", "Immune response", "Sensitivity")  # sections that say why, not what
SHOWN_PICTURES = ("_forest",)
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
    expected: Mapping[Cell, Sequence[str]]  # the seeds that each standing row needs
    pictures: Sequence[Picture] = ()
    questions: Drilldown | None = None
    compared: Sequence[Comparison] = ()  # the paired ones, in their families


def chapter_blocks(chapter: Chapter) -> list[Block]:
    """Settings, a table for each metric, pictures, sections, published figures, what is missing.

    Of few questions only what can be said of them; the rest is folded.
    """
    body: list[Block] = []
    for table in chapter.tables:
        body += _table(table, chapter.reader)
    body += _pictures(chapter)
    for title, section in chapter.sections.items():
        if isinstance(section, Section):
            body += _section(title, section, chapter.dataset)
    few = few_blocks(chapter, chapter.tables)
    if few:
        files = [f"{chapter.dataset}/*.csv"]
        body = [*few, Detail("All that was computed of these questions", body, files)]
    if chapter.questions:
        body += [Heading("Question by question", 2), chapter.questions]
    return [
        Heading(chapter.dataset, 1),
        *_settings(chapter),
        *body,
        *_published(chapter),
        *accounting_blocks(account_of(chapter)),
        *_not_run(chapter),
    ]


def few_questions(chapter: Chapter) -> Paragraph | None:
    """What so few questions can say, where no table has more than a few."""
    sizes = [
        row.value.n for t in chapter.tables for row in t.rows if isinstance(row.value, Estimate)
    ]
    if not sizes or max(sizes) >= FEW:
        return None
    n = max(sizes)
    least = f"no difference below {600 / n:.0f} points" if n >= 6 else "no difference"
    return Paragraph(
        f"These are {n} questions: {least} could be shown with them, so they are a look at the data "
        "and no evidence."
    )


def few_blocks(chapter: Chapter, tables: Sequence[Table]) -> list[Block]:
    """That sentence, and each row's values in ``tables``; nothing where there are many questions."""
    said = few_questions(chapter)
    if said is None:
        return []
    rows: dict[tuple[str, ...], list[str]] = {}
    for same in zip(*(table.rows for table in tables), strict=True):
        if any(isinstance(row.value, Estimate) for row in same):
            seeds = next((row.spread.seeds for row in same if row.spread.seeds), "")
            values = (seeds, *(fraction(row.value) for row in same))
            rows.setdefault(values, []).append(same[0].label)
    header = ("row", "seeds", *(table.metric for table in tables))
    return [said, Grid(header, [("; ".join(labels), *values) for values, labels in rows.items()])]


def _section(title: str, section: Section, dataset: str) -> list[Block]:
    """A section as it is, or folded if it says why rather than what."""
    if title not in FOLDED:
        return list(section.blocks)
    heading, *inside = section.blocks
    name = heading.text if isinstance(heading, Heading) else title
    return [Detail(name, inside, [f"{dataset}/{section.name}.csv"])]


def _pictures(chapter: Chapter) -> list[Block]:
    """The forest plots, which the tables' differences are easiest read from, and the others folded."""
    pictures = chapter.pictures
    if not pictures:
        return []
    aside = (f"_{SUBEM}_forest",) if chapter.reader == BY_ITSELF else ()
    first = [p for p in pictures if p.name.endswith(SHOWN_PICTURES) and not p.name.endswith(aside)]
    others = [picture for picture in pictures if picture not in first]
    blocks: list[Block] = [Heading("Pictures", 2), *first]
    if others:
        blocks.append(Detail(f"More pictures ({len(others)})", others))
    return blocks


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
    """A table with its notes; one that a reader resolved by itself is folded.

    What was not run is named at the chapter's end, and by ``not run`` in the whole table.
    """
    header = ("row", "mean [95%]", "n", "seeds", "SD", "range", "cost or gain [95%]", "Holm")
    rows = [
        (
            row.label,
            fraction(row.value),
            str(row.value.n) if isinstance(row.value, Estimate) else "",
            row.spread.seeds,
            "" if row.spread.sd is None else f"{row.spread.sd:.3f}",
            "" if row.spread.low is None else f"{row.spread.low:.3f}-{row.spread.high:.3f}",
            fraction(row.contrast, "+") if row.contrast_is else "",
            row.outcome if row.p_holm is None else f"{row.outcome} ({p_text(row.p_holm)})",
        )
        for row in table.rows
        if not is_missing(row)
    ]
    notes = grouped({row.label: row.notes for row in table.rows if not is_missing(row)})
    title, meaning = table.metric, HEADLINES[table.metric]
    if table.metric == SUBEM:
        by_itself = reader == BY_ITSELF
        title = f"subem, {'resolved by the ' if by_itself else ''}reader {reader}"
        meaning += f" {RESOLVED}" if by_itself else ""
    blocks: list[Block] = [Paragraph(meaning), Grid(header, rows)]
    notes = [*([f"{KEY}."] if any(row.outcome for row in table.rows) else []), *notes]
    blocks += [Bullets(notes)] if notes else []
    if table.metric == SUBEM and reader == BY_ITSELF:
        return [Detail(f"{title}: decides nothing about a memory", blocks, ["report.csv"])]
    return [Heading(title, 2), *blocks]


def _published(chapter: Chapter) -> list[Block]:
    """Others' figures, folded: they are beside the point of what was measured here."""
    if not chapter.figures:
        return []
    blocks: list[Block] = [
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
    same = [f"{f.name} ({f.metric})" for f in chapter.figures if _reproduced(f, chapter)]
    title = "Published figures (indicative)"
    title += f"; reproduced here: {', '.join(dict.fromkeys(same))}" if same else ""
    return [Detail(title, blocks, ["report.csv"])]


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


def account_of(chapter: Chapter) -> Accounting:
    """What the chapter's table expected, found, took and ignored."""
    return account(chapter.dataset, chapter.selection, chapter.expected, chapter.shown_variants)


def _not_run(chapter: Chapter) -> list[Block]:
    """In one line the rows and the sections without runs, and how to get the latter."""
    empty = [] if chapter.tables else [nothing_fits(chapter)]
    titles = [title for title, how in chapter.sections.items() if isinstance(how, str)]
    hows = dict.fromkeys(how for how in chapter.sections.values() if isinstance(how, str))
    said = [
        *empty,
        *(text for table in chapter.tables[:1] for text in not_run(table, chapter.selection)),
    ]
    if hows:
        said.append(f"No runs here for: {'; '.join(titles)}. To get them: {'; '.join(hows)}.")
    return [Paragraph(" ".join(said))] if said else []


def _printed(figure: Figure) -> str:
    return f"{figure.value:.1f} %" if figure.unit == "percent" else f"{figure.value:.3f}"
