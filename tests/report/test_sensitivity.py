"""The sensitivity section from made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.sensitivity import Row, sensitivity_rows, sensitivity_section
from engram_hydra.report.variants import Change

M = "answer_in_top_1"
Z = Change("coral_outlier_z_half", "coral", "outlier_z", 1.75, 3.5)
FIXED = Change("coral_fixed_cosine_half", "coral", "fixed_cosine", 0.3, 0.6)
W = Change("tide_w_0.40", "tide", "w", 0.4, 0.2)
SERIAL = Change("serial_strip", "", "serial", "strip", "keep")
ALL = [Z, FIXED, W, SERIAL]

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def right(n: int) -> dict[str, list[float]]:
    """The first n of 20 questions; with six or more between two, their interval excludes 0."""
    return {M: [1.0] * n + [0.0] * (20 - n)}


def shipped(make_run: Make) -> list[Run]:
    return [
        make_run("coral", columns=right(12)),
        make_run("coral", "no_heirs", columns=right(2)),
        make_run("coral", "no_calc", columns=right(12)),
        make_run("dense", columns=right(2)),
        make_run("tide", columns=right(12)),
    ]


def rows(estimator: Estimator) -> dict[str, Row]:
    return {row.label: row for row in sensitivity_rows(estimator, M, ALL)}


def means(row: Row) -> dict[str, Any]:
    return {
        name: round(estimate.value * 20) if isinstance(estimate, Estimate) else estimate
        for name, estimate in row.conclusions.items()
    }


def test_a_constant_of_coral(make_run: Make, estimate: Estimate_) -> None:
    """The ablations are those under the change, the anchors as shipped."""
    v = Z.variant
    changed = [
        make_run("coral", variant=v, columns=right(2)),
        make_run("coral", "no_heirs", variant=v, columns=right(1)),
        make_run("coral", "no_calc", variant=v, columns=right(14)),
    ]
    found = rows(estimate(shipped(make_run) + changed))
    assert list(found) == ["as shipped", "outlier_z 1.75"]
    assert means(found["as shipped"]) == {
        "Coral - Dense": 10,
        "Coral - Tide": 0,
        "cost of heirs": 10,
        "cost of calcification": 0,
    }
    row = found["outlier_z 1.75"]
    assert isinstance(row.value, Estimate)
    assert row.value.value == 0.1
    assert means(row) == {
        "Coral - Dense": 0,
        "Coral - Tide": -10,
        "cost of heirs": 1,
        "cost of calcification": -12,
    }
    assert set(row.verdicts.values()) == {"changes"}


def test_a_conclusion_that_holds(make_run: Make, estimate: Estimate_) -> None:
    """Another size of the same sign is the same conclusion."""
    changed = [make_run("coral", variant=Z.variant, columns=right(16))]
    row = rows(estimate(shipped(make_run) + changed))["outlier_z 1.75"]
    assert means(row)["Coral - Dense"] == 14
    # Beyond Tide are 4 of 20: a resample misses all with P = 0.8^20 = 1.2% only.
    assert row.verdicts == {"Coral - Dense": "as shipped", "Coral - Tide": "changes"}
    assert row.conclusions["cost of heirs"] == "not run"
    assert "cost of heirs" not in row.verdicts


def test_a_constant_of_tide_touches_nothing_but_tide(make_run: Make, estimate: Estimate_) -> None:
    changed = [make_run("tide", variant=W.variant, columns=right(1))]
    row = rows(estimate(shipped(make_run) + changed))["w 0.4"]
    assert means(row) == {"Coral - Tide": 11}
    assert row.verdicts == {"Coral - Tide": "changes"}
    assert row.value is None


def test_a_constant_of_an_ablation_is_compared_under_it(
    make_run: Make, estimate: Estimate_
) -> None:
    runs = [
        *shipped(make_run),
        make_run("coral", "fixed_threshold", columns=right(2)),
        make_run("coral", "fixed_threshold", variant=FIXED.variant, columns=right(13)),
        make_run("coral", variant=FIXED.variant, columns=right(20)),  # where it does nothing
    ]
    found = rows(estimate(runs))
    assert list(found) == ["fixed_threshold", "fixed_cosine 0.3"]
    assert means(found["fixed_threshold"]) == {"Coral - Dense": 0, "Coral - Tide": -10}
    assert means(found["fixed_cosine 0.3"]) == {"Coral - Dense": 11, "Coral - Tide": 1}
    assert found["fixed_cosine 0.3"].verdicts["Coral - Dense"] == "changes"


def test_changed_data_are_other_data_for_all(make_run: Make, estimate: Estimate_) -> None:
    """Their runs have another hash, and are paired among themselves."""
    stripped = {"variant": SERIAL.variant, "data_sha256": "b" * 64}
    runs = [
        make_run("coral", columns=right(3), **stripped),
        make_run("coral", "no_heirs", columns=right(4), **stripped),
        make_run("dense", columns=right(1), **stripped),
    ]
    found = rows(estimate([*shipped(make_run), *runs], data_variants={SERIAL.variant}))
    assert means(found["serial strip"]) == {
        "Coral - Dense": 2,
        "Coral - Tide": "not run",
        "cost of heirs": -1,
        "cost of calcification": "not run",
    }


def test_section(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        *shipped(make_run),
        *[make_run("coral", variant=Z.variant, seed=seed, columns=right(2)) for seed in (0, 1)],
        make_run("tide", variant=W.variant, columns=right(13)),
        make_run("coral", "fixed_threshold", columns=right(2)),
        make_run("coral", "fixed_threshold", variant=FIXED.variant, columns=right(20)),
    ]
    section = sensitivity_section(estimate(runs), M, ALL)
    assert section is not None
    text = to_text(section.blocks)
    assert max(map(len, text.split("\n"))) <= 100
    assert "answer_in_top_1, n = 20" in text
    line = next(line for line in text.split("\n") if line.startswith("outlier_z"))
    assert line.split()[:3] == ["outlier_z", "1.75", "half"]
    assert line.count("*") == 2
    words = " ".join(text.split())
    assert (
        "- Coral - Dense: above 0 as shipped; depends on outlier_z 1.75 (half), fixed_cosine 0.3 (half) "
        "(2 of 2 changes)"
    ) in words
    assert "cost of heirs: above 0 as shipped; nothing to compare it with was run" in words
    assert "outlier_z 1.75: seed 2-4 not run" in words
    assert "not run: serial strip" in words
    by_key = {(e.keys["constant"], e.keys["what"]): e for e in section.entries}
    assert by_key["outlier_z", "Coral - Dense"].notes == ["changes"]
    assert by_key["outlier_z", "Coral - Dense"].keys["factor"] == "half"
    names = [name for name, _ in section.figures()]
    assert len(names) == len(set(names))
    assert "sensitivity.answer_in_top_1.outlier_z.1_75.half.coral_dense_ci_low" in names


def test_nothing_depends_on_a_change_that_changes_nothing(
    make_run: Make, estimate: Estimate_
) -> None:
    runs = [
        *shipped(make_run),
        make_run("coral", variant=Z.variant, columns=right(12)),
        make_run("coral", "no_heirs", variant=Z.variant, columns=right(2)),
    ]
    section = sensitivity_section(estimate(runs), M, ALL)
    assert section is not None
    text = to_text(section.blocks)
    assert "cost of heirs: above 0 as shipped; depends on none (0 of 1 changes)" in text


def test_nothing_was_run(make_run: Make, estimate: Estimate_) -> None:
    assert sensitivity_section(estimate(shipped(make_run)), M, ALL) is None
