"""A document as LaTeX: compiles by itself with pdflatex, and its tables go into a paper as they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from engram_hydra.report.document import (
    Block,
    Bullets,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
)

HEAD = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{textcomp}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\LTleft}{0pt}
\setlength{\tabcolsep}{4pt}
\sloppy
\begin{document}
"""
TAIL = "\\end{document}\n"
SECTIONS = ("section", "subsection", "subsubsection", "paragraph")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # or two would be drawn as one long one
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "−": r"\ensuremath{-}",
    "±": r"\textpm{}",
    "×": r"\texttimes{}",
    "…": r"\ldots{}",
    "’": r"\textquoteright{}",
    "‘": r"\textquoteleft{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
}
# What LaTeX would take for an argument if a cell or an item began with it.
GUARDED = ("[", "*")


def to_latex(blocks: Iterable[Block]) -> str:
    """The document, complete. Letters that pdflatex can't draw lose their marks, or stand as ``?``."""
    return HEAD + "\n".join(map(_block, blocks)) + TAIL


def escape(text: str) -> str:
    """``text`` as it is to be read, with nothing in it that LaTeX would obey."""
    return "".join(map(_character, unicodedata.normalize("NFC", text)))


def _character(char: str) -> str:
    if char in SPECIAL:
        return SPECIAL[char]
    if char in "\n\t\r":
        return " "
    if " " <= char <= "~" or "À" <= char <= "ÿ":
        return char
    plain = unicodedata.normalize("NFKD", char)
    kept = "".join(c for c in plain if " " <= c <= "~")
    return "".join(SPECIAL.get(c, c) for c in kept) or ("" if _is_control(char) else "?")


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Mn")


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"\\{SECTIONS[min(level, len(SECTIONS)) - 1]}*{{{escape(text)}}}\n"
        case Paragraph(text):
            return f"{_guarded(text)}\n"
        case Bullets(items):
            listed = "\n".join(f"\\item {_guarded(item)}" for item in items)
            return f"\\begin{{itemize}}\n{listed}\n\\end{{itemize}}\n" if items else ""
        case Grid():
            return _table(block)
        case Verdict(id_, statement, outcome, why, remarks):
            tail = f" \\emph{{{escape('; '.join(remarks))}.}}" if remarks else ""
            head = f"\\textbf{{{escape(id_)}: {escape(outcome)}.}}"
            return f"{head} {escape(statement)} {escape(why)}{tail}\n"
        case Picture(name, caption, _, _, _):
            return f"{_guarded(caption)} \\texttt{{{escape(name)}.svg}}\n"
        case Drilldown():
            return f"{_guarded(block.summary())}\n"


def _table(grid: Grid) -> str:
    """Numbers flush right, the first column in lines of its own width; it may go over pages."""
    columns = r"p{70mm}" + "r" * (len(grid.header) - 1)
    lines = [
        rf"\begin{{longtable}}{{{columns}}}",
        r"\toprule",
        _row(grid.header),
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *map(_row, grid.rows),
        r"\end{longtable}",
    ]
    return "{\\small\n" + "\n".join(lines) + "\n}\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(_guarded, cells)) + r" \\"


def _guarded(text: str) -> str:
    return f"{{}}{escape(text)}" if text.lstrip().startswith(GUARDED) else escape(text)
