"""The main findings on made-up results: what is said of Dense, of the parts, of Tide, and what is open."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.ablation_tests import ablation_tests
from engram_hydra.report.attribution import attribution_section
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.document import to_markdown, to_text
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.latex import to_latex
from engram_hydra.report.main_findings import main_findings
from engram_hydra.report.page import to_html
from engram_hydra.report.report import Report, summary
from engram_hydra.report.terminal import to_terminal
from engram_hydra.report.tidy import to_json
from engram_hydra.report.verdicts import verdicts
from made_up_cells import BASE, FC, STATED, TOP_1, Make, made, right

Tell = Callable[..., list[str]]
PARTS = {"heirs": "no_heirs", "calcification": "no_calc"}


@pytest.fixture
def reported(make_run: Make, estimate: Callable[..., Estimator]) -> Callable[..., Report]:
    """``reported(coral=…)``: a report of the usual cells where these replace them; None leaves one out."""

    def report(
        *, method: str = "coral", without: Sequence[str] = (), **changes: Sequence[float] | None
    ) -> Report:
        columns = {name: col for name, col in {**BASE, **changes}.items() if col is not None}
        runs = made(make_run, columns)
        estimator = estimate([run for run in runs if run.run_id not in without])
        labels = row_labels(estimator)
        compared = comparisons(estimator, FC, labels, [TOP_1])
        tests = ablation_tests(compared)
        sections: dict[str, Any] = {
            "A": attribution_section(estimator, [TOP_1], method, PARTS, tests) or "not run",
        }
        chapter = Chapter(
            FC, 10, "newest", "minilm", estimator.selection, [], [], sections, set(), {}
        )
        chapter = replace(chapter, compared=compared)
        return Report([chapter], verdicts({FC: estimator}, STATED), STATED, {}, [], {})

    return report


@pytest.fixture
def told(reported: Callable[..., Report]) -> Tell:
    return lambda **changes: reported(**changes).main_findings


def test_a_seed_that_is_missing_is_named_in_each_sentence(told: Tell) -> None:
    """Of the whole nothing is known; of its parts only what four seeds say."""
    dense, parts, tide, *_ = told(without=["coral.none.3"])
    assert dense.endswith("is not known: missing is coral seed 3.")
    assert tide.endswith("is not known: missing is coral seed 3.")
    assert parts.count("(seeds 0-2,4 only)") == parts.count("without it") > 0


def test_two_gains_on_other_seeds_are_told_apart(told: Tell) -> None:
    dense, earned, *_ = told(without=["coral.no_heirs.2"])
    assert "by 30.0 points (95%" in dense
    assert "Of the gain of 30.0 points (seeds 0-1,3-4 only) on fc_sh_6k" in earned


def test_the_same_on_some_seeds_only_says_so(told: Tell) -> None:
    _, _, parts, *_ = told(no_feeding=right(count=70), without=["coral.no_feeding.1"])
    assert "exactly as shipped on these questions: no feeding (seeds 0,2-4 only)" in parts


def test_a_clear_result(told: Tell) -> None:
    dense, earned, parts, tide, bm25, open_ = told()
    assert dense == (
        "Coral as a whole beats Dense by 30.0 points (95% interval 21.0 to 39.0) on fc_sh_6k "
        "(answer_in_top_1, n = 100)."
    )
    assert earned == (
        "Of the gain of 30.0 points on fc_sh_6k (answer_in_top_1) the fair shares (Shapley) are heirs "
        "+30.0 (21.0 to 39.0) and calcification +0.0 (0.0 to 0.0)."
    )
    assert parts.startswith(
        "Part by part on fc_sh_6k (answer_in_top_1): heirs: needed (alone +30.0 (21.0 to 39.0), "
        "without it -30.0 (-39.0 to -21.0); Holm p <.001); calcification: not needed (alone +0.0"
    )
    assert tide == (
        "Coral ties Tide: the difference is +0.0 points (95% interval 0.0 to 0.0) on fc_sh_6k "
        "(answer_in_top_1), within 5 points of 0."
    )
    assert bm25.startswith("How Coral does against BM25 on fc_sh_6k (answer_in_top_1) is not known")
    assert open_ == (
        "Of what was stated, all is decided on fc_sh_6k (answer_in_top_1). Whether Coral beats Dense "
        "elsewhere: on fc_mh_6k (answer_in_top_10) not run; on longmemeval_s_pilot (recall_any_at_5) "
        "not run; on fc_sh_6k (subem) not run."
    )


def test_bm25_under_both_tie_rules(told: Tell) -> None:
    found = told(bm25=right(count=40), bm25_ties_newest=right(count=90))[4]
    assert found.startswith(
        "Coral against BM25 on fc_sh_6k (answer_in_top_1): with its ties oldest +30.0 (21.0 to 39.0) "
        "points, better (Holm p <.001); with its ties newest -20.0 (-28.0 to -13.0) points, worse (Holm"
    )
    assert found.endswith("Both rules together: undecided (ties).")
    found = told(bm25=right(count=40))[4]
    assert "with its ties newest not run. " in found


def test_parts_that_stand_in_for_each_other(told: Tell) -> None:
    found = told(no_heirs=right(count=70))[1]
    assert found.startswith(
        "Either part alone brings the gain (heirs +30.0 (21.0 to 39.0), calcification +30.0 (21.0 to "
        "39.0)); both together bring as much as "
    )
    assert "interaction -30.0 (-39.0 to -21.0)" in found
    found = told(no_heirs=right(count=80))[1]
    assert "both together bring less than calcification alone (30.0 against 40.0 points;" in found
    found = told(no_heirs=right(count=75))[1]
    assert (
        "that both together bring more or less than calcification alone is not shown (30.0" in found
    )


def test_harm_that_holm_does_not_show_is_no_harm(told: Tell) -> None:
    """Five of five questions: an interval without 0, and a p of 1/16 before any adjustment."""
    found = told(no_heirs=right(count=75), no_feeding=right(count=75))[2]
    assert "heirs: may be harmful (alone +30.0 (21.0 to 39.0), without it +5.0 (1.0 to" in found
    assert "not shown after Holm, p ." in found
    assert "may be better than as shipped: no feeding +5.0 (1.0 to" in found
    assert "harmful in the whole" not in found


def test_statements_changed_later_are_warned_of_first(
    make_run: Make, estimate: Callable[..., Estimator], reported: Callable[..., Report]
) -> None:
    report = reported()
    assert report.warnings == []
    runs = {FC: estimate(made(make_run, BASE, statements_sha256="f" * 64))}
    report = replace(report, verdicts=verdicts(runs, STATED))
    blocks = summary(report)
    for text in (
        to_text(blocks),
        to_markdown(blocks),
        to_latex(blocks),
        to_html(blocks, title="T"),
    ):
        assert (
            text.index("Warning.")
            < text.index("differs from the one that all")
            < text.index("beats Dense")
        )
    text = to_terminal(report)
    assert text.index("! Warning. The file of statements") < text.index("beats Dense")
    assert "Of what was stated" not in text
    assert "differs from the one that all" in json.loads(to_json(report))["warnings"][0]


def test_rows_that_do_not_agree_are_both_quoted(
    make_run: Make, estimate: Callable[..., Estimator], reported: Callable[..., Report]
) -> None:
    other = {**BASE, "tide": right(count=50)}
    runs = made(make_run, other, "answer_in_top_10", dataset="fc_mh_6k")
    estimators = {
        FC: estimate(made(make_run, BASE)),
        "fc_mh_6k": estimate(runs, dataset="fc_mh_6k"),
    }
    found = replace(reported(), verdicts=verdicts(estimators, STATED)).main_findings
    (said,) = [sentence for sentence in found if sentence.startswith("The rows do not agree")]
    assert (
        "H2 is supported on fc_sh_6k (answer_in_top_1) with a difference of +0.0 (0.0 to "
        "0.0) points and refuted on "
        "fc_mh_6k (answer_in_top_10) with a difference of +20.0 (13.0 to 28.0) points" in said
    )
    assert "H1" not in said


@pytest.mark.parametrize(
    ("coral", "said"),
    [
        (right(count=30), "Coral as a whole is worse than Dense by 10.0 points (95% interval -"),
        (right(count=40), "Coral as a whole does not beat Dense: the difference is +0.0 points"),
        (  # two won, two lost
            right(count=40, first=2),
            "Coral as a whole does not beat Dense by as much as 5 points: the difference is +0.0 points",
        ),
        (
            right(count=44, first=2),
            "Whether Coral as a whole beats Dense is undecided: the difference is +4.0 points",
        ),
        (None, "Whether Coral as a whole beats Dense on fc_sh_6k (answer_in_top_1) is not known"),
    ],
)
def test_against_dense(told: Tell, coral: list[float] | None, said: str) -> None:
    found = told(coral=coral)
    assert found[0].startswith(said)
    assert not any("fair shares" in sentence for sentence in found)
    assert 4 <= len(found) <= 7


@pytest.mark.parametrize(
    ("tide", "said"),
    [
        (right(count=50), "Coral beats Tide: the difference is +20.0 points"),
        (right(count=90), "Coral is worse than Tide: the difference is -20.0 points"),
        (right(count=70, first=5), "Whether Coral beats Tide is undecided: the difference is +0.0"),
        (right(count=71, first=1), "Coral ties Tide: the difference is -1.0 points"),
        (right(count=71), "Coral ties Tide: the difference is -1.0 points"),
        (
            right(count=72, first=1),
            "Coral does not beat Tide, and whether it ties it or is worse is",
        ),
        (None, "How Coral does against Tide on fc_sh_6k (answer_in_top_1) is not known"),
    ],
)
def test_against_tide(told: Tell, tide: list[float] | None, said: str) -> None:
    assert any(sentence.startswith(said) for sentence in told(tide=tide))


def test_that_it_depends_on_tide_is_said(told: Tell) -> None:
    found = told(**{"tide_w_0.00": right(count=40)})[3]
    assert (
        "H2 depends on Tide's weight of recency w: Coral - Tide at w = 0 (which is Dense) +30.0"
        in found
    )
    assert found.endswith("; w = 0.4 +0.0 [0.0,0.0], supported.")


def test_what_each_part_is_to_the_whole(told: Tell) -> None:
    """Calcification alone is right on 80, with heirs on 70, heirs alone on 70."""
    found = told(
        no_heirs=right(count=80), fixed_threshold=right(count=95), no_feeding=right(count=70)
    )
    assert "heirs: helpful alone, harmful in the whole (alone +30.0 (21.0 to 39.0)" in found[2]
    assert "calcification: redundant (alone +40.0 (" in found[2]
    assert (
        "better than as shipped: fixed threshold +25.0 (17.0 to 34.0), found afterwards among 5"
        in (found[2])
    )
    assert "exactly as shipped on these questions: no feeding." in found[2]
    found = told(no_resistance=right(count=30))
    assert "worse than as shipped: no resistance -40.0 (-50.0 to " in found[2]


def test_an_attribution_of_another_method_is_not_told_as_corals(told: Tell) -> None:
    assert any("not every combination" in sentence for sentence in told(method="mine"))


def test_what_is_open_is_named(told: Tell) -> None:
    found = told(tide=None, coral=right(count=44, first=2))[-1]
    assert found.startswith(
        "Of what was stated, undecided: H1, M1; not applicable: H3a, H3b, H3c; not run: H2, M2 on "
    )


def test_no_runs_at_all() -> None:
    found = main_findings([], verdicts({}, STATED), STATED)
    assert len(found) == 4
    assert found[-1].startswith("Of what was stated, not run: H1, H2, H3a, ")


def test_they_stand_on_top_in_every_form(reported: Callable[..., Report]) -> None:
    report = reported()
    text = to_text(summary(report))
    assert (
        text.index("Main findings") < text.index("Coral as a whole beats") < text.index("Verdicts")
    )
    assert '"main_findings": [\n  "Coral as a whole beats Dense' in to_json(report)
