"""Families of paired comparisons, on results small enough to work out by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engram_hydra.errors import DataError
from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.cells import Run
from engram_hydra.report.comparisons import Comparison, comparison_section, comparisons
from engram_hydra.report.document import to_text
from engram_hydra.report.estimator import Estimator
from engram_hydra.stats import holm, mcnemar

M = "answer_in_top_1"
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def share(n: int, of: int = 40) -> list[float]:
    """The first ``n`` of ``of`` questions answered."""
    return [1.0] * n + [0.0] * (of - n)


def compared(estimator: Estimator, *metrics: str) -> dict[tuple[str, str], Comparison]:
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), metrics or [M])
    return {(one.row, one.against): one for one in found}


@pytest.fixture
def runs(make_run: Make) -> Callable[..., list[Run]]:
    """Coral on two seeds, Dense, Tide and BM25 with both tie rules, by how many they answer."""

    def build(coral: Sequence[int] = (30, 32), oldest: int = 12, newest: int = 14) -> list[Run]:
        made = [make_run(seed=s, columns={M: share(n)}) for s, n in enumerate(coral)]
        made += [
            make_run("dense", columns={M: share(14)}),
            make_run("tide", columns={M: share(28)}),
        ]
        made += [make_run("bm25", columns={M: share(oldest)})]
        variant = {"variant": "bm25_ties_newest"}
        return [*made, make_run("bm25", columns={M: share(newest)}, **variant)]

    return build


def test_rows_meet_anchors_and_anchors_one_another_once(
    runs: Callable[..., list[Run]], make_run: Make, estimate: Estimate_
) -> None:
    more = [make_run("oracle_immune", columns={M: share(40)})]
    more += [make_run("coral", "no_heirs", s, columns={M: share(20)}) for s in (0, 1)]
    found = compared(estimate(runs() + more))
    assert set(found) == {
        *((row, a) for row in ("Coral (as shipped)", "no heirs") for a in ("Tide", "Dense")),
        *(
            (row, "BM25, ties oldest")
            for row in ("Coral (as shipped)", "no heirs", "Tide", "Dense")
        ),
        ("Tide", "Dense"),
        ("Coral (as shipped)", "no heirs"),
    }
    families = {pair: one.family for pair, one in found.items()}
    assert families["Tide", "Dense"] == f"{M} on fc_sh_6k: rows against anchors"
    ablations = f"{M} on fc_sh_6k: Coral against its ablations"
    assert families["Coral (as shipped)", "no heirs"] == ablations


def test_a_clear_difference(runs: Callable[..., list[Run]], estimate: Estimate_) -> None:
    one = compared(estimate(runs()))["Coral (as shipped)", "Dense"]
    assert (one.outcome, one.test) == ("better", "sign-flip")
    assert one.difference.value == pytest.approx((31 - 14) / 40)
    assert one.difference.low > 0.2
    assert one.p == 1 / 10_001
    assert one.p_holm == pytest.approx(5 * one.p)  # of six, Tide - BM25 alone has a smaller p
    [by_seed] = [note for note in one.notes if "each seed" in note]
    assert by_seed == "McNemar's p of each seed: 0.000 to 0.000"


def test_two_deterministic_runs_meet_in_mcnemars_test(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    found = compared(estimate(runs()))
    one = found["Tide", "Dense"]
    assert one.test == "exact McNemar"
    assert one.p == mcnemar(np.array(share(28)), np.array(share(14)))
    family = [other for other in found.values() if other.family == one.family]
    np.testing.assert_allclose([x.p_holm for x in family], holm([x.p for x in family]))


def test_ties_decide_where_the_other_rule_changes_the_outcome(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    one = compared(estimate(runs(oldest=14, newest=40)))["Coral (as shipped)", "BM25, ties oldest"]
    assert one.outcome == "undecided (ties)"
    assert "with BM25's ties newest: worse" in one.notes
    pair = ("Coral (as shipped)", "BM25, ties oldest")
    assert compared(estimate(runs(oldest=14, newest=15)))[pair].outcome == "better"
    alone = [run for run in runs() if "ties_newest" not in run.run_id]
    assert "whether ties decide is not known" in compared(estimate(alone))[pair].notes[-1]


def test_too_small_to_be_shown(runs: Callable[..., list[Run]], estimate: Estimate_) -> None:
    one = compared(estimate(runs(coral=(30, 30))))["Coral (as shipped)", "Tide"]
    assert (one.outcome, one.p) == ("not shown", pytest.approx(0.5, abs=0.02))
    assert one.detectable == 6 / 40  # of a 0/1 metric never less


def test_identical_is_on_each_question_not_on_the_mean(make_run: Make, estimate: Estimate_) -> None:
    same = [make_run("dense", columns={M: [1, 0, 1]}), make_run("tide", columns={M: [1, 0, 1]})]
    [one] = compared(estimate(same)).values()
    assert (one.outcome, one.p, one.p_holm) == ("identical", 1, 1)
    assert "identical on 3 questions; true rate of difference below 1.000" in one.notes
    turned = [make_run("dense", columns={M: [1, 0]}), make_run("tide", columns={M: [0, 1]})]
    [one] = compared(estimate(turned)).values()
    assert (one.outcome, one.difference.value) == ("not shown", 0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_right_and_all_wrong_and_one_question(
    make_run: Make, estimate: Estimate_, value: float
) -> None:
    for n in (1, 5):
        columns = {M: [value] * n}
        pair = [make_run("dense", columns=columns), make_run("bm25", columns=columns)]
        [one] = compared(estimate(pair)).values()
        assert one.outcome == "identical"
    pair = [make_run("dense", columns={M: [1]}), make_run("bm25", columns={M: [0]})]
    [one] = compared(estimate(pair)).values()
    assert (one.outcome, one.p, one.detectable) == ("not shown", 1, float("inf"))
    assert "saturated: fewer than six questions are left to win" in one.notes


def test_a_missing_seed_is_left_out_of_both(make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run(seed=s, columns={M: share(s, 4)}) for s in (0, 1, 2)]
    runs += [make_run("coral", "no_calc", s, columns={M: share(s, 4)}) for s in (0, 2)]
    one = compared(estimate(runs))["Coral (as shipped)", "no calcification"]
    assert one.outcome == "identical"
    assert "difference on the common seeds 0,2 only" in one.notes


def test_other_questions_are_refused(make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run("dense"), make_run("tide", ids=["q0", "q9"])]
    with pytest.raises(DataError, match="can't be paired"):
        compared(estimate(runs))


def test_one_run_has_nothing_to_meet(make_run: Make, estimate: Estimate_) -> None:
    assert compared(estimate([make_run("dense")])) == {}
    assert compared(estimate([])) == {}
    assert comparison_section([]) is None


def test_the_section_names_its_families(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    estimator = estimate(runs())
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), [M])
    section = comparison_section(found)
    assert section is not None
    text = to_text(section.blocks)
    assert f"{M} on fc_sh_6k: rows against anchors, 6 tests" in text
    differences = np.repeat([0, 1, 0.5, 0], [14, 16, 2, 8])
    least = f"{100 * 2.8 * differences.std(ddof=1) / 40**0.5:.1f}"
    line = next(x for x in text.split("\n") if x.startswith("Coral (as shipped) - Dense"))
    assert line.split()[5:] == ["+42.5", line.split()[6], "<.001", "<.001", "better", least]
    assert max(map(len, text.split("\n"))) <= 100
    rows = list(csv.DictReader(io.StringIO(section.to_csv({"k": 10}))))
    assert len(rows) == len(found)
    assert [float(row["p_holm"]) for row in rows] == [one.p_holm for one in found]
