"""The calibration: its grid, its choice, and the evidence for the constants that stand in conf/."""

from __future__ import annotations

import csv
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from omegaconf import OmegaConf
from vectors_on_grid import TableEmbedder

from engram_hydra import calibrate as module
from engram_hydra.calibrate import Embedded, best_point, calibrate, grid_points, immune_f1, top_1
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import Coral, HeirsOnly, Synthetic, Tide
from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.errors import ConfigError
from engram_hydra.memories.memory import Hit
from engram_hydra.validation import validate

CONF = Path(conf_dir())
EVIDENCE = CONF.parent / "docs" / "calibration"


def load(file):
    return OmegaConf.to_container(OmegaConf.load(CONF / file))


STEPS = {
    (method, number): step
    for method in ("coral", "tide", "heirs_only")
    for number, step in enumerate(load(f"calibration/{method}.yaml")["steps"], start=1)
}


def test_grid_points_are_all_combinations_once_the_last_constant_fastest():
    assert list(grid_points({"a": [1, 2], "b": ["x", "y"]})) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert len(list(grid_points({"a": [1, 2, 3], "b": [1] * 4, "c": [1, 2]}))) == 24


@pytest.mark.parametrize(
    ("grid", "scores", "best"),
    [
        ({"a": [1, 2, 3]}, [0.1, 0.2, 0.3], {"a": 3}),
        ({"a": [1, 2, 3]}, [0.3, 0.3, 0.3], {"a": 2}),  # of equals, the middle
        ({"a": [1, 2, 3, 4, 5]}, [0.3, 0.1, 0.1, 0.3, 0.1], {"a": 4}),  # or what is nearest to it
        ({"a": [1, 2, 3, 4]}, [0.3] * 4, {"a": 2}),  # of two middles the first
        ({"a": [1, 2, 3], "b": [1, 2, 3]}, [0.3, *[0.1] * 4, 0.3, *[0.1] * 3], {"a": 2, "b": 3}),
        # a middle value counts by its place in the grid, not by its size
        ({"a": [1, 100, 101]}, [0.3, 0.3, 0.3], {"a": 100}),
        ({"a": [1, 2, 3]}, [0.3, 0.3, 0.3 + 1e-6], {"a": 3}),
    ],
)
def test_the_best_point_wins_and_of_equals_the_middle_one(grid, scores, best):
    points = list(grid_points(grid))
    assert points[best_point(grid, points, scores)] == best


@pytest.mark.parametrize("seeds", ["[999]", "[0]", "[10000,10001,500]"])
def test_seeds_that_scored_runs_may_use_are_refused(compose, seeds):
    cfg = compose("method=tide", f"calibration.seeds={seeds}", config="calibrate")
    with pytest.raises(ConfigError, match="up to 999"):
        calibrate(cfg)


@pytest.mark.parametrize("method", ["coral", "tide", "heirs_only"])
def test_the_committed_seeds_are_those_of_the_protocol(compose, method):
    cfg = compose(f"method={method}", config="calibrate")
    assert list(cfg.calibration.seeds) == list(range(10_000, 10_010))
    (seed,) = (spec for spec in fields(Synthetic) if spec.name == "seed")
    assert seed.metadata["le"] < 10_000


# Objectives


def sample(n, superseded_by=(), questions=(), vectors=None):
    items = tuple(Item(f"i{p}", p, f"{p} fact {p}") for p in range(n))
    history = History("made up", tuple(items), tuple(questions), tuple(superseded_by))
    data = Dataset("made up", (history,), "0" * 64, "test")
    table = TableEmbedder(np.eye(n) if vectors is None else vectors)
    return Embedded(data, dict(zip(data.texts, table(data.texts), strict=True)))


@pytest.mark.parametrize(
    ("known", "heirs", "f1"),
    [
        ([], [-1, -1, -1, -1], 1.0),
        ([(0, 2)], [-1, -1, -1, -1], 0.0),
        ([], [-1, 2, -1, -1], 0.0),
        ([(0, 2)], [2, -1, -1, -1], 1.0),
        ([(0, 2)], [3, -1, -1, -1], 0.0),  # the right one displaced, by the wrong one
        ([(0, 2), (1, 3)], [2, -1, -1, -1], 2 / 3),  # precision 1, recall 1/2
        ([(0, 2)], [2, 3, 3, -1], 1 / 2),  # precision 1/3, recall 1
    ],
)
def test_f1_of_the_displacements(known, heirs, f1):
    memory = SimpleNamespace(
        write=lambda items: None,
        position_of={f"i{p}": p for p in range(4)},
        displacements=lambda: [(f"i{p}", f"i{heir}") for p, heir in enumerate(heirs) if heir >= 0],
    )
    assert immune_f1(memory, sample(4, known)) == pytest.approx(f1)


def test_top_1_asks_the_single_hop_questions_only():
    questions = [
        Question("a", "0 ?", ("fact 0",), "single_hop"),
        Question("b", "1 ?", ("fact 2",), "single_hop"),
        Question("c", "2 ?", ("fact 9",), "two_hop"),
    ]

    class First:
        def write(self, items):
            self.ids = [item.id for item in items]

        def read(self, queries, k):
            assert k == 1
            return [[Hit(self.ids[int(query[0])], 1.0)] for query in queries]

    assert top_1(First(), sample(3, questions=questions)) == 0.5


# The whole


def test_a_calibration_writes_its_evidence_and_names_the_winner(
    compose, tmp_path, monkeypatch, caplog
):
    """Two equal facts: recency must decide, and any weight above 0 does."""
    made = sample(
        2,
        questions=[Question("q", "0 ?", ("fact 1",), "single_hop")],
        vectors=np.array([[1.0, 0.0], [1.0, 0.0]]),
    )
    monkeypatch.setattr(module, "_samples", lambda cfg: iter([made]))
    monkeypatch.setattr(module, "ProcessPoolExecutor", ThreadPoolExecutor)
    cfg = compose("method=tide", f"evidence={tmp_path}", config="calibrate")
    cfg.calibration.steps = [{"grid": {"w": [0.0, 0.1, 0.2, 0.3]}}, {"grid": {"half_life": [1.0]}}]
    with caplog.at_level(logging.INFO, "engram_hydra"):
        calibrate(cfg)
    written = (tmp_path / "tide_step1.csv").read_text().splitlines()
    assert written == [
        "w,objective",
        "0.0,0.000000",
        "0.1,1.000000",
        "0.2,1.000000",
        "0.3,1.000000",
    ]
    assert (tmp_path / "tide_step2.csv").read_text().splitlines()[1:] == ["1.0,1.000000"]
    chosen = "{'w': 0.1, 'half_life': 1.0}"
    assert f"put into conf/method/tide.yaml: {chosen}" in caplog.text


def test_rounding_errors_decide_nothing(compose, tmp_path, monkeypatch, caplog):
    """The table is the evidence: what is equal in it is equal in the choice."""
    noise = {0.1: 0.3 + 1e-13, 0.2: 0.3, 0.3: 0.3}
    monkeypatch.setattr(module, "_samples", lambda cfg: iter([]))
    monkeypatch.setattr(module, "_try", lambda name, base, samples, point: noise[point["w"]])
    monkeypatch.setattr(module, "ProcessPoolExecutor", ThreadPoolExecutor)
    cfg = compose("method=tide", f"evidence={tmp_path}", config="calibrate")
    cfg.calibration.steps = [{"grid": {"w": [0.1, 0.2, 0.3]}}]
    with caplog.at_level(logging.INFO, "engram_hydra"):
        calibrate(cfg)
    assert "{'w': 0.2}" in caplog.text


# The evidence


@pytest.mark.parametrize(("method", "number"), STEPS)
def test_the_committed_constants_follow_from_the_committed_evidence(method, number):
    grid = STEPS[method, number]["grid"]
    file = EVIDENCE / f"{method}_step{number}.csv"
    assert file.is_file(), f"{file.name} is missing: run engram_hydra.calibrate method={method}"
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    points = list(grid_points(grid))
    assert [*rows[0]] == [*grid, "objective"]
    assert [{name: float(row[name]) for name in grid} for row in rows] == points
    scores = [float(row["objective"]) for row in rows]
    assert 0 < max(scores) <= 1
    shipped = load(f"method/{method}.yaml")
    best = points[best_point(grid, points, scores)]
    assert {name: shipped[name] for name in grid} == best


@pytest.mark.parametrize(("method", "number"), STEPS)
def test_every_value_of_a_grid_is_allowed_and_in_order(compose, method, number):
    step = STEPS[method, number]
    fixed = [f"method.{name}={value}" for name, value in step.get("set", {}).items()]
    for name, values in step["grid"].items():
        assert values == sorted(set(values)), name  # ties go to the middle of an ordered list
        for value in (values[0], values[-1]):
            validate(compose(f"method={method}", *fixed, f"method.{name}={value}"))


@pytest.mark.parametrize(
    ("method", "schema"), [("coral", Coral), ("tide", Tide), ("heirs_only", HeirsOnly)]
)
def test_what_is_said_to_be_calibrated_is_and_nothing_else(method, schema):
    """A constant's comment in conf/ ends in "calibrated" exactly if a grid chose it."""
    chosen = {name for (m, _), step in STEPS.items() if m == method for name in step["grid"]}
    lines = (CONF / "method" / f"{method}.yaml").read_text(encoding="utf-8").splitlines()
    said = {line.split(":")[0] for line in lines if line.rstrip().endswith("calibrated")}
    assert said == chosen
    assert chosen <= {spec.name for spec in fields(schema)}
