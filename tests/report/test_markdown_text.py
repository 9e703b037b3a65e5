"""A Markdown parser shows every text as it is and makes nothing of it; a terminal does neither."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from engram_hydra.report.document import (
    Block,
    Bullets,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
    to_markdown,
    to_text,
)
from engram_hydra.report.markdown_text import escaped

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def blocks(text: str) -> list[Block]:
    return [
        Heading(f"{text}.", 2),  # a heading may end in signs of its own
        Paragraph(text),
        Bullets([text, text]),
        Grid((text, text), [(text, text), (text, text)]),
        Verdict(text, text, text, text, [text]),
        Picture("name", text, text, "<svg/>", ""),
    ]


def tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(to_markdown(blocks(text))):
        yield token
        yield from token.children or ()


def shape(text: str) -> list[tuple[str, object]]:
    return [
        (token.type, token.attrGet("href") or token.attrGet("src"))
        for token in tokens(text)
        if not token.type.startswith("text")
    ]


HARMFUL = [
    "<script>alert(1)</script>",
    "<!-- hidden",
    "[here](http://evil.example)",
    "![x](http://evil.example/p.png)",
    "[a]: http://evil.example",
    "a]: http://evil.example",
    "<http://evil.example>",
    "[a][b] `code` **bold** __bold__ _it_ ~~gone~~",
    "# head",
    "> said",
    "- item",
    "--- ",
    "+ item",
    "1. item",
    "12) item",
    "a | b | c",
    "a \\| b \\",
    "\\[here](http://evil.example)",
    "&lt;b&gt; &#60; &amp;",
    "line\n\n# another\n\n<b>",
    "    indented",
    "```\ncode",
    "=====",
]


@pytest.mark.parametrize("text", HARMFUL)
def test_no_text_is_more_than_text(text: str) -> None:
    assert shape(text) == shape("x")


@given(st.text(alphabet="<>[]()!*_`~#+-=|\\&;:.1a \n", min_size=1, max_size=16))
@example("[a](b)](c)")
def test_whatever_it_is_made_of(text: str) -> None:
    text = f"a{text}a"  # white space at the ends is not kept
    assert shape(text) == shape("x")
    shown = "".join(t.content for t in tokens(text) if t.type.startswith("text"))
    assert " ".join(text.split()) in shown


@given(st.text(alphabet="<>[]()!*_`~#+-=|\\&;:.1 ", max_size=8))
def test_whatever_it_begins_with(text: str) -> None:
    assert shape(f"{text}a") == shape("x")


@pytest.mark.parametrize("text", ["0.668 [0.552,0.780]", "answer_in_top_1", "-0.5 points", "a & b"])
def test_usual_texts_stay_readable(text: str) -> None:
    assert escaped(text) == text


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x07", "\x9b", "\u202e", "\u200b", "\x00", "\r"])
def test_no_text_drives_a_terminal(sign: str) -> None:
    shown = to_text(blocks(f"a{sign}b")) + to_markdown(blocks(f"a{sign}b"))
    assert sign[0] not in shown
