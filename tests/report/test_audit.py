"""The audit section from made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engram_hydra.report.ablation_table import ablation_tables
from engram_hydra.report.audit import audit_section
from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator

M = "answer_in_top_1"
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def audited(make_run: Make, method: str, rule: str, right: int, seed: Any = "deterministic") -> Run:
    columns = {M: [1.0] * right + [0.0] * (10 - right)}
    return make_run(method, seed=seed, columns=columns, audit="true", audit_rule=rule)


def runs(make_run: Make) -> list[Run]:
    """Of ten questions Dense goes from 2 to 5 by the re-order, Coral from 4 to 6."""
    return [
        audited(make_run, "dense", "plain", 2),
        audited(make_run, "dense", "own_score", 2),
        audited(make_run, "dense", "newest_first", 5),
        *(audited(make_run, "coral", "plain", 4, seed) for seed in range(5)),
        *(audited(make_run, "coral", "own_score", 4, seed) for seed in range(5)),
        *(audited(make_run, "coral", "newest_first", 6, seed) for seed in range(5)),
        make_run("dense", columns={M: [1.0] * 10}),  # no audit run
    ]


def numbers(estimator: Estimator) -> dict[tuple[str, str, str], Any]:
    section = audit_section(estimator, [M])
    assert section is not None
    return {
        (e.keys["method"], e.keys["rule"], e.keys["what"]): (
            round(e.value.value, 9) if isinstance(e.value, Estimate) else e.value
        )
        for e in section.entries
    }


def test_each_rule_against_plain(make_run: Make, estimate: Estimate_) -> None:
    pool, order = "own_score - plain", "newest_first - plain"
    assert numbers(estimate(runs(make_run))) == {
        ("dense", "plain", "value"): 0.2,
        ("dense", "own_score", "value"): 0.2,
        ("dense", "own_score", pool): 0.0,
        ("dense", "newest_first", "value"): 0.5,
        ("dense", "newest_first", order): 0.3,
        ("coral", "plain", "value"): 0.4,
        ("coral", "own_score", "value"): 0.4,
        ("coral", "own_score", pool): 0.0,
        ("coral", "newest_first", "value"): 0.6,
        ("coral", "newest_first", order): 0.2,
        ("coral beyond dense", "own_score", pool): 0.0,
        ("coral beyond dense", "newest_first", order): -0.1,  # 0.2 - 0.3
    }


def test_the_difference_of_differences_is_paired(make_run: Make, estimate: Estimate_) -> None:
    """Question by question: Coral gains on two, Dense on three of which one is Coral's too."""
    section = audit_section(estimate(runs(make_run)), [M])
    assert section is not None
    last = section.entries[-1].value
    # Sums of ten draws from two -1, one 1 and seven 0, by convolution: P(<= -5) = 2.0% and
    # P(<= -4) = 6.9%; P(<= 1) = 93.3% and P(<= 2) = 98.2%.
    assert isinstance(last, Estimate)
    assert (round(last.value, 9), round(last.low, 9), round(last.high, 9)) == (-0.1, -0.4, 0.2)


def test_audit_runs_enter_no_other_table(make_run: Make, estimate: Estimate_) -> None:
    estimator = estimate([*runs(make_run), audited(make_run, "mine", "plain", 3)])
    [table] = ablation_tables(estimator)
    rows = {row.label: row for row in table.rows}
    assert isinstance(rows["Dense"].value, Estimate)
    assert rows["Dense"].value.value == 1
    assert rows["Coral (as shipped)"].value == "not run"
    assert "mine" not in rows
    assert ablation_tables(estimate(runs(make_run)[:-1])) == []


def test_what_is_missing_is_said(make_run: Make, estimate: Estimate_) -> None:
    found = numbers(estimate([audited(make_run, "coral", "own_score", 4, 0)]))
    assert found["coral", "own_score", "value"] == 0.4
    assert found["coral", "own_score", "own_score - plain"] == "not run"
    assert found["dense", "plain", "value"] == "not run"
    assert found["coral beyond dense", "own_score", "own_score - plain"] == "not run"
    assert audit_section(estimate([make_run("dense")]), [M]) is None


def test_another_method_is_compared_too(make_run: Make, estimate: Estimate_) -> None:
    mine = [audited(make_run, "mine", rule, n) for rule, n in (("plain", 1), ("newest_first", 9))]
    found = numbers(estimate(runs(make_run) + mine))
    assert found["mine beyond dense", "newest_first", "newest_first - plain"] == 0.5  # 0.8 - 0.3


def test_text(make_run: Make, estimate: Estimate_) -> None:
    long = audited(make_run, "a_users_method_with_quite_a_long_name", "plain", 3)
    section = audit_section(estimate([*runs(make_run)[:-2], long]), [M])
    assert section is not None
    text = to_text(section.blocks)
    assert max(map(len, text.split("\n"))) <= 100
    line = next(line for line in text.split("\n") if line.startswith("coral, newest_first"))
    assert line.split()[2:3] + line.split()[4:7] == ["0.600", "10", "0-3", "+20.0"]
    assert "coral, newest_first: seed 4 not run; difference" not in text
    assert "difference on the common seeds 0-3 only" in text
