"""A section's numbers, for tools and for the database."""

from __future__ import annotations

import csv
import io

from engram_hydra.report.estimates import Estimate, Spread, points
from engram_hydra.report.section import Entry, Section, grouped

SECTION = Section(
    "example",
    [],
    [
        Entry({"metric": "m", "row": "A x B"}, Estimate(0.1, -0.2, 1 / 3, 7), notes=["a", "b"]),
        Entry({"metric": "m", "row": ""}, 2.5, Spread("0-1", 0.5, 2.0, 3.0)),
        Entry({"metric": "n", "row": "C"}, "not run"),
    ],
)


def test_csv() -> None:
    lines = list(csv.DictReader(io.StringIO(SECTION.to_csv({"dataset": "d", "k": 10}))))
    assert lines[0] == {
        **{"dataset": "d", "k": "10", "metric": "m", "row": "A x B", "value": "0.1"},
        **{"ci_low": "-0.2", "ci_high": "0.333333", "n": "7", "notes": "a; b"},
        **dict.fromkeys(("seeds", "sd", "seed_min", "seed_max"), ""),
    }
    assert (lines[1]["value"], lines[1]["ci_low"], lines[1]["seeds"]) == ("2.5", "", "0-1")
    assert (lines[1]["sd"], lines[1]["seed_min"], lines[1]["seed_max"]) == ("0.5", "2.0", "3.0")
    assert (lines[2]["value"], lines[2]["n"]) == ("not run", "")


def test_figures() -> None:
    assert dict(SECTION.figures()) == {
        "example.m.a_x_b": 0.1,
        "example.m.a_x_b_ci_low": -0.2,
        "example.m.a_x_b_ci_high": 1 / 3,
        "example.m": 2.5,
    }


def test_notes_are_grouped() -> None:
    assert grouped({"a": ["x", "y", "x"], "b": [], "c": ["x"]}) == ["a; c: x", "a: y"]


def test_points() -> None:
    assert points(Estimate(0.2484, -0.0001, 0.392, 9)) == "+24.8 [0.0,39.2]"
    assert points(Estimate(-0.05, -0.1, 0.0, 9)) == "-5.0 [-10.0,0.0]"
    assert points("n/a") == "n/a"
