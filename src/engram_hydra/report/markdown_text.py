"""Any text as Markdown that shows it, and as a line for a terminal."""

from __future__ import annotations

import re
import unicodedata

# An underscore within a word is no mark, and brackets make a link only with what follows them.
MARKS = re.compile(r"[\\`*~<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])", re.ASCII)
BLOCK = re.compile(r"#|>|[-+](?=\s|-|$)")  # begins a heading, a quotation, a list or a rule
NUMBERED = re.compile(r"\d{1,9}([.)])(?=\s|$)")


def escaped(text: str) -> str:
    """The text on one line, with nothing in it that Markdown would act on: no mark, link or HTML.

    White space is one space; characters that can't be seen are replaced as in ``visible``.
    """
    line = MARKS.sub(r"\\\g<0>", visible(" ".join(text.split())))
    if number := NUMBERED.match(line):
        return f"{line[: number.start(1)]}\\{line[number.start(1) :]}"
    return f"\\{line}" if BLOCK.match(line) else line


def visible(text: str) -> str:
    """The text with � for what moves a terminal's cursor, changes its colours or turns text round."""
    return "".join(
        "�" if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text
    )
