"""The report: one document over all its data sets, which renderers show in their ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram_hydra.report.ablation_table import CORAL
from engram_hydra.report.chapter import Chapter, chapter_blocks
from engram_hydra.report.document import (
    Block,
    Bullets,
    Caution,
    Detail,
    Heading,
    Paragraph,
    Picture,
    nested,
)
from engram_hydra.report.main_findings import main_findings
from engram_hydra.report.methods import methods
from engram_hydra.report.overview import overview_section, standing_row
from engram_hydra.report.provenance import provenance_blocks
from engram_hydra.report.section import Section
from engram_hydra.report.statements import Statements
from engram_hydra.report.verdict_section import verdict_section
from engram_hydra.report.verdicts import Verdict
from engram_hydra.report.when_stated import stated_later

NO_RUNS = (
    "There are no runs yet: begin with python -m engram_hydra +experiment=ablations, then "
    "+experiment=anchors."
)

NO_CORAL = (
    "Verdicts: none is decided, for all that was stated is stated of Coral, which was not run"
)


@dataclass(frozen=True)
class Report:
    """What was stated before running and how it came out, the table, and a chapter a data set.

    ``sections`` are those across data sets, each by its title, or how to get its runs. ``made_by`` are
    facts on the report itself, by name.
    """

    chapters: Sequence[Chapter]
    verdicts: Sequence[Verdict]
    statements: Statements
    sections: Mapping[str, Section | str]
    pictures: Sequence[Picture]
    made_by: Mapping[str, str]

    @property
    def title(self) -> str:
        names = [chapter.dataset for chapter in self.chapters]
        return f"Engram Hydra: {', '.join(names) or 'no runs'}"

    @property
    def warnings(self) -> list[str]:
        """What must be read first, where there are verdicts to read."""
        return list(filter(None, [stated_later(self.verdicts)])) if self.has_coral else []

    @property
    def main_findings(self) -> list[str]:
        """A few sentences that can be quoted."""
        return main_findings(self.chapters, self.verdicts, self.statements)

    @property
    def has_coral(self) -> bool:
        """Whether any run of Coral stands in the report: all that was stated is stated of it."""
        return any(key.method == CORAL.method for c in self.chapters for key in c.selection.cells)

    def all_sections(self) -> list[tuple[str, Section]]:
        """Every section that was made, with its data set; empty for those across data sets."""
        table = overview_section(self.chapters)
        found = [("", verdict_section(self.verdicts, self.statements))]
        found += [("", table)] if table else []
        found += [("", s) for s in self.sections.values() if isinstance(s, Section)]
        for chapter in self.chapters:
            found += [
                (chapter.dataset, s) for s in chapter.sections.values() if isinstance(s, Section)
            ]
        return found

    def all_pictures(self) -> list[Picture]:
        return [*self.pictures, *(p for chapter in self.chapters for p in chapter.pictures)]


def summary(report: Report) -> list[Block]:
    """Main findings, verdicts, table and methods: what stands before the chapters."""
    table = overview_section(report.chapters)
    verdicts = verdict_section(report.verdicts, report.statements)
    blocks: list[Block] = [
        Heading(report.title, 1),
        *map(Caution, report.warnings),
    ]
    if report.has_coral:
        blocks += [
            Heading("Main findings", 2),
            Paragraph(
                "Computed from the verdicts and sections below; each 95% interval is for itself."
            ),
            Bullets(report.main_findings),
            *verdicts.blocks,
        ]
    elif report.chapters:
        blocks.append(Detail(NO_CORAL, verdicts.blocks, ["verdicts.csv"]))
    if table:
        blocks += [*nested(table.blocks), *standing_row(report.chapters)]
    return [*blocks, Heading("Methods", 2), methods(report.statements)]


def document(report: Report) -> list[Block]:
    """The whole report, the main findings first, then the verdicts."""
    blocks = summary(report)
    for section in report.sections.values():
        blocks += nested(section.blocks) if isinstance(section, Section) else []
    blocks += report.pictures
    for chapter in report.chapters:
        blocks += nested(chapter_blocks(chapter))
    not_run = [f"{title}: {how}" for title, how in report.sections.items() if isinstance(how, str)]
    if not_run:
        blocks += [Heading("Not here, across data sets", 2), Bullets(not_run)]
    if not report.chapters:
        blocks.append(Paragraph(NO_RUNS))
    return [*blocks, *nested(provenance_blocks(report.chapters, report.made_by))]
