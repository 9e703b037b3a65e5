"""A document of headings, paragraphs, lists and grids, as Markdown or as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

WIDTH = 100  # columns of a terminal


@dataclass(frozen=True)
class Heading:
    text: str
    level: int  # 1 is the document's own


@dataclass(frozen=True)
class Paragraph:
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
    """How a statement came out: ``supported``, ``refuted``, ``undecided``, ``not applicable``, ``not run``."""

    id: str
    statement: str
    outcome: str
    why: str
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing with its data; ``name`` is that of its files, without the ending."""

    name: str
    caption: str
    alt: str  # what it shows, for those who can't see it
    svg: str
    csv: str


@dataclass(frozen=True)
class Drilldown:
    """Each question with what every method made of it; only a page shows it.

    A question holds ``id``, ``kind``, ``question``, ``gold`` (answers), ``lost_by`` (labels) and
    ``answers``: by the label of a method its ``metrics``, ``items`` (``id``, ``text``, ``gold``,
    ``stale``) and ``answers``.
    """

    dataset: str
    metrics: Sequence[str]
    methods: Sequence[str]
    questions: Sequence[Mapping[str, Any]]


Block = Heading | Paragraph | Bullets | Grid | Verdict | Picture | Drilldown


def to_markdown(blocks: Iterable[Block]) -> str:
    """The document as GitHub-flavoured Markdown, with its pipe tables aligned."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def to_text(blocks: Iterable[Block]) -> str:
    """The document for a terminal, at most 100 columns wide; a long row name is cut short."""
    return "\n\n".join(map(_text, blocks)) + "\n"


def nested(blocks: Iterable[Block]) -> list[Block]:
    """The same blocks as a part of a greater document: their headings one level down."""
    return [replace(b, level=b.level + 1) if isinstance(b, Heading) else b for b in blocks]


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Bullets(items):
            return "\n".join(f"- {item}" for item in items)
        case Verdict(id_, statement, outcome, why, remarks):
            tail = f" *{'; '.join(remarks)}.*" if remarks else ""
            return f"**{id_}: {outcome}.** {statement}. {why}{tail}"
        case Picture(name, caption, alt, _, _):
            return f"![{alt}]({name}.svg)\n\n{caption} ([data]({name}.csv))"
        case Drilldown():
            return pointer(block)
        case Grid(header, rows):
            cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
            widths = [max(3, *map(len, column)) for column in zip_longest(*cells, fillvalue="")]
            rule = [f"{'-' * (width - 1)}{':' if n else '-'}" for n, width in enumerate(widths)]
            lines = [_aligned(row, widths) for row in cells]
            return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))


def _text(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{text}\n{'=-~.'[level - 1] * min(len(text), WIDTH)}"
        case Paragraph(text):
            return textwrap.fill(text, WIDTH)
        case Verdict(id_, statement, outcome, why, remarks):
            words = [f"{id_}: {outcome.upper()}. {statement}. {why}", *remarks]
            return "\n".join(
                textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent="    ")
                for line, indent in zip(words, ["", *["    "] * len(remarks)], strict=True)
            )
        case Picture(name, caption, _, _, _):
            return textwrap.fill(f"{caption} ({name}.svg, its data in {name}.csv)", WIDTH)
        case Drilldown():
            return pointer(block)
        case Bullets(items):
            return "\n".join(
                textwrap.fill(f"- {item}", WIDTH, subsequent_indent="  ") for item in items
            )
        case Grid(header, rows):
            widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
            widths[0] = max(8, min(widths[0], WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)))
            lines = [
                _aligned((_cut(first, widths[0]), *others), widths)
                for first, *others in (header, *rows)
            ]
            lines.insert(1, ["-" * width for width in widths])
            return "\n".join("  ".join(line).rstrip() for line in lines)


def pointer(block: Drilldown) -> str:
    """Where the questions are to be seen."""
    return (
        f"The {len(block.questions)} questions of {block.dataset} stand one by one in report.html."
    )


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = row
    return [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
