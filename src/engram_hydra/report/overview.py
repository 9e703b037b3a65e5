"""The whole table: every row against every data set and metric, each cell with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from engram_hydra.report.ablation_table import Row, Table
from engram_hydra.report.chapter import BY_ITSELF, Chapter, few_questions
from engram_hydra.report.contrasts import SUBEM
from engram_hydra.report.document import Block, Detail, Grid, Heading, Paragraph
from engram_hydra.report.estimates import NOT_APPLICABLE, NOT_RUN, Estimate, fraction
from engram_hydra.report.not_run import unrun_coral
from engram_hydra.report.section import Entry, Section

COLUMNS = 3  # metrics beside one another, so that a grid fits a terminal


def overview_section(chapters: Sequence[Chapter]) -> Section | None:
    """One grid for each data set, or several where it has many metrics; None if nothing was measured.

    A row that is a difference (a part's gain alone) stands with its sign.
    """
    measured = [chapter for chapter in chapters if chapter.tables]
    if not measured:
        return None
    blocks: list[Block] = [
        Heading("The table", 1),
        Paragraph(
            "Fractions with 95% intervals over n questions; means over the seeds where there are "
            "several. Rows with a sign are gains, paired by question. Costs, gains and notes of each "
            "row stand in the chapter of its data set."
        ),
    ]
    entries = []
    for chapter in measured:
        blocks.append(Heading(chapter.dataset, 2))
        blocks += _grids(chapter)
        entries += [
            Entry(
                {"dataset": chapter.dataset, "metric": table.metric, "row": row.label},
                _shown(row),
                row.spread,
                row.notes,
            )
            for table in chapter.tables
            for row in table.rows
        ]
    return Section("table", blocks, entries)


def standing_row(chapters: Sequence[Chapter]) -> list[Paragraph]:
    """What Coral costs where nothing displaces anything: LongMemEval, against Dense, if it has runs."""
    for name in ("longmemeval_s", "longmemeval_s_pilot"):
        for chapter in chapters:
            if chapter.dataset == name and chapter.tables:
                parts = [
                    f"{table.metric} {_of(table, 'Coral (as shipped)')} against "
                    f"{_of(table, 'Dense')}"
                    for table in chapter.tables
                ]
                return [Paragraph(f"What Coral costs on {name} against Dense: {'; '.join(parts)}.")]
    return []


def _of(table: Table, label: str) -> str:
    return next((fraction(row.value) for row in table.rows if row.label == label), NOT_RUN)


def _grids(chapter: Chapter) -> list[Block]:
    """Folded where they decide nothing: of few questions, and of a reader that resolves conflicts."""
    if few := few_questions(chapter):
        folded = _side_by_side(chapter.tables)
        return [few, Detail(f"The table of {chapter.dataset}", folded, ["table.csv"])]
    aside = [t for t in chapter.tables if t.metric == SUBEM and chapter.reader == BY_ITSELF]
    blocks = _side_by_side([table for table in chapter.tables if table not in aside])
    if aside:
        title = f"{SUBEM} of {chapter.dataset}, resolved by the reader {BY_ITSELF}"
        blocks.append(Detail(title, _side_by_side(aside), ["table.csv"]))
    return blocks


def _side_by_side(tables: Sequence[Table]) -> list[Block]:
    return [_grid(tables[at : at + COLUMNS]) for at in range(0, len(tables), COLUMNS)]


def _grid(tables: Sequence[Table]) -> Grid:
    header = ["row", "seeds", *(table.metric for table in tables)]
    rows = [["n", "", *map(_size, tables)]]
    hidden = unrun_coral(tables)
    rows += [
        [same[0].label, _seeds(same), *(fraction(_shown(row), _sign(row)) for row in same)]
        for same in zip(*(table.rows for table in tables), strict=True)
        if same[0].label not in hidden
    ]
    return Grid(header, rows)


def _size(table: Table) -> str:
    """How many questions the rows have; they differ only where runs of other data stand together."""
    sizes = sorted({row.value.n for row in table.rows if isinstance(row.value, Estimate)})
    return "-".join(map(str, dict.fromkeys((sizes[0], sizes[-1])))) if sizes else ""


def _seeds(same: Sequence[Row]) -> str:
    return next((row.spread.seeds for row in same if row.spread.seeds), "")


def _is_difference(row: Row) -> bool:
    return row.value == NOT_APPLICABLE and bool(row.contrast_is)


def _shown(row: Row) -> Estimate | str:
    return row.contrast if _is_difference(row) else row.value


def _sign(row: Row) -> str:
    return "+" if _is_difference(row) else ""
