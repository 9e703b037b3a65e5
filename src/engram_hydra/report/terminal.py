"""What a terminal shows: main findings, verdicts in a line each, and one ablation table a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engram_hydra.report.ablation_table import Row, Table
from engram_hydra.report.ablation_tests import KEY
from engram_hydra.report.accounting import FOR_DIRTY
from engram_hydra.report.cells import DIRTY
from engram_hydra.report.chapter import Chapter, account_of, few_blocks, is_missing
from engram_hydra.report.document import Block, Bullets, Caution, Grid, Heading, Paragraph, to_text
from engram_hydra.report.estimates import Estimate, fraction
from engram_hydra.report.report import NO_RUNS, Report
from engram_hydra.report.verdicts import PRIMARY, Verdict

COLUMNS = 80


def to_terminal(report: Report) -> str:
    """The results in short, of one data set or many, for 80 columns."""
    return to_text(terminal_blocks(report), COLUMNS)


def terminal_blocks(report: Report) -> list[Block]:
    """Findings and verdicts where any of them has runs; then a table for each data set."""
    blocks: list[Block] = [Heading(report.title, 1), *map(Caution, report.warnings)]
    if any(verdict.runs for verdict in report.verdicts):
        blocks.append(Bullets(report.main_findings))
        blocks += _verdicts(report.verdicts)
    for chapter in report.chapters:
        blocks += _table(report, chapter)
    return blocks if report.chapters else [*blocks, Paragraph(NO_RUNS)]


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[Block]:
    """The primary ones in a line each, the others by outcome."""
    first = [verdict for verdict in verdicts if verdict.role == PRIMARY]
    place = f"{first[0].dataset}, {first[0].metric}"
    yield Heading(f"Verdicts ({place})", 2)
    yield Bullets([f"{one.id} {one.word}: {one.statement}" for one in first])


def _table(report: Report, chapter: Chapter) -> list[Block]:
    """Costs and gains by the metric that was stated for the data set, else by its first."""
    if not chapter.tables:
        nothing = Paragraph(f"No complete run fits this selection. {_runs(chapter)}")
        return [Heading(chapter.dataset, 2), nothing]
    table = _stated(report, chapter)
    if few := few_blocks(chapter, [table]):
        return [Heading(chapter.dataset, 2), *few, Paragraph(_runs(chapter))]
    rows = [row for row in table.rows if not is_missing(row)]
    sizes = sorted({row.value.n for row in rows if isinstance(row.value, Estimate)})
    n = "-".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    blocks: list[Block] = [
        Heading(f"{chapter.dataset}: {table.metric}, n = {n}", 2),
        Grid(
            ("row", "seeds", "mean [95%]", "cost or gain [95%]", "Holm"),
            [_cells(row) for row in rows],
        ),
    ]
    if any(row.outcome for row in rows):
        blocks.append(Paragraph(f"{KEY}."))
    others = [other.metric for other in chapter.tables if other is not table]
    absent = [row.label for row in table.rows if is_missing(row)]
    said = [f"Not run: {'; '.join(absent)}."] if absent else []
    said += [f"Also in the report: {', '.join(others)}."] if others else []
    return [*blocks, Paragraph(" ".join([*said, _runs(chapter)]))]


def _runs(chapter: Chapter) -> str:
    """How the runs were selected, how many were taken, and why the others were not."""
    told = account_of(chapter)
    ignored = [f"{reason} {len(ids)}" for reason, ids in told.ignored.items()]
    hint = f" {FOR_DIRTY}" if DIRTY in told.ignored else ""
    more = f"; ignored: {', '.join(ignored)}.{hint}" if ignored else "."
    return f"k = {chapter.k}, reader {chapter.reader}; {told.taken} runs taken{more}"


def _stated(report: Report, chapter: Chapter) -> Table:
    places = (report.statements.primary, *report.statements.secondary)
    stated = [place.metric for place in places if place.dataset == chapter.dataset]
    return next((t for t in chapter.tables if t.metric in stated), chapter.tables[0])


def _cells(row: Row) -> tuple[str, ...]:
    contrast = fraction(row.contrast, "+") if row.contrast_is else ""
    return row.label, row.spread.seeds, fraction(row.value), contrast, row.outcome
