"""The share of questions with something relevant among the first k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engram_hydra.report.cells import Run
from engram_hydra.report.curves import curves
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
DENSE = Cell("dense")


def with_items(run: Run, *items: list[str], gold: str = "g") -> Run:
    def rows() -> list[dict[str, Any]]:
        return [
            {**row, "items": ranked, "gold_items": [gold]}
            for row, ranked in zip(run.per_question(), items, strict=True)
        ]

    return replace(run, per_question=rows)


def test_a_question_counts_from_the_rank_of_its_first_relevant_item(
    make_run: Make, estimate: Estimate_
) -> None:
    run = with_items(make_run("dense"), ["g", "x", "g"], ["x", "y", "g"])
    curve = curves(estimate([run]), {DENSE: "Dense"}, 4)["Dense"]
    assert [(cut, estimate.value, estimate.n) for cut, estimate in curve] == [
        (1, 0.5, 2),
        (2, 0.5, 2),
        (3, 1.0, 2),
        (4, 1.0, 2),
    ]


def test_seeds_are_averaged_by_question(make_run: Make, estimate: Estimate_) -> None:
    coral = Cell("coral")
    runs = [
        with_items(make_run(seed=0), ["g"], ["x"]),
        with_items(make_run(seed=1), ["g"], ["g"]),
    ]
    [(cut, value)] = curves(estimate(runs), {coral: "Coral", DENSE: "Dense"}, 1)["Coral"]
    assert (cut, value.value, value.n) == (1, 0.75, 2)
    assert value.low < 0.75 < value.high


def test_older_runs_have_no_curve(make_run: Make, estimate: Estimate_) -> None:
    assert curves(estimate([make_run("dense")]), {DENSE: "Dense"}, 5) == {}
