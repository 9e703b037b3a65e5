"""Verdicts on made-up results: every outcome of every statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.report.estimator import Estimator
from engram_hydra.report.statements import IDS
from engram_hydra.report.verdicts import Verdict, verdicts
from made_up_cells import BASE, FC, STATED, TOP_1, Make, made, right

Decide = Callable[..., dict[str, Verdict]]


def outcomes(found: Mapping[str, Verdict]) -> dict[str, str]:
    return {id_: verdict.outcome for id_, verdict in found.items()}


def test_a_clear_result(decided: Decide) -> None:
    found = decided()
    assert outcomes(found) == {
        "H1": "supported",
        "H2": "supported",
        "H3a": "supported",
        "H3b": "supported",
        "H3c": "refuted",
        "M1": "refuted",
        "M2": "supported",
        "M3": "supported",
        "M4": "refuted",
    }
    assert tuple(found) == IDS
    h1 = found["H1"]
    assert (h1.dataset, h1.metric, h1.seeds) == (FC, TOP_1, "0-4")
    assert h1.runs == (*(f"coral.none.{seed}" for seed in range(5)), "dense.none.deterministic")
    assert h1.numbers["difference"] == pytest.approx(0.3)
    assert h1.numbers["n"] == 100
    # Four p values, of which three are the smallest that 10,000 resamples or flips can give.
    assert h1.numbers["p_holm"] == pytest.approx(4 / 10_001)
    assert h1.why == (
        "Coral - Dense +30.0 [21.0,39.0] points, p < 0.0001 against no difference between Coral and "
        "Dense, after Holm over H1, H2, H3a, H3b p = 0.0004, n = 100: low > 0 and Holm p < .05."
    )
    assert found["M1"].why.startswith("H1 is supported; Coral - Dense +30.0 [")
    assert found["H3a"].numbers["cost"] == found["H3a"].numbers["gain"] == pytest.approx(0.3)
    assert not any(v.other_statements or v.no_statements for v in found.values())
    assert found["H3c"].remarks[0].startswith("by construction")


def test_two_deterministic_runs_are_compared_by_mcnemar(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    """Six questions won and none lost: 2 · 0.5^6."""
    columns = {"coral": right(of=20, count=8), "dense": right(of=20, count=2)}
    runs = made(make_run, columns, seeds=["deterministic"])  # type: ignore[list-item]
    h1 = verdicts({FC: estimate(runs)}, STATED)[0]
    assert h1.numbers["p"] == pytest.approx(2 / 64)
    assert h1.numbers["p_holm"] == pytest.approx(4 * 2 / 64)
    assert h1.outcome == "undecided"
    assert h1.numbers["ci_low"] > 0  # so it is the p that does not suffice
    assert "p of H2, H3a, H3b not computed for want of runs: count as 1 under Holm" in h1.remarks


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"coral": right(count=40)}, {"H1": "refuted", "M1": "supported", "M2": "refuted"}),
        ({"coral": right(count=30)}, {"H1": "refuted", "M1": "supported"}),
        (  # better on 6, worse on 2: the interval includes 0 and reaches beyond the margin
            {"coral": right(count=44, first=2)},
            {"H1": "undecided", "M1": "undecided", "M2": "refuted"},
        ),
        ({"tide": right(count=50)}, {"H2": "refuted", "M2": "refuted"}),
        ({"tide": right(count=90)}, {"H2": "supported", "M2": "refuted"}),
        ({"tide": right(count=70, first=5)}, {"H2": "undecided", "M2": "undecided"}),
        ({"no_heirs": right(count=70), "no_calc": right(count=70)}, {"H3a": "refuted"}),
        ({"no_heirs": right(count=55)}, {"H3a": "undecided", "M3": "supported"}),
        ({"no_calc": right(count=50)}, {"H3b": "refuted"}),
        ({"no_calc": right(count=65)}, {"H3b": "undecided"}),
        ({"no_calc": right(count=90)}, {"H3b": "undecided"}),
        ({"no_immune": right(count=70)}, {"H3c": "supported"}),
        ({"no_immune": right(count=65)}, {"H3c": "undecided"}),
        ({"no_heirs": right(count=70)}, {"M3": "refuted"}),
        ({"no_heirs": right(count=70, first=3)}, {"M3": "undecided"}),
    ],
)
def test_every_outcome(decided: Decide, changes: dict[str, Any], expected: dict[str, str]) -> None:
    found = decided(**changes)
    assert {id_: found[id_].outcome for id_ in expected} == expected


def test_h3_is_not_applicable_unless_h1_is_supported_and_still_counts_under_holm(
    decided: Decide,
) -> None:
    for count in (40, 44):
        found = decided(coral=right(count=count))
        assert found["H1"].outcome != "supported"
        assert {found[id_].outcome for id_ in ("H3a", "H3b", "H3c")} == {"not applicable"}
        assert found["H3a"].why.startswith(f"H1 is {found['H1'].outcome}, so there is no gain")
        assert "p_holm" in found["H3b"].numbers


def test_h3b_goes_by_the_90_percent_interval(decided: Decide) -> None:
    """Three questions won and three lost: 5 points are 2.0 standard errors away, 90% are 1.6."""
    found = decided(no_calc=right(count=70, first=3))["H3b"]
    assert found.numbers["ci_high"] >= 0.05 > found.numbers["narrow_high"]
    assert found.outcome == "supported"
    assert "90% [" in found.why


@pytest.mark.parametrize(
    ("of", "outcome"),
    [(72, "supported"), (71, "undecided")],  # Holm: 2 x 0.95^72 = 0.0498 and 2 x 0.95^71 = 0.0524
)
def test_few_identical_questions_support_no_absence_of_a_difference(
    decided: Decide, of: int, outcome: str
) -> None:
    """Coral wins 40 over Dense, and no question differs from Tide or without calcification."""
    whole, null = right(of=of, count=60), right(of=of, count=20)
    columns = {name: null if name in ("dense", "no_immune") else whole for name in BASE}
    found = decided(**{**columns, "no_heirs": null})
    assert found["H1"].outcome == "supported"
    for id_ in ("H2", "H3b"):
        assert found[id_].numbers["p"] == pytest.approx(0.95**of)
        assert found[id_].outcome == outcome
    found = decided(
        **{name: whole if name == "no_immune" else col for name, col in columns.items()}
    )
    assert found["H3c"].numbers["p"] == pytest.approx(0.95**of)
    # One question that differs gives the bootstrap a variance of its own.
    one = decided(**{**columns, "no_calc": right(of=of, count=59)})["H3b"]
    assert one.numbers["p"] < 0.95**of


def test_one_seed_missing_is_not_run_and_names_it(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    runs = [
        r
        for r in made(make_run, BASE)
        if r.run_id not in ("coral.no_heirs.3", "dense.none.deterministic")
    ]
    found = {v.id: v for v in verdicts({FC: estimate(runs)}, STATED) if v.role == "primary"}
    assert {id_ for id_, v in found.items() if v.outcome == "not run"} == set(IDS) - {"H2"}
    assert found["H3a"].why == (
        "Missing: coral no_heirs seed 3, dense. Run: "
        "python -m engram_hydra +experiment=ablations dataset=fc_sh_6k; "
        "python -m engram_hydra +experiment=anchors dataset=fc_sh_6k"
    )
    assert found["H3a"].numbers == {}
    assert "coral.no_heirs.4" in found["H3a"].runs
    assert found["H2"].outcome == "supported"


def test_no_runs(estimate: Callable[..., Estimator]) -> None:
    for estimators in ({}, {FC: estimate([])}):
        found = verdicts(estimators, STATED)
        assert {verdict.outcome for verdict in found} == {"not run"}
        assert {verdict.runs for verdict in found} == {()}
        assert {verdict.seeds for verdict in found} == {""}
        assert [v.id for v in found] == [*IDS, *IDS, *IDS, "H1"]
        assert [v.role for v in found] == ["primary"] * 9 + ["secondary"] * 19
        assert "+experiment=subem dataset=fc_sh_6k reader=openai" in found[-1].why


def test_a_metric_that_was_not_logged(make_run: Make, estimate: Callable[..., Estimator]) -> None:
    runs = made(make_run, BASE, "answer_in_top_10")
    h1 = verdicts({FC: estimate(runs)}, STATED)[0]
    assert h1.outcome == "not run"
    assert "coral (answer_in_top_1 not logged)" in h1.why


@pytest.mark.parametrize("share", [0, 1])
def test_all_wrong_and_all_correct(decided: Decide, share: int) -> None:
    found = decided(**{name: right(count=100 * share) for name in BASE})
    assert found["H1"].outcome == "refuted"
    assert found["H2"].outcome == "supported"
    assert found["M3"].outcome == found["M4"].outcome == "refuted"
    assert "identical on 100 questions; true rate of difference below 0.030" in found["H1"].remarks
    least = (
        "smallest detectable difference 6.0 points, more than the margin: n = 100 is too small to show "
        "a difference of 5 points either way"
    )
    assert least in found["H1"].remarks
    saturated = "saturated: 0 of 100 questions are left to win above Dense"
    assert (saturated in found["H1"].remarks) == bool(share)


def test_saturation_changes_no_verdict(decided: Decide) -> None:
    found = decided(tide=right(count=95), coral=right(count=95))["H2"]
    assert "saturated: 5 of 100 questions are left to win above Tide" in found.remarks
    assert found.outcome == "supported"
    assert not any("saturated" in r for r in decided(tide=right(count=94))["H2"].remarks)


def test_one_question(decided: Decide) -> None:
    found = decided(**{name: right(of=1, count=1) for name in BASE})
    assert found["H1"].outcome == "undecided"
    assert found["H1"].numbers["n"] == 1
    assert "a single question can't show any difference" in found["H1"].remarks
    assert "smallest_detectable" not in found["H1"].numbers


def test_ties_of_bm25_change_nothing_for_dense(decided: Decide, make_run: Make) -> None:
    bm25 = made(make_run, {"bm25": right(count=90), "bm25_ties_newest": right(count=10)})
    assert decided(more=bm25) == decided()


@pytest.mark.parametrize(("best", "outcome"), [(75, "supported"), (74, "refuted")])
def test_m4_compares_the_range_over_seeds_with_the_gap(
    make_run: Make, estimate: Callable[..., Estimator], best: int, outcome: str
) -> None:
    """Four seeds at 70 and one better; Dense at 66.2: gap 4.8 of 5 points, 4.6 of 4."""
    runs = made(make_run, {"dense": right(of=500, count=331)})
    runs += made(make_run, {"coral": right(of=500, count=350)}, seeds=range(4))
    runs += made(make_run, {"coral": right(of=500, count=5 * best)}, seeds=[4])
    m4 = verdicts({FC: estimate(runs)}, STATED)[8]
    assert m4.numbers["range"] == pytest.approx((best - 70) / 100)
    assert m4.numbers["gap"] == pytest.approx(0.7 + (best - 70) / 500 - 0.662)
    assert m4.outcome == outcome
    assert f"range over {best - 70}.0 points (SD" in m4.why


def test_m4_is_decided_for_every_metric_and_set_that_was_run(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    cells = {name: BASE[name] for name in ("coral", "dense")}
    long = "fc_mh_262k"
    estimators = {
        FC: estimate(made(make_run, cells, "subem")),
        long: estimate(made(make_run, cells, "answer_in_top_10", dataset=long), dataset=long),
        "synthetic": estimate(made(make_run, cells, dataset="synthetic"), dataset="synthetic"),
    }
    found = [v for v in verdicts(estimators, STATED) if v.id == "M4" and v.outcome != "not run"]
    # Neither SubEM of a reader without a model nor synthetic data decide anything.
    assert [(v.dataset, v.metric, v.role) for v in found] == [
        (long, "answer_in_top_10", "secondary")
    ]


def test_subem_with_a_model_reader_is_a_secondary_row_of_h1(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    for reader, outcome in (("newest", "not run"), ("openai:some", "supported")):
        runs = made(make_run, BASE, "subem", reader=reader)
        found = verdicts({FC: estimate(runs, reader=reader)}, STATED)
        rows = [v for v in found if v.metric == "subem" and v.id != "M4"]
        assert [(v.id, v.role, v.outcome) for v in rows] == [("H1", "secondary", outcome)]


def test_secondary_rows_are_adjusted_among_themselves(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    runs = made(make_run, BASE, "answer_in_top_10", dataset="fc_mh_6k")
    found = verdicts({"fc_mh_6k": estimate(runs, dataset="fc_mh_6k")}, STATED)
    assert {v.outcome for v in found if v.role == "primary"} == {"not run"}
    rows = {v.id: v for v in found if v.dataset == "fc_mh_6k"}
    assert rows["H1"].outcome == "supported"
    assert "secondary: Holm over the same four on this row" in rows["H1"].remarks


def test_which_runs_were_made_under_other_statements(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    runs = made(make_run, BASE)
    runs[0] = replace(runs[0], tags={**runs[0].tags, "engram.statements_sha256": "0" * 64})
    bare = {k: v for k, v in runs[1].tags.items() if k != "engram.statements_sha256"}
    runs[1] = replace(runs[1], tags=bare)
    found = {v.id: v for v in verdicts({FC: estimate(runs)}, STATED) if v.role == "primary"}
    assert found["H1"].other_statements == ("coral.none.0",)
    assert found["H1"].no_statements == ("coral.none.1",)
    assert found["H1"].outcome == "supported"
