"""The attribution section from made-up runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.errors import ConfigError, DataError
from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.ablation_tests import ablation_tests
from engram_hydra.report.attribution import attribution_section
from engram_hydra.report.cells import Run
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Section

M = "answer_in_top_1"
PARTS = {"heirs": "no_heirs", "calcification": "no_calc"}
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def section(estimator: Estimator, parts: dict[str, str] = PARTS, method: str = "coral") -> Any:
    labels = row_labels(estimator)
    tests = ablation_tests(comparisons(estimator, "fc_sh_6k", labels, [M]))
    return attribution_section(estimator, [M], method, parts, tests)


def numbers(found: Section) -> dict[tuple[str, str], Any]:
    return {(e.keys["part"], e.keys["effect"]): e.value for e in found.entries}


def factorial(make_run: Make, seeds: Sequence[int] = range(5)) -> list[Run]:
    """Four questions; the whole is right on 3, without heirs on 3, without calcification on 2, null 1."""
    right = {"none": 3, "no_heirs": 3, "no_calc": 2, "no_calc+no_heirs": 1}
    return [
        make_run("coral", ablation, seed, columns={M: [1.0] * n + [0.0] * (4 - n)})
        for ablation, n in right.items()
        for seed in seeds
    ]


def test_effects_by_hand(make_run: Make, estimate: Estimate_) -> None:
    """The null's ablation is found whatever the order of its parts."""
    found = section(estimate(factorial(make_run)))
    values = {key: value.value for key, value in numbers(found).items()}
    assert values == {
        ("whole", "gain"): 0.5,  # (3 - 1) / 4
        ("heirs", "cost"): 0.0,  # (3 - 3) / 4
        ("heirs", "alone"): 0.25,  # (2 - 1) / 4
        ("heirs", "main effect"): 0.125,  # half of 0 and 1, of 4
        ("heirs", "share"): 0.125,
        ("calcification", "cost"): 0.25,  # (3 - 2) / 4
        ("calcification", "alone"): 0.5,  # (3 - 1) / 4
        ("calcification", "main effect"): 0.375,
        ("calcification", "share"): 0.375,
        ("heirs x calcification", "interaction"): -0.25,  # (3 - 3 - 2 + 1) / 4
    }
    # Only question 1 differs, by 1: 0 or all of 4 draws hit it with P = 32% and 0.4%, three with 4.7%.
    assert numbers(found)["calcification", "cost"] == Estimate(0.25, 0, 0.75, 4)


def test_text(make_run: Make, estimate: Estimate_) -> None:
    text = to_text(section(estimate(factorial(make_run))).blocks)
    assert "answer_in_top_1, n = 4" in text
    lines = {line.split("  ")[0]: line.split() for line in text.split("\n")}
    assert lines["heirs"][1:3] == ["+0.0", "[0.0,0.0]"]
    assert lines["whole - null"][3] == "+50.0"
    assert lines["heirs x calcification"][3] == "-25.0"
    assert max(map(len, text.split("\n"))) <= 100


def test_dense_stands_for_the_null(make_run: Make, estimate: Estimate_) -> None:
    runs = [run for run in factorial(make_run) if "+" not in run.tags["engram.ablation"]]
    assert "missing: no_heirs+no_calc" in section(estimate(runs)).entries[0].notes
    dense = make_run("dense", columns={M: [1, 0, 0, 0]})
    found = section(estimate([*runs, dense]))
    assert numbers(found)["whole", "gain"].value == 0.5
    assert "Dense, which it equals, stands for it" in to_text(found.blocks)
    # Where the null was run, it is what counts.
    other = make_run("dense", columns={M: [0, 0, 0, 0]})
    found = section(estimate([*factorial(make_run), other]))
    assert numbers(found)["whole", "gain"].value == 0.5
    assert "Dense, which" not in to_text(found.blocks)


def test_dense_stands_for_no_other_null(make_run: Make, estimate: Estimate_) -> None:
    """Coral with resistance off has displacements, and another method knows nothing of Dense."""
    resist = {"heirs": "no_heirs", "resist": "no_resistance"}
    runs = [make_run("coral", ablation) for ablation in ("none", "no_heirs", "no_resistance")]
    found = section(estimate([*runs, make_run("dense")]), resist)
    assert found.entries[0].notes == ["missing: no_heirs+no_resistance"]
    runs = [make_run("mine", ablation) for ablation in ("none", "no_heirs", "no_calc")]
    found = section(estimate([*runs, make_run("dense")]), PARTS, "mine")
    assert found.entries[0].notes == ["missing: no_heirs+no_calc"]


def test_missing_combinations_are_named(make_run: Make, estimate: Estimate_) -> None:
    found = section(estimate([make_run("coral", "none"), make_run("coral", "no_calc")]))
    assert "Not run: coral with ablation no_heirs+no_calc, no_heirs." in to_text(found.blocks)
    assert dict(found.figures()) == {}


def test_nothing_to_attribute(make_run: Make, estimate: Estimate_) -> None:
    assert section(estimate([make_run("coral"), make_run("dense")])) is None
    elsewhere = [
        make_run("coral", "no_heirs", variant="w"),
        make_run("coral", "no_calc", audit="true", audit_rule="plain"),
        make_run("coral", "no_heirs+no_feeding"),
    ]
    assert section(estimate(elsewhere)) is None


def test_one_set_of_seeds_for_all_combinations(make_run: Make, estimate: Estimate_) -> None:
    """Seed 4 is right everywhere, but one combination lacks it: without it nothing is gained."""
    runs = [
        make_run("coral", ablation, seed, columns={M: [float(seed == 4 and ablation == "none")]})
        for ablation in ("none", "no_heirs", "no_calc", "no_heirs+no_calc")
        for seed in range(5)
        if (ablation, seed) != ("no_heirs", 4)
    ]
    found = section(estimate(runs))
    assert numbers(found)["whole", "gain"] == numbers(found)["calcification", "share"]
    assert numbers(found)["whole", "gain"] == Estimate(0, 0, 0, 1)
    assert "difference on the common seeds 0-3 only" in to_text(found.blocks)


def test_no_common_seed(make_run: Make, estimate: Estimate_) -> None:
    runs = factorial(make_run, [0])
    runs[3] = make_run("coral", "no_calc+no_heirs", 1, columns={M: [0, 0, 0, 0]})
    found = section(estimate(runs))
    assert found.entries[0].value == "n/a"
    assert "not paired: no common seed (seeds 1 against 0)." in to_text(found.blocks)


def test_a_metric_that_one_combination_lacks(make_run: Make, estimate: Estimate_) -> None:
    runs = factorial(make_run, [0])
    runs[0] = make_run(seed=0, columns={M: [1, 1, 1, 0], "subem": [1, 1, 1, 1]})
    found = attribution_section(estimate(runs), [M, "subem"], "coral", PARTS, {})
    assert found is not None
    assert "n/a: not every combination logged it." in to_text(found.blocks)
    assert {e.keys["metric"] for e in found.entries if isinstance(e.value, Estimate)} == {M}


def test_other_questions_are_refused(make_run: Make, estimate: Estimate_) -> None:
    runs = factorial(make_run, [0])
    runs[2] = make_run("coral", "no_calc", 0, ids=["a", "b", "c", "d"], columns={M: [1, 1, 0, 0]})
    with pytest.raises(DataError, match="can't be paired"):
        section(estimate(runs))


def test_redundant_parts_are_named(make_run: Make, estimate: Estimate_) -> None:
    """Either part does all the work: both are redundant, and each has half of the gain."""
    good, bad = [1.0] * 90 + [0.0] * 10, [0.0] * 100
    runs = [
        make_run("coral", ablation, columns={M: bad if "+" in ablation else good})
        for ablation in ("none", "no_heirs", "no_calc", "no_heirs+no_calc")
    ]
    found = section(estimate(runs))
    assert to_text(found.blocks).replace("\n", " ").count("redundant (alone +90.0") == 2
    assert numbers(found)["heirs", "share"].value == pytest.approx(0.45)
    assert numbers(found)["heirs x calcification", "interaction"].value == pytest.approx(-0.9)


def test_a_part_that_helps_alone_and_harms_the_whole_is_named(
    make_run: Make, estimate: Estimate_
) -> None:
    """Out of a hundred: nothing 0, heirs 50, calcification 90, both 50."""
    right = {"none": 5, "no_heirs": 9, "no_calc": 5, "no_heirs+no_calc": 0}
    runs = [
        make_run("coral", ablation, columns={M: [1.0] * 10 * n + [0.0] * 10 * (10 - n)})
        for ablation, n in right.items()
    ]
    text = to_text(section(estimate(runs)).blocks)
    assert "heirs: helpful alone, harmful in the whole (alone +50.0 (" in text
    assert "calcification: redundant (alone +90.0 (" in text


def test_the_switches_of_another_method(make_run: Make, estimate: Estimate_) -> None:
    """Three parts, of which only ``pointer`` matters."""
    off = {"decay": "no_decay", "index": "no_index", "pointer": "no_pointer"}
    runs = []
    for m in range(8):
        ablation = "+".join(name for i, name in enumerate(off.values()) if not m >> i & 1)
        column = [1.0, 0.0] if m >> 2 & 1 else [0.0, 0.0]
        runs.append(make_run("mine", ablation or "none", columns={M: column}))
    values = numbers(section(estimate(runs), off, "mine"))
    shares = {part: values[part, "share"].value for part in off}
    assert shares == {"decay": 0, "index": 0, "pointer": pytest.approx(0.5)}
    # One of them by itself is a game of its own, in which the others stay on.
    alone = numbers(section(estimate(runs), {"pointer": "no_pointer"}, "mine"))
    assert alone["pointer", "share"].value == alone["whole", "gain"].value == 0.5


@pytest.mark.parametrize(
    "parts", [{}, {f"p{n}": f"no_p{n}" for n in range(9)}, {"a": "no_a", "b": "no_a"}]
)
def test_parts_that_make_no_sense(
    make_run: Make, estimate: Estimate_, parts: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match="1 to 8 different parts"):
        section(estimate([make_run()]), parts)


def test_no_file_is_read_twice(make_run: Make, estimate: Estimate_) -> None:
    read: list[str] = []

    def counted(run: Run) -> Run:
        def rows() -> list[dict[str, Any]]:
            read.append(run.run_id)
            return run.per_question()

        return replace(run, per_question=rows)

    estimator = estimate(map(counted, factorial(make_run)))
    assert attribution_section(estimator, [M, M], "coral", PARTS, {})
    assert len(read) == len(set(read)) == 20
