"""Families of paired comparisons, on results small enough to work out by hand."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.cells import Run
from engram_hydra.report.comparison_section import comparison_section
from engram_hydra.report.comparisons import Comparison, comparisons
from engram_hydra.report.document import Detail, Grid, to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.stats import holm, mcnemar

M = "answer_in_top_1"
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def share(n: int, of: int = 40) -> list[float]:
    """The first ``n`` of ``of`` questions answered."""
    return [1.0] * n + [0.0] * (of - n)


def compared(estimator: Estimator, *metrics: str) -> dict[tuple[str, str], Comparison]:
    """The comparisons that could be made."""
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), metrics or [M])
    return {(one.row, one.against): one for one in found if one.p is not None}


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


def test_methods_meet_anchors_and_ablations_their_whole(
    runs: Callable[..., list[Run]], make_run: Make, estimate: Estimate_
) -> None:
    more = [make_run("oracle_immune", columns={M: share(40)})]
    more += [make_run("random", seed=s, columns={M: share(1)}) for s in (0, 1)]
    more += [
        make_run(method, ablation, s, columns={M: share(20)})
        for method, ablation in (
            ("coral", "no_heirs"),
            ("coral", "no_heirs+no_calc"),
            ("mine", "none"),
            ("mine", "no_part"),
        )
        for s in (0, 1)
    ]
    found = compared(estimate(runs() + more))
    anchors = ("Tide", "Dense", "BM25, ties oldest", "BM25, ties newest")
    methods = {(row, anchor) for row in ("Coral (as shipped)", "mine") for anchor in anchors}
    methods |= {("Tide", "Dense"), *((row, a) for row in anchors[:2] for a in anchors[2:])}
    families = {
        f"{M} on fc_sh_6k: methods against anchors": methods,
        f"{M} on fc_sh_6k: Coral against its ablations": {("Coral (as shipped)", "no heirs")},
        f"{M} on fc_sh_6k: mine against its ablations": {("mine", "mine, no part")},
    }
    assert {one.family for one in found.values()} == set(families)
    for family, pairs in families.items():
        assert {pair for pair, one in found.items() if one.family == family} == pairs
    # Two methods against three anchors and these against one another, under either tie rule.
    sizes = {one.family_size for one in found.values() if one.family.endswith("anchors")}
    assert sizes == {2 * 3 + 3}


def test_nothing_but_methods_changes_the_p_of_methods(
    runs: Callable[..., list[Run]], make_run: Make, estimate: Estimate_
) -> None:
    """Nor do combined parts and another method's ablations change those of one part off."""
    one_off = [make_run("coral", "no_heirs", s, columns={M: share(27)}) for s in (0, 1)]
    before = compared(estimate([*runs(), *one_off]))
    more = [
        make_run(method, ablation, 0, columns={M: share(29)}, **tags)
        for method, ablation, tags in (
            ("random", "none", {}),
            ("oracle_immune", "none", {}),
            ("coral", "no_heirs+no_calc", {}),
            ("tide", "no_recency", {}),
            ("coral", "none", {"audit": "true", "audit_rule": "plain"}),
            ("coral", "none", {"variant": "index_hnsw"}),
        )
    ]
    after = compared(estimate([*runs(), *one_off, *more]))
    assert set(after) - set(before) == {("Tide", "Tide, no recency")}
    assert {pair: after[pair] for pair in before} == before
    more = [make_run("coral", "no_feeding", s, columns={M: share(29)}) for s in (0, 1)]
    after = compared(estimate([*runs(), *one_off, *more]))
    changed = {pair for pair in before if after[pair] != before[pair]}
    assert changed == {("Coral (as shipped)", "no heirs")}


def test_a_clear_difference(runs: Callable[..., list[Run]], estimate: Estimate_) -> None:
    one = compared(estimate(runs()))["Coral (as shipped)", "Dense"]
    assert (one.outcome, one.test) == ("better", "sign-flip")
    assert one.difference.value == pytest.approx((31 - 14) / 40)
    assert one.difference.low > 0.2
    assert one.p == 1 / 10_001
    assert one.p_holm == pytest.approx(5 * one.p)  # of six, Tide - BM25 alone has a smaller p
    assert (one.seeds, one.saturated) == ("0-1", False)
    assert "McNemar's p on seed 0-1: <.001, <.001" in one.notes


def test_two_deterministic_runs_meet_in_mcnemars_test(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    found = compared(estimate(runs()))
    one = found["Tide", "Dense"]
    assert one.test == "exact McNemar"
    assert one.p == mcnemar(np.array(share(28)), np.array(share(14)))
    family = [
        other
        for pair, other in found.items()
        if other.family == one.family and "BM25, ties newest" not in pair
    ]
    assert {other.family_size for other in family} == {len(family)} == {6}
    np.testing.assert_allclose([x.p_holm for x in family], holm([x.p for x in family]))


def test_ties_decide_where_the_other_rule_changes_the_outcome(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    one = compared(estimate(runs(oldest=14, newest=40)))["Coral (as shipped)", "BM25, ties oldest"]
    assert one.outcome == "undecided (ties)"
    assert "ties oldest: better; with BM25's ties newest: worse" in one.notes
    pair = ("Coral (as shipped)", "BM25, ties oldest")
    assert compared(estimate(runs(oldest=14, newest=15)))[pair].outcome == "better"
    alone = [run for run in runs() if "ties_newest" not in run.run_id]
    assert "whether ties decide is not known" in compared(estimate(alone))[pair].notes[-1]


def test_bm25_with_ties_newest_is_adjusted_in_the_place_of_ties_oldest(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    oldest, newest = "BM25, ties oldest", "BM25, ties newest"
    found = compared(estimate(runs(oldest=14, newest=40)))
    one = found["Coral (as shipped)", newest]
    assert (one.outcome, one.difference.value) == ("undecided (ties)", pytest.approx(-9 / 40))
    assert "ties newest: worse; with BM25's ties oldest: better" in one.notes
    rule = {pair: x for pair, x in found.items() if oldest not in pair}
    np.testing.assert_allclose(
        [x.p_holm for x in rule.values() if newest in (x.row, x.against)],
        [
            adjusted
            for x, adjusted in zip(rule.values(), holm([x.p for x in rule.values()]), strict=True)
            if newest in (x.row, x.against)
        ],
    )
    without = compared(estimate([run for run in runs(oldest=14) if "newest" not in run.run_id]))
    assert not [pair for pair in without if newest in pair]
    # The other rule's runs change no p of this one's.
    for pair, one in without.items():
        assert found[pair].p_holm == one.p_holm
    alone = compared(estimate([r for r in runs() if r.run_id != "bm25.none.deterministic"]))
    assert not [pair for pair in alone if oldest in pair]
    note = alone["Coral (as shipped)", newest].notes[-1]
    assert note == "BM25 with ties oldest was not run: whether ties decide is not known"


def test_too_small_to_be_shown(runs: Callable[..., list[Run]], estimate: Estimate_) -> None:
    one = compared(estimate(runs(coral=(30, 30))))["Coral (as shipped)", "Tide"]
    assert (one.outcome, one.p) == ("not shown", pytest.approx(0.5, abs=0.02))
    assert one.test == "sign-flip"  # although both seeds agree on every question
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


def test_mcnemar_of_every_seed_is_described(make_run: Make, estimate: Estimate_) -> None:
    """Six questions won on seed 0, five on seed 1, none on seed 2: p of 2/64, 2/32 and 1."""
    runs = [make_run(seed=s, columns={M: share(n, 20)}) for s, n in ((0, 16), (1, 15), (2, 10))]
    one = compared(estimate([*runs, make_run("dense", columns={M: share(10, 20)})]))[
        "Coral (as shipped)", "Dense"
    ]
    assert (one.test, one.seeds) == ("sign-flip", "0-2")
    assert "McNemar's p on seed 0-2: .031, .062, 1.000" in one.notes
    graded = [make_run("coral", seed=s, columns={"ndcg_any_at_10": [0.5, s / 2]}) for s in (0, 1)]
    graded += [make_run("dense", columns={"ndcg_any_at_10": [0.5, 0.7]})]
    [one] = compared(estimate(graded), "ndcg_any_at_10").values()
    assert not [note for note in one.notes if "McNemar" in note]
    # Differences of 0 and -0.45: 2.8 sd / sqrt(2), with no bound as for a 0/1 metric.
    assert one.detectable == pytest.approx(2.8 * 0.45 / 2)


def test_a_tie_rule_that_only_unmakes_an_identity_decides_nothing(
    make_run: Make, estimate: Estimate_
) -> None:
    pair = [make_run("dense", columns={M: [1, 0]}), make_run("bm25", columns={M: [1, 0]})]
    newest = make_run("bm25", columns={M: [0, 0]}, variant="bm25_ties_newest")
    one = compared(estimate([*pair, newest]))["Dense", "BM25, ties oldest"]
    assert one.outcome == "identical"
    assert "ties oldest: identical; with BM25's ties newest: not shown" in one.notes


def test_seed_means_that_differ_by_rounding_are_identical(
    make_run: Make, estimate: Estimate_
) -> None:
    graded = [make_run("dense", columns={M: [0.1 + 0.2, 0.5]})]
    graded += [make_run("tide", columns={M: [0.3, 0.5]})]
    [one] = compared(estimate(graded)).values()
    assert (one.outcome, one.p, one.difference) == ("identical", 1, Estimate(0, 0, 0, 2))


def test_what_was_not_run_is_said(runs: Callable[..., list[Run]], estimate: Estimate_) -> None:
    estimator = estimate([run for run in runs() if "tide" not in run.run_id])
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), [M])
    by_pair = {(one.row, one.against): one for one in found}
    for pair, why in {
        ("Coral (as shipped)", "Tide"): "Tide not run",
        ("Coral (as shipped)", "no heirs"): "no heirs not run",
    }.items():
        one = by_pair[pair]
        assert (one.difference, one.outcome, one.p, one.notes) == (
            "not run",
            "not run",
            None,
            (why,),
        )
    assert ("random ranking", "Dense") not in by_pair
    section = comparison_section(found)
    assert section is not None
    text = " ".join(to_text(section.blocks).split())
    assert "methods against anchors, 3 tests" in text
    assert "in no test here: Tide not run" in text
    assert "heirs only" not in text  # of which nothing was run
    [folded] = [block for block in section.blocks if isinstance(block, Detail)]
    assert "in no test here: no heirs not run" in to_text(folded.blocks)
    assert "Coral against its ablations, 0 tests" in text


def test_runs_without_a_common_seed_are_not_paired(
    runs: Callable[..., list[Run]], make_run: Make, estimate: Estimate_
) -> None:
    estimator = estimate([*runs(), make_run("coral", "no_heirs", 4, columns={M: share(9)})])
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), [M])
    [one] = [one for one in found if (one.row, one.against) == ("Coral (as shipped)", "no heirs")]
    assert (one.outcome, one.p) == ("n/a", None)
    section = comparison_section(found)
    assert section is not None
    [folded] = [block for block in section.blocks if isinstance(block, Detail)]
    text = " ".join(to_text(folded.blocks).split())
    assert "Coral (as shipped) - no heirs: not paired: no common seed (seeds 0-1 against 4)" in text


@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=3, max_size=3))
@settings(max_examples=20, deadline=None)
def test_p_and_interval_never_decide_alone(
    make_run: Make, estimate: Estimate_, answers: list[list[bool]]
) -> None:
    names = ("dense", "tide", "bm25")
    runs = [
        make_run(name, columns={M: [float(x) for x in column]})
        for name, column in zip(names, answers, strict=True)
    ]
    for one in compared(estimate(runs)).values():
        assert isinstance(one.difference, Estimate) and one.p is not None and one.p_holm is not None
        assert one.difference.low <= one.difference.value <= one.difference.high
        assert one.p <= one.p_holm <= 1
        if one.outcome in ("better", "worse"):
            assert one.p_holm < 0.05
            assert one.difference.low * one.difference.high > 0
            assert (one.difference.value > 0) == (one.outcome == "better")


def test_a_number_that_is_none_is_refused(make_run: Make, estimate: Estimate_) -> None:
    logged = {M: 0.5, f"{M}_ci_low": 0.0, f"{M}_ci_high": 1.0, f"{M}_n": 2.0}
    runs = [make_run("dense", columns={M: [math.nan, 0]}, logged=logged), make_run("tide")]
    with pytest.raises(DataError, match="do the run again"):
        compared(estimate(runs))


def test_other_questions_are_refused(make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run("dense"), make_run("tide", ids=["q0", "q9"])]
    with pytest.raises(DataError, match="can't be paired"):
        compared(estimate(runs))


def test_one_run_has_nothing_to_meet(make_run: Make, estimate: Estimate_) -> None:
    assert compared(estimate([make_run("dense")])) == {}
    assert compared(estimate([])) == {}
    assert comparison_section([]) is None


def test_a_line_for_equal_pairs_and_no_word_of_single_seeds(
    runs: Callable[..., list[Run]], make_run: Make, estimate: Estimate_
) -> None:
    """What the seeds say by themselves stands in the CSV; a metric set aside is folded whole."""
    estimator = estimate([*runs(), *(make_run("mine", columns={M: share(n)}) for n in (14,))])
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), [M])
    [dense] = [one for one in found if (one.row, one.against) == ("Coral (as shipped)", "Dense")]
    section = comparison_section([*found, replace(dense, row="Twin")])
    assert section is not None
    text = to_text(section.blocks)
    assert "Coral (as shipped); Twin - Dense" in text
    assert "McNemar" not in text
    assert "McNemar's p on seed" in section.to_csv({})
    aside = comparison_section(found, {M})
    assert aside is not None
    assert not any(isinstance(block, Grid) for block in aside.blocks)


def test_the_section_names_its_families(
    runs: Callable[..., list[Run]], estimate: Estimate_
) -> None:
    estimator = estimate(runs())
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), [M])
    section = comparison_section(found)
    assert section is not None
    text = to_text(section.blocks)
    assert f"{M} on fc_sh_6k: methods against anchors, 6 tests" in text
    differences = np.repeat([0, 1, 0.5, 0], [14, 16, 2, 8])
    least = f"{100 * 2.8 * differences.std(ddof=1) / 40**0.5:.1f}"
    line = next(x for x in text.split("\n") if x.startswith("Coral (as shipped) - Dense"))
    assert line.split()[5:] == ["+42.5", line.split()[6], "<.001", "<.001", "better", least]
    assert max(map(len, text.split("\n"))) <= 100
    rows = list(csv.DictReader(io.StringIO(section.to_csv({"k": 10}))))
    assert len(rows) == len(found)
    assert [row["p_holm"] for row in rows] == [
        "" if one.p_holm is None else str(float(f"{one.p_holm:.6g}")) for one in found
    ]
    assert {row["seeds"] for row in rows if row["row"] == "Coral (as shipped)" and row["p"]} == {
        "0-1"
    }
