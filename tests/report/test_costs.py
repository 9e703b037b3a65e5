"""Costs by row, as the runs logged them."""

from __future__ import annotations

from collections.abc import Callable

from engram_hydra.report.cells import Run
from engram_hydra.report.costs import costs_section
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
LABELS = {Cell("coral"): "Coral", Cell("dense"): "Dense", Cell("tide"): "Tide"}


def test_a_row_is_the_mean_over_its_seeds(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        make_run(
            seed=seed,
            also={"write_seconds": seconds, "context_tokens": 1234.0, "peak_memory_mib": 900.0},
        )
        for seed, seconds in enumerate((1.0, 3.0))
    ]
    runs += [make_run("dense", also={"write_seconds": 0.5, "read_ms_per_query": 0.25})]
    section = costs_section(estimate(runs), LABELS)
    assert section is not None
    found = {(e.keys["row"], e.keys["what"]): (e.value, e.spread.low) for e in section.entries}
    assert found == {
        ("Coral", "write_seconds"): (2.0, 1.0),
        ("Coral", "context_tokens"): (1234.0, 1234.0),
        ("Dense", "write_seconds"): (0.5, None),
        ("Dense", "read_ms_per_query"): (0.25, None),
    }
    lines = to_text(section.blocks).split("\n")
    assert next(line.split() for line in lines if line.startswith("Coral")) == [
        "Coral",
        "0-1",
        "2.000",
        "1,234",
    ]
    assert max(map(len, lines)) <= 100
    assert "MiB" not in "\n".join(lines)  # the whole process's, with earlier runs of its sweep


def test_no_run_says_what_it_cost(make_run: Make, estimate: Estimate_) -> None:
    assert costs_section(estimate([make_run()]), LABELS) is None
    assert costs_section(estimate([]), LABELS) is None
