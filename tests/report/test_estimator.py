"""Contrasts of seed means: what differs by rounding only is the same."""

from __future__ import annotations

import math
from collections.abc import Callable

from engram_hydra.report.cells import Run
from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator

M = "ndcg_any_at_10"
CORAL, DENSE = Cell("coral"), Cell("dense")


def test_a_difference_that_rounding_made_is_none(
    make_run: Callable[..., Run], estimate: Callable[..., Estimator]
) -> None:
    runs = [make_run(columns={M: [0.3, 0.5]}, seed=0)]
    runs += [make_run("dense", columns={M: [0.1 + 0.2, 0.5]})]
    difference, notes = estimate(runs).contrast({CORAL: 1, DENSE: -1}, M)
    assert difference == Estimate(0, 0, 0, 2)
    assert isinstance(difference, Estimate) and math.copysign(1, difference.value) == 1
    assert notes == ["identical on 2 questions; true rate of difference below 1.000"]
