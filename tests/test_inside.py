"""The look inside: what is drawn, and the figures beside it."""

from __future__ import annotations

import csv
import io

import pytest

from engram_hydra.inside import inside_files

COUNTERS = {"reefs": 2.0, "living": 3.0, "calcified": 1.0, "mass": 4.0}
DISTRIBUTIONS = {"reef_size": [3, 1], "mass": [1.0, 0.3, 1.7, 1.0], "rings": [0, 0, 0, 0]}
TABLE = {"position": [0, 1], "living": [True, False]}
IMMUNE = {
    f"immune_{name}{end}": value
    for name in ("precision", "recall")
    for end, value in {"": 0.5, "_ci_low": 0.2, "_ci_high": 0.8, "_n": 4.0}.items()
}


def files(**changed):
    given = {
        "name": "coral/none/synthetic/seed0",
        "counters": COUNTERS,
        "distributions": DISTRIBUTIONS,
        "table": TABLE,
        "immune": IMMUNE,
        "inert": ["feeding"],
    }
    return inside_files(**given | changed)


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def image(png):
    """The picture as an array (height, width, 4)."""
    from matplotlib.image import imread

    assert png.startswith(b"\x89PNG")
    return imread(io.BytesIO(png))


def test_the_figures_stand_beside_the_picture():
    made = files()
    assert set(made) == {
        "inside/inside.png",
        "inside/counts.csv",
        "inside/distributions.csv",
        "inside/items.csv",
    }
    assert rows(made["inside/items.csv"]) == [
        ["position", "living"],
        ["0", "True"],
        ["1", "False"],
    ]
    assert rows(made["inside/distributions.csv"])[1:] == [
        ["reef_size", "1", "1"],
        ["reef_size", "3", "1"],
        ["mass", "0.3", "1"],
        ["mass", "1", "2"],
        ["mass", "1.7", "1"],
        ["rings", "0", "4"],
    ]
    counts = dict(rows(made["inside/counts.csv"])[1:])
    assert {name: float(value) for name, value in counts.items()} == COUNTERS | IMMUNE


def test_the_picture_fits_the_artifact_view_and_grows_with_its_panels():
    few, many = (image(files(distributions=d)["inside/inside.png"]) for d in ({}, DISTRIBUTIONS))
    assert few.shape[1] == many.shape[1] <= 800  # shown in a frame of about 590 px
    assert few.shape[0] < many.shape[0]
    assert (many[..., :3] < 0.9).any()  # something is drawn


def test_the_same_figures_give_the_same_bytes():
    assert files() == files()
    assert files()["inside/inside.png"] != files(inert=[])["inside/inside.png"]


def test_what_shows_nothing_leaves_nothing():
    assert files(distributions={}, table={}, immune={}) == {}


@pytest.mark.parametrize(
    "sample", [[], [1], [2.5] * 5, [0.1, 1e9], list(range(1000)), [0] * 999 + [7], [-3, 4]]
)
def test_any_sample_makes_a_panel(sample):
    made = files(distributions={"reef_size": sample}, immune={}, counters={})
    assert image(made["inside/inside.png"]).size
    assert sum(int(count) for *_, count in rows(made["inside/distributions.csv"])[1:]) == len(
        sample
    )
