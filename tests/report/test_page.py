"""The page's source: one file that names nothing outside, with every text escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.document import (
    Block,
    Bullets,
    Detail,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Verdict,
)
from engram_hydra.report.page import to_html

from made_up_report import HARMFUL, made_up_blocks


class _Tags(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def _page_saying(text: str) -> _Tags:
    item = {"id": text, "text": text, "gold": True, "stale": False}
    answer = {"metrics": {"hit": 1.0}, "items": [item], "answers": [text]}
    question = {"id": text, "kind": text, "question": text, "gold": [text], "lost_by": [text]}
    blocks: list[Block] = [
        Heading(text, 2),
        Paragraph(text),
        Bullets([text]),
        Grid([text, text], [[text, text]]),
        Verdict(text, text, text, text, [text]),
        Drilldown(text, [text], [text], [{**question, "answers": {text: answer}}]),
        Detail(text, [Paragraph(text)], [text]),
    ]
    return _Tags(to_html(blocks, title=text))


@given(st.text(alphabet="<>&\"'!-/scriptb ]\u2028", max_size=20))
def test_no_text_adds_a_tag(text: str) -> None:
    page = _page_saying(text)
    assert page.tags == _page_saying("x").tags
    assert text in page.text


def test_the_same_document_gives_the_same_bytes() -> None:
    first, second = (to_html(made_up_blocks(), title="t") for _ in range(2))
    assert first == second


def test_only_the_pages_own_script_may_run() -> None:
    page = to_html(made_up_blocks(), title="t")
    own = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(own) == 1
    digest = base64.b64encode(hashlib.sha256(own[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    for rule in ("default-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert rule in page


def test_the_data_of_the_questions_is_json() -> None:
    page = to_html(made_up_blocks(), title="t")
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["questions"][1]["question"] == HARMFUL


def test_addresses_are_links_and_nothing_else_is() -> None:
    said = "see https://example.org/a?b=1&c=2, or javascript:alert(1), (http://h/x)."
    page = to_html([Paragraph(said)], title="t")
    links = re.findall(r'<a href="([^"#][^"]*)"[^>]*>([^<]*)</a>', page)
    assert links == [("https://example.org/a?b=1&amp;c=2",) * 2, ("http://h/x",) * 2]


def test_the_first_heading_is_the_pages() -> None:
    page = to_html([Heading("Mine", 1), Heading("Next", 2)], title="t")
    assert re.findall(r"<(h\d)[^>]*>([^<]*)", page) == [("h1", "Mine"), ("h2", "Next")]
    assert "<h1>t</h1>" in to_html([Heading("Next", 2)], title="t")


def test_a_detail_is_folded_and_its_headings_are_in_no_contents() -> None:
    folded = Detail("Every seed", [Heading("Inside", 3), Detail("More", [Paragraph("Deep.")])])
    page = to_html([Heading("Mine", 1), Heading("Next", 2), folded], title="t")
    assert '<details class="more">\n<summary>Every seed</summary>' in page
    assert "Deep." in page
    assert page.count("Inside") == 1
    ids = re.findall(r' id="(part-\d+)"', page)
    assert len(ids) == len(set(ids)) == 2
