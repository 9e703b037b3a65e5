"""The main findings on made-up results: what is said of Dense, of the parts, of Tide, and what is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.attribution import attribution_section
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparison_section import comparison_section
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.document import to_text
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.main_findings import main_findings
from engram_hydra.report.report import Report, summary
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
        sections: dict[str, Any] = {
            "A": attribution_section(estimator, [TOP_1], method, PARTS) or "not run",
            "C": comparison_section(comparisons(estimator, FC, labels, [TOP_1])) or "not run",
        }
        chapter = Chapter(
            FC, 10, "newest", "minilm", estimator.selection, [], [], sections, set(), {}
        )
        return Report([chapter], verdicts({FC: estimator}, STATED), STATED, {}, [], {})

    return report


@pytest.fixture
def told(reported: Callable[..., Report]) -> Tell:
    return lambda **changes: reported(**changes).main_findings


def test_a_seed_that_is_missing_is_named_in_each_sentence(told: Tell) -> None:
    """Of the whole nothing is known; of its parts only what four seeds say."""
    dense, parts, tide, _ = told(without=["coral.none.3"])
    assert dense.endswith("is not known: missing is coral seed 3.")
    assert tide.endswith("is not known: missing is coral seed 3.")
    assert parts.count("(seeds 0-2,4 only)") == parts.count("without it") > 0


def test_two_gains_on_other_seeds_are_told_apart(told: Tell) -> None:
    dense, earned, *_ = told(without=["coral.no_heirs.2"])
    assert "by 30.0 points (95%" in dense
    assert "of the gain of 30.0 points (seeds 0-1,3-4 only) the fair shares" in earned


def test_the_same_on_some_seeds_only_says_so(told: Tell) -> None:
    *_, parts, _, _ = told(no_feeding=right(count=70), without=["coral.no_feeding.1"])
    assert "exactly as shipped on these questions: no feeding (seeds 0,2-4 only)" in parts


def test_a_clear_result(told: Tell) -> None:
    dense, earned, parts, tide, open_ = told()
    assert dense == (
        "Coral as a whole beats Dense by 30.0 points (95% interval 21.0 to 39.0) on fc_sh_6k "
        "(answer_in_top_1, n = 100)."
    )
    assert earned.startswith(
        "The credit goes to heirs: of the gain of 30.0 points the fair shares (Shapley) are heirs +30.0 ("
    )
    assert earned.endswith("and calcification +0.0 (0.0 to 0.0).")
    assert parts.startswith(
        "Part by part, heirs: needed (alone +30.0, without it -30.0 points (-39.0"
    )
    assert "calcification" not in parts  # of which nothing is clear
    assert tide == (
        "Coral ties Tide: the difference is +0.0 points (95% interval 0.0 to 0.0), within 5 points of 0."
    )
    assert open_ == (
        "Of what was stated, all is decided. Whether Coral beats Dense elsewhere: on fc_mh_6k "
        "(answer_in_top_10) not run; on longmemeval_s_pilot (recall_any_at_5) not run; on fc_sh_6k "
        "(subem) not run."
    )


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
    assert not any("credit goes to" in sentence for sentence in found)
    assert 3 <= len(found) <= 5


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
        (None, "How Coral does against Tide is not known"),
    ],
)
def test_against_tide(told: Tell, tide: list[float] | None, said: str) -> None:
    assert told(tide=tide)[3].startswith(said)


def test_that_it_depends_on_tide_is_said(told: Tell) -> None:
    found = told(**{"tide_w_0.00": right(count=40)})[3]
    assert found.endswith("; H2 depends on Tide's weight of recency w: refuted at w = 0.")


def test_what_each_part_is_to_the_whole(told: Tell) -> None:
    """Calcification alone is right on 80, with heirs on 70, heirs alone on 70."""
    found = told(
        no_heirs=right(count=80), fixed_threshold=right(count=95), no_feeding=right(count=70)
    )
    assert found[1].startswith("The credit goes to calcification and heirs: of the gain of 30.0")
    assert (
        "heirs: helpful alone, harmful in the whole (alone +30.0, without it +10.0 points"
        in found[2]
    )
    assert "calcification: redundant (alone +40.0, without it +0.0 points (0.0 to 0.0))" in found[2]
    assert "better than as shipped: fixed threshold (+25.0 points)" in found[2]
    assert "exactly as shipped on these questions: no feeding." in found[2]
    found = told(no_resistance=right(count=30))
    assert "worse than as shipped: no resistance (-40.0 points)" in found[2]


def test_an_attribution_of_another_method_is_not_told_as_corals(told: Tell) -> None:
    assert any("not every combination" in sentence for sentence in told(method="mine"))


def test_what_is_open_is_named(told: Tell) -> None:
    found = told(tide=None, coral=right(count=44, first=2))[-1]
    assert found.startswith(
        "Of what was stated, undecided: H1, M1; not applicable: H3a, H3b, H3c; not run: H2, M2. "
    )


def test_no_runs_at_all() -> None:
    found = main_findings([], verdicts({}, STATED), STATED)
    assert len(found) == 3
    assert found[-1].startswith("Of what was stated, not run: H1, H2, H3a, ")


def test_they_stand_on_top_in_every_form(reported: Callable[..., Report]) -> None:
    report = reported()
    text = to_text(summary(report))
    assert (
        text.index("Main findings") < text.index("Coral as a whole beats") < text.index("Verdicts")
    )
    assert '"main_findings": [\n  "Coral as a whole beats Dense' in to_json(report)
