"""What a terminal shows: main findings, verdicts in a line each, and one ablation table a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engram_hydra.report.ablation_table import CORAL, Row, Table
from engram_hydra.report.ablation_tests import KEY
from engram_hydra.report.accounting import FOR_DIRTY
from engram_hydra.report.cells import DIRTY
from engram_hydra.report.chapter import Chapter, account_of, few_blocks
from engram_hydra.report.document import Block, Bullets, Caution, Grid, Heading, Paragraph, to_text
from engram_hydra.report.estimates import Estimate, fraction, points
from engram_hydra.report.families import ABLATED, whole_name
from engram_hydra.report.not_run import is_missing, not_run, nothing_fits
from engram_hydra.report.pair_tests import p_text
from engram_hydra.report.report import NO_RUNS, Report
from engram_hydra.report.section import Section
from engram_hydra.report.verdicts import PRIMARY, Verdict

COLUMNS = 80


def to_terminal(report: Report) -> str:
    """The results in short, of one data set or many, for 80 columns."""
    return to_text(terminal_blocks(report), COLUMNS)


def terminal_blocks(report: Report) -> list[Block]:
    """Findings and verdicts where any of them has runs; then a table for each data set."""
    blocks: list[Block] = [Heading(report.title, 1), *map(Caution, report.warnings)]
    if report.has_coral and any(verdict.runs for verdict in report.verdicts):
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
        nothing = Paragraph(f"{nothing_fits(chapter)} {_runs(chapter)}")
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
    said = [f"Shown is {_why(report, chapter, table)}."]
    said += not_run(table, chapter.selection)
    said += [f"Also in the report: {', '.join(others)}."] if others else []
    blocks += _own_parts(chapter, table.metric)
    return [*blocks, Paragraph(" ".join([*said, _runs(chapter)]))]


def _own_parts(chapter: Chapter, metric: str) -> list[Block]:
    """How each part of a user's own method was tested; the main findings and verdicts tell of Coral's."""
    section = chapter.sections.get("Paired comparisons")
    entries = section.entries if isinstance(section, Section) else ()
    corals = f": {whole_name({}, CORAL)} {ABLATED}"
    items = [
        f"{entry.keys['row']} - {entry.keys['against']}: {points(entry.value)} points, "
        f"{entry.more['outcome']} (Holm p {p_text(p)})"
        for entry in entries
        if entry.keys["metric"] == metric
        and entry.keys["family"].endswith(ABLATED)
        and not entry.keys["family"].endswith(corals)
        and isinstance(entry.value, Estimate)
        and isinstance(p := entry.more["p_holm"], float)
    ]
    return [Bullets(items)] if items else []


def _runs(chapter: Chapter) -> str:
    """How the runs were selected, how many were taken, and why the others were not."""
    told = account_of(chapter)
    ignored = [f"{reason} {len(ids)}" for reason, ids in told.ignored.items()]
    hint = f" {FOR_DIRTY}" if DIRTY in told.ignored else ""
    more = f"; ignored: {', '.join(ignored)}.{hint}" if ignored else "."
    runs = "1 run" if told.taken == 1 else f"{told.taken} runs"
    return f"k = {chapter.k}, reader {chapter.reader}; {runs} taken{more}"


def _stated(report: Report, chapter: Chapter) -> Table:
    stated = _metrics_stated(report, chapter)
    return next((t for t in chapter.tables if t.metric in stated), chapter.tables[0])


def _why(report: Report, chapter: Chapter, table: Table) -> str:
    """Why of all metrics this one is shown."""
    if table.metric in _metrics_stated(report, chapter):
        return "the metric of the statements on this set"
    return "the first metric, for nothing was stated of this one"


def _metrics_stated(report: Report, chapter: Chapter) -> list[str]:
    places = (report.statements.primary, *report.statements.secondary)
    return [place.metric for place in places if place.dataset == chapter.dataset]


def _cells(row: Row) -> tuple[str, ...]:
    contrast = fraction(row.contrast, "+") if row.contrast_is else ""
    return row.label, row.spread.seeds, fraction(row.value), contrast, row.outcome
