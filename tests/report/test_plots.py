"""Plots: the same rows give the same bytes, everything in them is escaped, nothing missing is hidden."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from engram_hydra.report import line_plots, plots
from engram_hydra.report.document import Picture

NAMES = (
    "bm25",
    "dense",
    "a <b>$bold$</b> & long name, more than one line is wide",
)
SOME = {"value": 0.25, "low": 0.125, "high": 0.5}

CASES: dict[str, tuple[Callable[..., Picture], list[dict[str, Any]]]] = {
    "forest": (
        plots.forest,
        [
            {"row": row, "against": anchor, "outcome": outcome, **SOME}
            for row, outcome in zip(NAMES, ("better", "undecided (ties)", "not shown"), strict=True)
            for anchor in ("bm25", "tide")
        ],
    ),
    "seeds": (
        plots.seed_dots,
        [{"row": row, "seed": seed, "value": 0.5} for row in NAMES for seed in range(5)],
    ),
    "curves": (
        line_plots.retrieval_curves,
        [{"panel": "all", "row": row, "k": k, **SOME} for row in NAMES for k in (1, 5, 10)],
    ),
    "by_length": (
        line_plots.by_length,
        [
            {"panel": "all", "row": row, "length": length, **SOME}
            for row in NAMES
            for length in ("6K", "262K")
        ],
    ),
    "attribution": (
        plots.attribution,
        [{"part": part, "effect": 0.1, "low": -0.1, "high": 0.3} for part in NAMES],
    ),
    "immune": (
        plots.immune,
        [{"row": row, "what": what, **SOME} for row in NAMES for what in ("precision", "recall")],
    ),
    "costs": (plots.costs, [{"row": row, "write_seconds": 1.5, "read_ms": 0.5} for row in NAMES]),
}
every_plot = pytest.mark.parametrize(("plot", "rows"), CASES.values(), ids=CASES)


def _words(picture: Picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg)
    return [text for node in root.iter() if node.tag.endswith("text") and (text := node.text)]


@every_plot
def test_same_rows_same_bytes(plot: Callable[..., Picture], rows: list[dict[str, Any]]) -> None:
    assert plot(rows) == plot([dict(row) for row in rows])


@every_plot
def test_the_data_are_the_rows(plot: Callable[..., Picture], rows: list[dict[str, Any]]) -> None:
    read = list(csv.DictReader(io.StringIO(plot(rows).csv)))
    assert read == [{key: str(row[key]) for key in read[0]} for row in rows]
    assert set(read[0]) == set(rows[0])


@every_plot
def test_ink_follows_the_page_and_nothing_comes_from_outside(
    plot: Callable[..., Picture], rows: list[dict[str, Any]]
) -> None:
    svg = plot(rows).svg
    assert "currentColor" in svg
    for fixed in ("#000000", "#ffffff", "DejaVu", "<script", "<image", "<metadata", "<!DOCTYPE"):
        assert fixed not in svg
    addresses = set(re.findall(r"https?://[^\"]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@every_plot
def test_names_are_text(plot: Callable[..., Picture], rows: list[dict[str, Any]]) -> None:
    words = " ".join(_words(plot(rows)))
    assert "bm25" in words
    assert "a <b>$bold$</b> & long name" in words
    assert "…" not in words  # two lines hold it


@every_plot
def test_what_is_missing_is_said(plot: Callable[..., Picture], rows: list[dict[str, Any]]) -> None:
    gone = dict.fromkeys(("value", "effect", "low", "high", "write_seconds", "read_ms"), "not run")
    holes = [{**row, **{k: v for k, v in gone.items() if k in row}} for row in rows]
    assert "no value" not in _words(plot(rows))
    picture = plot(holes)
    assert _words(picture).count("no value") >= len(NAMES)
    assert "not run" in picture.csv


@pytest.mark.parametrize("anchors", range(1, 9))
def test_every_panel_of_the_forest_has_room(anchors: int) -> None:
    """No panel is narrower than 150 px, none lies on another, and all of them show a scale."""
    rows = [
        {"row": row, "against": f"anchor {n}", "outcome": "better", **SOME}
        for n in range(anchors)
        for row in NAMES
    ]
    svg = plots.forest(rows).svg
    guide = r'd="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \n"[^>]*stroke-opacity: 0.16'
    guides = {tuple(float(x) * 96 / 72 for x in ends) for ends in re.findall(guide, svg)}
    assert len(guides) == anchors * len(NAMES)
    assert all(right - left >= 150 and right <= 720 for left, _, right, _ in guides)
    heights = sorted({y for _, y, _, _ in guides})
    assert all(b - a >= 30 for a, b in pairwise(heights))


def test_the_forest_marks_each_outcome_and_explains_those_there_are() -> None:
    marks = {
        "better": "holds after Holm's adjustment",
        "worse": "holds after Holm's adjustment",
        "not shown": "not shown",
        "undecided (ties)": "depends on how BM25's ties are broken",
        "identical": "identical on every question",
    }
    rows = [{"row": f"a {word} row", "against": "bm25", "outcome": word, **SOME} for word in marks]
    words = _words(plots.forest(rows))
    assert all(words.count(label) == 1 for label in marks.values())
    for row in rows:
        shown = set(_words(plots.forest([row])))
        assert shown & set(marks.values()) == {marks[row["outcome"]]}
    assert [row["outcome"] for row in csv.DictReader(io.StringIO(plots.forest(rows).csv))] == [
        *marks
    ]


def test_tie_rules_stand_in_the_titles_of_panels() -> None:
    plot, rows = CASES["forest"]
    rules = [
        {**row, "against": f"BM25, ties {rule}"} for row in rows for rule in ("oldest", "newest")
    ]
    words = _words(plot(rules))
    assert words.count("minus BM25,") == 2
    assert {"ties oldest", "ties newest"} <= set(words)


def test_lines_that_agree_everywhere_are_one() -> None:
    def rows(last: float) -> list[dict[str, Any]]:
        values = {"bm25": 0.25, "dense": 0.25, "tide": last}
        return [
            {"panel": "methods", "row": row, "k": k, "value": v, "low": v / 2, "high": 2 * v}
            for row, v in values.items()
            for k in (1, 2)
        ]

    assert "bm25 = dense = tide" in _words(line_plots.retrieval_curves(rows(0.25)))
    words = _words(line_plots.retrieval_curves(rows(0.5)))
    assert "bm25 = dense" in words and "tide" in words


def test_numbers_beside_a_picture_have_six_digits() -> None:
    value = {"value": 100 / 3, "low": -1e-5 / 3, "high": 0.1 + 0.2}
    picture = plots.forest([{"row": "a", "against": "b", "outcome": "better", **value}])
    [row] = csv.DictReader(io.StringIO(picture.csv))
    assert (row["value"], row["low"], row["high"]) == ("33.3333", "-3.33333e-06", "0.3")


def test_pictures_of_one_page_share_no_ids() -> None:
    plot, rows = CASES["forest"]
    ids = [set(re.findall(r' id="([^"]+)"', plot(rows, name=name).svg)) for name in ("a", "b")]
    assert all(ids)
    assert not ids[0] & ids[1]


def test_twenty_rows_do_not_overlap() -> None:
    names = [f"row number {n} with a name of two lines, as long as they come" for n in range(20)]
    picture = plots.attribution([{"part": n, "effect": 0, "low": -1, "high": 1} for n in names])
    root = ElementTree.fromstring(picture.svg)
    heights = sorted(
        float(re.findall(r"[\d.]+", node.attrib["transform"])[-1])
        for node in root.iter()
        if node.tag.endswith("text") and node.text and ("row number" in node.text)
    )
    assert len(heights) == 20
    assert min(b - a for a, b in pairwise(heights)) > 2 * 9
