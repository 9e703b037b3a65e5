"""A document as LaTeX: whole, or as a fragment for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from engram_hydra.report.document import (
    Block,
    Bullets,
    Caution,
    Detail,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
)
from engram_hydra.report.latex_text import escaped

LINE = 112  # characters of a table's size on a line of the page
GAP = 2  # characters between two columns
NARROWEST = 4
HEADINGS = ("section", "subsection", "subsubsection", "paragraph")
PREAMBLE = r"""% Needs texlive-latex-base and texlive-latex-recommended, no more; pdflatex sets it.
\documentclass[10pt,a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{array,booktabs,longtable}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt}
\emergencystretch=3em
\begin{document}
"""
NEEDS = "% \\usepackage{array,booktabs,longtable}\n"


def to_latex(blocks: Iterable[Block]) -> str:
    """The document as a LaTeX file of its own, in ASCII; pdflatex takes it in two passes."""
    return f"{PREAMBLE}\n{_body(blocks)}\n\\end{{document}}\n"


def to_fragment(blocks: Iterable[Block]) -> str:
    r"""The blocks without a preamble, for ``\input`` in a paper; a comment names what they need."""
    return f"{NEEDS}{_body(blocks)}\n"


def _body(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, map(_latex, blocks)))


def _latex(block: Block) -> str:
    match block:
        case Heading(text, level):
            return rf"\{HEADINGS[min(level, len(HEADINGS)) - 1]}*{{{escaped(text)}}}"
        case Paragraph(text):
            return escaped(text)
        case Caution(text):
            return (
                r"\fbox{\parbox{0.95\linewidth}{" + rf"\textbf{{Warning.}} {escaped(text)}" + "}}"
            )
        case Bullets(items):
            return _bullets(items)
        case Grid():
            return _table(block)
        case Verdict(id_, statement, outcome, why, remarks):
            lead = (
                rf"\textbf{{{escaped(id_)}: {escaped(outcome)}.}} {escaped(_sentence(statement))}"
            )
            return "\n".join(filter(None, [f"{lead} {escaped(why)}", _bullets(remarks)]))
        case Picture(name, caption):
            return escaped(f"{_sentence(caption)} See {name}.svg, its data in {name}.csv.")
        case Drilldown(dataset, _, _, questions):
            return escaped(
                f"The {len(questions)} questions of {dataset} stand one by one in report.html."
            )
        case Detail():
            return escaped(block.summary())


def _sentence(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?")) else f"{text}."


def _bullets(items: Sequence[str]) -> str:
    if not items:  # an empty list is an error to LaTeX
        return ""
    lines = [rf"  \item {escaped(item)}" for item in items]
    return "\n".join([r"\begin{itemize}", *lines, r"\end{itemize}"])


def _table(grid: Grid) -> str:
    """A table that may go on over pages; the first column flush left, the others flush right."""
    rows = [[escaped(first), *map(_number, others)] for first, *others in grid.rows]
    columns = zip(map(_bold_width, grid.header), *_lengths(grid.rows), strict=True)
    widths = _widths(list(map(max, columns)))
    head = " & ".join(rf"\textbf{{{escaped(cell)}}}" for cell in grid.header)
    return "\n".join(
        [
            r"{\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"\begin{{longtable}}{{@{{}}{_alignment(widths)}@{{}}}}",
            rf"\toprule {head} \\ \midrule \endhead",
            r"\bottomrule \endlastfoot",
            *(rf"{' & '.join(row)} \\" for row in rows),
            r"\end{longtable}}",
        ]
    )


def _number(cell: str) -> str:
    """A cell whose minus signs are as wide as its plus signs; hyphens between numbers stay."""
    return escaped(re.sub(r"(?<![\w.-])-(?=\.?\d)", "−", cell))


def _lengths(rows: Iterable[Sequence[str]]) -> list[list[int]]:
    return [[len(cell) for cell in row] for row in rows]


def _bold_width(cell: str) -> int:
    return math.ceil(1.15 * len(cell))


def _widths(natural: Sequence[int]) -> list[int | None]:
    """Characters for the columns that must wrap to fit a line, the longest ones; None for the others."""
    room = LINE - GAP * (len(natural) - 1)
    cap = max(natural, default=0)
    while cap > NARROWEST and sum(min(width, cap) for width in natural) > room:
        cap -= 1
    return [cap if width > cap else None for width in natural]


def _alignment(widths: Sequence[int | None]) -> str:
    """The column types: ``l`` or ``r``, or a paragraph as wide as its share of the line."""
    return "".join(
        side
        if width is None
        else rf">{{\{ragged}\arraybackslash}}p{{{width / LINE:.3f}\linewidth}}"
        for width, (side, ragged) in zip(
            widths, [("l", "raggedright"), *[("r", "raggedleft")] * (len(widths) - 1)], strict=True
        )
    )
