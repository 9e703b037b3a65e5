"""A document as a sequence of blocks: what it says; here also as Markdown and as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from engram_hydra.report.markdown_text import escaped, visible

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


Block = Heading | Paragraph | Bullets | Grid | Verdict | Picture | Drilldown


def to_markdown(blocks: Iterable[Block]) -> str:
    """The document as GitHub-flavoured Markdown, with its pipe tables aligned; all text is escaped."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def to_text(blocks: Iterable[Block]) -> str:
    """The document for a terminal, at most 100 columns wide; a long row name is cut short."""
    return visible("\n\n".join(map(_text, blocks)) + "\n")


def nested(blocks: Iterable[Block]) -> list[Block]:
    """The same blocks as a part of a greater document: their headings one level down."""
    return [replace(b, level=b.level + 1) if isinstance(b, Heading) else b for b in blocks]


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escaped(text)}"
        case Paragraph(text):
            return escaped(text)
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
            return f"![{shown}]({name}.svg)\n\n{escaped(caption)} ([data]({name}.csv))"
        case Drilldown():
            return escaped(block.summary())


def _text(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{text}\n{'=-~.'[level - 1] * min(len(text), WIDTH)}"
        case Paragraph(text):
            return textwrap.fill(text, WIDTH)
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
        case Verdict(id, statement, outcome, why, remarks):
            return "\n".join(
                [
                    textwrap.fill(f"{id}: {outcome}. {statement}", WIDTH, subsequent_indent="  "),
                    *(
                        textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="  ")
                        for line in (why, *remarks)
                    ),
                ]
            )
        case Picture(name, caption):
            return textwrap.fill(f"{caption} ({name}.svg, data in {name}.csv)", WIDTH)
        case Drilldown():
            return textwrap.fill(block.summary(), WIDTH)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = row
    return [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
