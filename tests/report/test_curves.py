"""The share of questions with something relevant among the first k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.report.cells import Run
from engram_hydra.report.curves import curve
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
DENSE = Cell("dense")
ALTERNATING = tuple(tuple(int(n % step == 0) for n in range(40)) for step in (2, 3))


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
    found = curve(estimate([run]), DENSE, 4)
    assert [(cut, estimate.value, estimate.n) for cut, estimate in found] == [
        (1, 0.5, 2),
        (2, 0.5, 2),
        (3, 1.0, 2),
        (4, 1.0, 2),
    ]


def test_seeds_are_averaged_by_question(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        with_items(make_run(seed=0), ["g"], ["x"]),
        with_items(make_run(seed=1), ["g"], ["g"]),
    ]
    [(cut, value)] = curve(estimate(runs), Cell("coral"), 1)
    assert (cut, value.value, value.n) == (1, 0.75, 2)
    assert value.low < 0.75 < value.high


def test_older_runs_have_no_curve(make_run: Make, estimate: Estimate_) -> None:
    assert curve(estimate([make_run("dense")]), DENSE, 5) == []
    assert curve(estimate([]), DENSE, 5) == []


@pytest.mark.parametrize("hits", [((1, 1, 1, 1),), ((1, 0, 1, 0),), ALTERNATING])
def test_a_cut_that_is_logged_has_the_interval_of_the_table(
    make_run: Make, estimate: Estimate_, hits: tuple[tuple[int, ...], ...]
) -> None:
    """Wilson's of one run, the bootstrap's of a mean over seeds, whatever the order of the rows."""
    ids = [f"q{n}" for n in range(len(hits[0]))][::-1]
    runs = [
        with_items(
            make_run(seed=seed, ids=ids, columns={"answer_in_top_1": list(map(float, of_seed))}),
            *(["g"] if hit else ["x"] for hit in of_seed),
        )
        for seed, of_seed in enumerate(hits)
    ]
    estimator = estimate(runs)
    in_table, _, _ = estimator.of(Cell("coral"), "answer_in_top_1")
    assert curve(estimator, Cell("coral"), 1) == [(1, in_table)]
