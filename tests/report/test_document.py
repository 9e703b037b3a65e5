"""Grids line up, fit a terminal, and survive a Markdown parser's rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.document import (
    Bullets,
    Detail,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
    nested,
    to_markdown,
    to_text,
)


def test_markdown() -> None:
    grid = Grid(("row", "value"), [("a|b", "0.5"), ("c", "not run")])
    assert to_markdown([Heading("Title", 2), Paragraph("Text."), grid, Bullets(["x"])]) == (
        "## Title\n\n"
        "Text.\n\n"
        "| row  |   value |\n"
        "| ---- | ------: |\n"
        "| a\\|b |     0.5 |\n"
        "| c    | not run |\n\n"
        "- x\n"
    )


def test_text() -> None:
    grid = Grid(("row", "value"), [("a", "0.5"), ("long name", "not run")])
    assert to_text([Heading("Title", 1), grid]) == (
        "Title\n"
        "=====\n\n"
        "row          value\n"
        "---------  -------\n"
        "a              0.5\n"
        "long name  not run\n"
    )


words = st.text(alphabet="ab ", min_size=1, max_size=130)


@given(words, st.lists(st.text(alphabet="xyz", max_size=10), min_size=1, max_size=5))
def test_text_fits_a_terminal(name: str, cells: list[str]) -> None:
    columns = len(cells)
    grid = Grid(("row", *["c"] * columns), [(name, *cells), ("b", *cells)])
    text = to_text([Paragraph(name), grid, Bullets([name])])
    assert max(map(len, text.split("\n"))) <= 100


def test_a_long_row_name_goes_on_in_the_next_line() -> None:
    grid = Grid(("row", "value"), [("neither heirs nor calcification", "0.500"), ("b", "0.1")])
    assert to_text([grid], 30) == (
        "row                      value\n"
        "-----------------------  -----\n"
        "neither heirs nor        0.500\n"
        "  calcification\n"
        "b                          0.1\n"
    )


def test_a_detail_is_one_line_that_says_where_it_is() -> None:
    detail = Detail("Every seed", [Heading("H", 2), Paragraph("Long.")], ["a/costs.csv", "b.csv"])
    line = "Every seed: in report.html, numbers in a/costs.csv, b.csv.\n"
    assert to_text([detail]) == line
    assert to_markdown([detail, detail, Paragraph("x")]) == f"- {line}- {line}\nx\n"
    [inner] = nested([detail])
    assert isinstance(inner, Detail)
    assert inner.blocks[0] == Heading("H", 3)


def test_a_verdict() -> None:
    verdict = Verdict("H1", "Coral beats Dense.", "undecided (ties)", "It says 0.01.", ["n is 20"])
    assert to_markdown([verdict]) == (
        "**H1: undecided (ties).** Coral beats Dense. It says 0.01.\n\n- n is 20\n"
    )
    assert to_text([verdict]) == (
        "H1: undecided (ties). Coral beats Dense.\n  It says 0.01.\n  n is 20\n"
    )
    bare = Verdict("H1", "Coral beats Dense.", "not run", "No runs.")
    assert to_markdown([bare]) == "**H1: not run.** Coral beats Dense. No runs.\n"


def test_a_picture_is_linked_with_its_numbers() -> None:
    picture = Picture("costs", "Cost by method.", "Dots", "<svg/>", "row\n")
    assert to_markdown([picture]) == "![Dots](costs.svg) Cost by method. ([data](costs.csv))\n"
    assert to_text([picture]) == "Cost by method. (costs.svg, data in costs.csv)\n"


def test_a_drilldown_points_to_the_page() -> None:
    line = "made_up: the page lists all 2 questions, with what each of 3 methods returned.\n"
    drilldown = Drilldown("made_up", ["hit"], ["a", "b", "c"], [{"id": "q1"}, {"id": "q2"}])
    assert to_markdown([drilldown]) == to_text([drilldown]) == line
