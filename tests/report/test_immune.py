"""The section on the immune response from made-up runs."""

from __future__ import annotations

from collections.abc import Callable

from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.immune import immune_section
from engram_hydra.report.section import Section

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def run(
    make_run: Make,
    method: str,
    ablation: str,
    seed: int | str,
    precision: float | None,
    **tags: str,
) -> Run:
    also = {"memory_displacements": 10.0, "memory_reefs": 3.0, "memory_calcified": 10.0}
    if precision is not None:
        also |= {
            "immune_precision": precision,
            "immune_precision_ci_low": precision - 0.1,
            "immune_precision_ci_high": precision + 0.1,
            "immune_precision_n": 10.0,
        }
    return make_run(method, ablation, seed, also=also, **tags)


def section(estimator: Estimator) -> Section:
    found = immune_section(estimator, row_labels(estimator))
    assert found is not None
    return found


def test_mean_over_seeds(make_run: Make, estimate: Estimate_) -> None:
    runs = [run(make_run, "coral", "none", seed, p) for seed, p in ((0, 0.25), (1, 0.75))]
    found = section(estimate(runs))
    entry = next(e for e in found.entries if e.keys["what"] == "immune_precision")
    assert entry.keys["row"] == "Coral (as shipped)"
    assert entry.value == 0.5
    assert (entry.spread.seeds, entry.spread.low, entry.spread.high) == ("0-1", 0.25, 0.75)
    # SD of 0.25 and 0.75: sqrt(2 * 0.25²) = 0.354.
    line = next(x for x in to_text(found.blocks).split("\n") if x.startswith("Coral (as shipped)"))
    assert line.split()[3:] == ["0-1", "0.500", "0.354", "0.250-0.750", "n/a"]


def test_one_run_stands_with_its_interval(make_run: Make, estimate: Estimate_) -> None:
    found = section(estimate([run(make_run, "heirs_only", "none", "deterministic", 0.5)]))
    entry = found.entries[0]
    assert entry.value == Estimate(0.5, 0.4, 0.6, 10)
    assert dict(found.figures())["immune.heirs_only.immune_precision_ci_low"] == 0.4
    assert "[0.400,0.600]" in to_text(found.blocks)


def test_rows_stand_in_the_order_of_the_table(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        run(make_run, "oracle_immune", "none", 0, 1.0),
        run(make_run, "coral", "no_heirs", 0, 0.5),
        run(make_run, "coral", "none", 0, 0.5),
        run(make_run, "mine", "no_x", 0, 0.5),
        run(make_run, "coral", "none", 1, 0.5, variant="w"),
        run(make_run, "coral", "none", 2, 0.5, audit="true", audit_rule="plain"),
        make_run("dense"),
    ]
    found = section(estimate(runs))
    assert list(dict.fromkeys(entry.keys["row"] for entry in found.entries)) == [
        "Coral (as shipped)",
        "no heirs",
        "oracle displacement",
        "mine, no x",
    ]
    assert {e.spread.seeds for e in found.entries if e.value != "n/a"} == {"0"}


def test_unknown_conflicts_leave_the_counts(make_run: Make, estimate: Estimate_) -> None:
    found = section(estimate([run(make_run, "coral", "none", 0, None)]))
    values = {entry.keys["what"]: entry.value for entry in found.entries}
    assert values["immune_precision"] == values["immune_recall"] == "n/a"
    assert values["memory_displacements"] == 10


def test_inert_is_what_is_inert_on_every_seed(make_run: Make, estimate: Estimate_) -> None:
    """Under the names that one sets them by, those inert in every row once."""
    runs = [
        run(make_run, "coral", "none", 0, 0.5, inert="feeding, cycles, cycle_every, resist"),
        run(make_run, "coral", "none", 1, 0.5, inert="resist, feeding, cycles"),
        run(make_run, "coral", "no_heirs", 0, 0.5, inert="feeding, resist"),
        run(make_run, "coral", "no_calc", 0, 0.5, inert="feeding, calcification, calcified_score"),
    ]
    bullets = section(estimate(runs)).blocks[-1].items
    assert bullets == [
        "in every row: method.feeding",
        "Coral (as shipped); no heirs: also method.resist",
        "no calcification: also method.calcification, method.calcified_score",
    ]


def test_nothing_inert_and_nothing_said_differ(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        run(make_run, "coral", "none", 0, 0.5, inert=""),
        run(make_run, "coral", "no_heirs", 0, 0.5, inert="heirs"),
        run(make_run, "mine", "none", 0, 0.5),
        run(make_run, "yours", "none", 0, 0.5, inert="my_part"),  # its own names, whatever they are
    ]
    assert section(estimate(runs)).blocks[-1].items == [
        "mine: not reported",
        "Coral (as shipped): nothing",
        "no heirs: method.heirs",
        "yours: my_part",
    ]


def test_text_fits_a_terminal(make_run: Make, estimate: Estimate_) -> None:
    runs = [run(make_run, "coral", "none", seed, 0.5 + seed / 100) for seed in range(5)]
    runs += [run(make_run, "heirs_only", "none", "deterministic", 0.5)]
    text = to_text(section(estimate(runs)).blocks)
    assert max(map(len, text.split("\n"))) <= 100
    assert "…" not in text


def test_nothing_displaces(make_run: Make, estimate: Estimate_) -> None:
    estimator = estimate([make_run("dense"), make_run("bm25")])
    assert immune_section(estimator, row_labels(estimator)) is None
