"""What stands beside a verdict: marks beside its word, and remarks below it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engram_hydra.report.verdicts import Verdict
from made_up_cells import BASE, right

Decide = Callable[..., dict[str, Verdict]]


def test_h2_names_every_w_of_tide_with_its_difference(decided: Decide) -> None:
    same = decided()["H2"]
    tie = "+0.0 [0.0,0.0], supported"
    assert (
        f"is the same along Tide's weight of recency w: Coral - Tide at w = 0 (which is Dense) {tie}; "
        f"w = 0.05 {tie}; w = 0.1 {tie}; w = 0.2 (as shipped) {tie}; w = 0.4 {tie}"
    ) in same.remarks
    assert "tide.none.deterministic.tide_w_0.40" in same.runs
    assert same.word == "supported"
    found = decided(**{"tide_w_0.00": right(count=40), "tide_w_0.40": None})["H2"]
    assert found.word == "supported (depends on Tide)"
    (said,) = [one for one in found.remarks if one.startswith("depends on Tide's weight of")]
    assert "at w = 0 (which is Dense) +30.0 [21.0,39.0], refuted; w = 0.05 +0.0" in said
    assert said.endswith(f"w = 0.2 (as shipped) {tie}; not run at w = 0.4")
    # Each point of the curve has a p of its own.
    found = decided(tide=right(count=70, first=5))["H2"]
    assert found.outcome == "undecided"
    (said,) = [one for one in found.remarks if one.startswith("depends on Tide's weight of")]
    assert [word for word in ("supported", "undecided") for _ in range(said.count(word))] == [
        *["supported"] * 4,
        "undecided",
    ]
    assert found.word == "undecided (depends on Tide)"
    found = decided(tide=right(count=50))["H2"]
    assert found.word == "refuted (depends on Tide)"


def test_few_identical_questions_decide_nothing(decided: Decide) -> None:
    """Of 40, a true rate of difference of 3/40 is not ruled out, of 100 one of 3/100."""
    same = {name: right(count=70) for name in ("coral", "dense", "tide")}
    assert decided(**same)["H1"].outcome == "refuted"
    few = {name: right(count=20, of=40) for name in BASE}
    found = decided(**few)
    assert (found["H1"].outcome, found["M1"].outcome) == ("undecided", "undecided")
    assert "identical on 40 questions; true rate of difference below 0.075" in found["H1"].remarks


def test_what_is_shown_to_change_little_is_not_called_too_small_to_show(decided: Decide) -> None:
    """One question won and one lost of 100; where the same is undecided, it is said."""
    few = decided(no_calc=right(count=70, first=1))["H3b"]
    assert few.outcome == "supported"
    assert not any("smallest detectable" in remark for remark in few.remarks)
    many = decided(no_calc=right(count=67, first=0))["H3b"]
    assert many.outcome == "undecided"
    assert any(
        remark.startswith("smallest detectable difference") and "too small" in remark
        for remark in many.remarks
    )


def test_by_construction_stands_beside_what_is_decided_only(decided: Decide) -> None:
    assert decided()["H3c"].word == "refuted (by construction)"
    assert decided(no_immune=right(count=70))["H3c"].word == "supported (by construction)"
    assert decided(no_immune=right(count=65))["H3c"].word == "undecided (by construction)"
    assert decided(coral=right(count=40))["H3c"].word == "not applicable"
    assert decided(no_immune=None)["H3c"].word == "not run"
    for found in (decided(), decided(coral=right(count=40)), decided(no_immune=None)):
        assert found["H3c"].remarks[0].startswith("by construction: without the immune response")


def test_saturated_stands_beside_the_word(decided: Decide) -> None:
    found = decided(tide=right(count=95), coral=right(count=95), dense=right(count=94))
    assert found["H2"].marks == ("depends on Tide", "saturated")
    assert found["H1"].word == "refuted"  # six are left to win above 94
    assert found["M2"].marks == ("saturated",)  # above Tide, though not above Dense
    found = decided(dense=right(count=95))
    assert {found[id_].word for id_ in ("H1", "M4")} == {"refuted (saturated)"}
    assert found["M1"].word == "supported (saturated)"
    assert found["H3a"].word == "not applicable"


def test_that_coral_is_worse_is_said(decided: Decide) -> None:
    found = decided(coral=right(count=30))
    worse = "the whole interval lies below 0: Coral is worse than "
    for id_, other in (("H1", "Dense"), ("M1", "Dense"), ("M4", "Dense"), ("H2", "Tide")):
        assert f"{worse}{other}" in found[id_].remarks
    assert "the whole interval lies below 0: without calcification Coral is better" in (
        decided(no_calc=right(count=90))["H3b"].remarks
    )
    level = decided(coral=right(count=40, first=2))  # two won and two lost
    for found in (decided(), level):
        assert not any("worse" in remark for remark in (*found["H1"].remarks, *found["M4"].remarks))


def test_identical_questions_are_said_with_what_they_rule_out(decided: Decide) -> None:
    bound = "identical on 100 questions; true rate of difference below 0.030"
    found = decided()
    assert f"{bound}; p is the chance of that at a true rate of 5%" in found["H3b"].remarks
    assert bound in decided(coral=right(count=40))["H1"].remarks  # its p is of no difference at all


def test_m1_says_which_of_its_claims_is_tested(decided: Decide) -> None:
    for found in (decided(), decided(coral=right(count=40)), decided(coral=None)):
        (said,) = [remark for remark in found["M1"].remarks if remark.startswith("tested is only")]
        assert "three points ahead" in said
    assert not any("tested" in remark for remark in decided()["M2"].remarks)


@pytest.mark.parametrize("cell", ["no_heirs", "no_calc"])
def test_a_p_for_want_of_runs_is_said(decided: Decide, cell: str) -> None:
    id_ = {"no_heirs": "H3a", "no_calc": "H3b"}[cell]
    said = f"p of {id_} not computed for want of runs: counts as 1 under Holm"
    assert said in decided(**{cell: None})["H1"].remarks
    assert not any("want of runs" in remark for remark in decided()["H1"].remarks)
    assert cell in BASE
