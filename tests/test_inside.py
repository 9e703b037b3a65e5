"""The look inside: what is drawn, and the figures beside it."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.inside import _edges, inside_files

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


def test_values_equal_at_six_digits_are_counted_together():
    sample = [0.3, 0.1 + 0.2, 0.3000000001, 0.30001]
    made = files(distributions={"mass": sample})["inside/distributions.csv"]
    assert rows(made)[1:] == [["mass", "0.3", "3"], ["mass", "0.30001", "1"]]


@given(low=st.integers(-50, 50), span=st.integers(1, 5000))
def test_each_bin_holds_as_many_whole_numbers_as_the_next(low, span):
    """Else a flat distribution would be drawn as a comb."""
    values = np.arange(low, low + span + 1, dtype=np.float64)
    counts, edges = np.histogram(values, bins=_edges(values))
    assert counts.sum() == len(values)
    assert len(counts) <= 25
    assert len(set(counts[:-1].tolist())) <= 1
    assert counts[-1] <= counts[0]
    assert (edges % 1 == 0.5).all()


def test_a_long_list_of_inert_parts_makes_room_for_itself():
    none, all_of_them = (
        image(files(inert=inert)["inside/inside.png"]) for inert in ([], ["maintenance_cost"] * 20)
    )
    assert all_of_them.shape[0] > none.shape[0]
    assert (all_of_them[-400:] == none[-400:]).mean() > 0.99  # the panels below are as they were


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("count", [0.0, 7.0, 1_234_567.0])
def test_nothing_runs_off_the_picture(share, count):
    extreme = {key: value if key.endswith("_n") else share for key, value in IMMUNE.items()}
    counters = dict.fromkeys(("living", "displacements"), count)
    for distributions in ({}, {"mass": [1, 2]}):  # each panel stands left once, and right once
        made = files(counters=counters, distributions=distributions, immune=extreme)
        drawn = image(made["inside/inside.png"])[..., :3]
        assert (drawn[:, -2:] == 1).all()
        assert (drawn[:, :2] == 1).all()
