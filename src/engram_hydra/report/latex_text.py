"""Any text as LaTeX that pdflatex sets with its built-in fonts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONG_WORD = 20  # characters; a longer one, such as an id, may be broken
BETWEEN_BREAKS = 8
_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # An argument of \item or of a row's end, where they stand first.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    # Two of them in a row, or one after ? or !, would be set as another sign.
    "-": "-{}",
    "'": "'{}",
    "`": "{}`{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": "{}`{}",
    "’": "'{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\dots{}",
    "§": r"\S{}",
    "©": r"\copyright{}",
    "−": "$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "∅": r"$\emptyset$",
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "µ": r"$\mu$",
    "μ": r"$\mu$",
    "σ": r"$\sigma$",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}


def escaped(text: str) -> str:
    """The text on one line, in ASCII, with nothing in it that TeX would act on.

    White space is one space. A character that the built-in fonts lack stands as its code, such as
    [U+4E2D]; so do control characters and lone surrogates.
    """
    return " ".join(_word(word) for word in text.split())


def _word(word: str) -> str:
    shown = list(_characters(word))
    if len(shown) > LONG_WORD:
        for place in range(BETWEEN_BREAKS, len(shown), BETWEEN_BREAKS):
            shown[place] = rf"\allowbreak{{}}{shown[place]}"
    return "".join(shown)


def _characters(word: str) -> Iterator[str]:
    for character in unicodedata.normalize("NFC", word):
        if character in _SIGNS:
            yield _SIGNS[character]
        elif character.isascii() and character.isprintable():
            yield character
        else:
            yield _accented(character) or f"{{[}}U+{ord(character):04X}{{]}}"


def _accented(character: str) -> str:
    """A letter with an accent as TeX puts it on, or an empty string."""
    base, accent, more, *_ = [*unicodedata.normalize("NFD", character), "", ""]
    if accent not in _ACCENTS or more or not re.fullmatch("[A-Za-z]", base):
        return ""
    letter = rf"\{base}" if base in "ij" and accent != "\u0327" else base
    return rf"\{_ACCENTS[accent]}{{{letter}}}"
