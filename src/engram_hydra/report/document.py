"""A document as a sequence of blocks: what it says; here also as Markdown and as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any

from engram_hydra.report.markdown_text import escaped, visible

WIDTH = 100  # columns of a text, unless said otherwise
NARROWEST = 16  # columns that the names of rows keep


@dataclass(frozen=True)
class Heading:
    text: str
    level: int  # 1 is the document's own


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Caution:
    """What must be read before what follows."""

    text: str


@dataclass(frozen=True)
class Bullets:
    items: Sequence[str]


@dataclass(frozen=True)
class Grid:
    """A table of strings; the first column is set flush left, the others flush right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Verdict:
    """What a statement committed beforehand came to.

    ``outcome`` is ``supported``, ``refuted``, ``undecided``, ``not applicable`` or ``not run``,
    perhaps with a remark in brackets, as in ``undecided (ties)``.
    """

    id: str
    statement: str
    outcome: str
    why: str
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A plot as SVG and the numbers in it as CSV; ``name`` is the stem of both files."""

    name: str
    caption: str
    alt: str
    svg: str
    csv: str


@dataclass(frozen=True)
class Drilldown:
    """Every question of a data set, with what each method returned and scored.

    A question is ``{"id", "kind", "question", "gold": [text], "lost_by": [label], "answers":
    {method: {"metrics": {name: value}, "items": [{"id", "text", "gold", "stale"}],
    "answers": [text]}}}``; items are in the order in which the method ranked them.
    """

    dataset: str
    metrics: Sequence[str]
    methods: Sequence[str]
    questions: Sequence[Mapping[str, Any]]

    def summary(self) -> str:
        """One line for documents that can not be searched."""
        return (
            f"{self.dataset}: the page lists all {len(self.questions)} questions, with what each "
            f"of {len(self.methods)} methods returned."
        )


@dataclass(frozen=True)
class Detail:
    """What few readers want: folded under ``title`` on the page, elsewhere one line.

    ``files`` are the files beside the report that hold its numbers.
    """

    title: str
    blocks: Sequence[Block]
    files: Sequence[str] = ()

    def summary(self) -> str:
        """Where it is, for documents that can't fold."""
        files = f", numbers in {', '.join(self.files)}" if self.files else ""
        return f"{self.title}: in report.html{files}."


Block = Heading | Paragraph | Caution | Bullets | Grid | Verdict | Picture | Drilldown | Detail


def to_markdown(blocks: Iterable[Block]) -> str:
    """The document as GitHub-flavoured Markdown, with its pipe tables aligned; all text is
    escaped.

    What pages fold stands as a list of where it is, those that follow each other in one.
    """
    parts = []
    for folded, group in groupby(blocks, lambda block: isinstance(block, Detail)):
        of_group = map(_markdown, group)
        parts.append(
            "\n".join(f"- {line}" for line in of_group) if folded else "\n\n".join(of_group)
        )
    return "\n\n".join(parts) + "\n"


def to_text(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """The document as plain text of so many columns, if its tables' numbers leave room for names."""
    return visible("\n\n".join(_text(block, width) for block in blocks) + "\n")


def nested(blocks: Iterable[Block]) -> list[Block]:
    """The same blocks as a part of a greater document: their headings one level down."""
    return [_nested(block) for block in blocks]


def _nested(block: Block) -> Block:
    match block:
        case Heading(_, level):
            return replace(block, level=level + 1)
        case Detail(_, blocks):
            return replace(block, blocks=nested(blocks))
    return block


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escaped(text)}"
        case Paragraph(text):
            return escaped(text)
        case Caution(text):
            return f"> **Warning.** {escaped(text)}"
        case Bullets(items):
            return "\n".join(f"- {escaped(item)}" for item in items)
        case Grid(header, rows):
            cells = [[escaped(c).replace("|", "\\|") for c in row] for row in (header, *rows)]
            widths = [max(3, *map(len, column)) for column in zip_longest(*cells, fillvalue="")]
            rule = [f"{'-' * (width - 1)}{':' if n else '-'}" for n, width in enumerate(widths)]
            lines = [_aligned(row, widths) for row in cells]
            return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))
        case Verdict(id, statement, outcome, why, remarks):
            lead = f"**{escaped(id)}: {escaped(outcome)}.** {escaped(statement)} {escaped(why)}"
            bullets = [f"- {escaped(text)}" for text in remarks]
            return "\n".join([lead, *([""] if bullets else []), *bullets])
        case Picture(name, caption, alt):
            shown = escaped(alt.replace("[", "(").replace("]", ")"))  # brackets would end it
            return f"![{shown}]({name}.svg) {escaped(caption)} ([data]({name}.csv))"
        case Drilldown() | Detail():
            return escaped(block.summary())


def _text(block: Block, width: int) -> str:
    match block:
        case Heading(text, level):
            return f"{text}\n{'=-~.'[level - 1] * min(len(text), width)}"
        case Paragraph(text):
            return textwrap.fill(text, width)
        case Caution(text):
            return textwrap.fill(f"! Warning. {text}", width, subsequent_indent="! ")
        case Bullets(items):
            return "\n".join(
                textwrap.fill(f"- {item}", width, subsequent_indent="  ") for item in items
            )
        case Grid():
            return _text_grid(block, width)
        case Verdict(id, statement, outcome, why, remarks):
            return "\n".join(
                [
                    textwrap.fill(f"{id}: {outcome}. {statement}", width, subsequent_indent="  "),
                    *(
                        textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ")
                        for line in (why, *remarks)
                    ),
                ]
            )
        case Picture(name, caption):
            return textwrap.fill(f"{caption} ({name}.svg, data in {name}.csv)", width)
        case Drilldown() | Detail():
            return textwrap.fill(block.summary(), width)


def _text_grid(grid: Grid, width: int) -> str:
    """Columns set side by side; a name that finds no room goes on in the next line."""
    widths = [max(map(len, column)) for column in zip(grid.header, *grid.rows, strict=True)]
    room = width - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(NARROWEST, room))
    lines = [_aligned(grid.header, widths), ["-" * column for column in widths]]
    for first, *others in grid.rows:
        name, *rest = textwrap.wrap(first, widths[0], subsequent_indent="  ") or [""]
        lines += [_aligned((name, *others), widths), *([more] for more in rest)]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = row
    return [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
