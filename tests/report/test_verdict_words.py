"""The sentence that says why a verdict came out so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram_hydra.report.estimator import Estimator
from engram_hydra.report.verdicts import Verdict, verdicts
from made_up_cells import BASE, STATED, Make, made, right

Decide = Callable[..., dict[str, Verdict]]


@pytest.mark.parametrize(
    ("id_", "against"),
    [
        ("H1", "no difference between Coral and Dense"),
        ("H2", "Coral leading Tide by 5 points or more"),
        ("H3a", "heirs costing half of the gain or less"),
        ("H3b", "calcification costing or winning 5 points or more"),
        ("H3c", "the immune response costing or winning 5 points or more"),
        ("M3", "heirs and calcification costing the same"),
    ],
)
def test_every_p_says_what_it_speaks_against(decided: Decide, id_: str, against: str) -> None:
    found = decided(no_immune=right(count=70))[id_]  # with it all of these are supported
    assert found.outcome == "supported"
    assert found.p_against == against
    assert f" against {against}, " in found.why
    assert (", after Holm over H1, H2, H3a, H3b p = 0." in found.why) == (id_ in STATED.family)


@pytest.mark.parametrize(
    ("changes", "without"),
    [
        ({}, ("H3c", "M1", "M2", "M4")),
        ({"coral": right(count=40)}, ("H1", "H3a", "H3b", "H3c", "M1", "M2")),
        ({"tide": right(count=50)}, ("H2",)),
        ({"no_heirs": right(count=70)}, ("M3",)),
    ],
)
def test_no_p_stands_where_the_rule_asks_for_none(
    decided: Decide, changes: dict[str, Any], without: tuple[str, ...]
) -> None:
    found = decided(**changes)
    for id_ in without:
        assert "p = " not in found[id_].why
        assert "p < 0" not in found[id_].why
    assert not {"p", "p_holm"} & {*found["M1"].numbers, *found["M2"].numbers}
    assert found["M1"].p_against == found["M4"].p_against == ""
    assert "p" in found["H2"].numbers  # for tools


def test_m4_says_how_large_the_gap_is_and_which_way(decided: Decide) -> None:
    def why(**changes: Any) -> str:
        return decided(**changes)["M4"].why

    range_ = "The means of the seeds range over 0.0 points (SD 0.0), and Coral is "
    end = ", n = 100: the range is not larger than this gap."
    assert why() == f"{range_}30.0 points better than Dense{end}"
    assert why(coral=right(count=37)) == f"{range_}3.0 points worse than Dense{end}"
    assert why(coral=right(count=40)) == f"{range_}level with Dense{end}"


def test_m4_supported(make_run: Make, estimate: Callable[..., Estimator]) -> None:
    """Four seeds at 40 and one at 37, Dense at 40: the mean is 0.6 below, of a range of 3."""
    runs = made(make_run, {"dense": right(count=40)})
    runs += made(make_run, {"coral": right(count=40)}, seeds=range(4))
    runs += made(make_run, {"coral": right(count=37)}, seeds=[4])
    m4 = verdicts({"fc_sh_6k": estimate(runs)}, STATED)[8]
    assert m4.outcome == "supported"
    assert m4.why == (
        "The means of the seeds range over 3.0 points (SD 1.3), and Coral is 0.6 points worse than "
        "Dense, n = 100: the range is larger than this gap."
    )


def test_h1_does_not_speak_of_single_hop_elsewhere(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    runs = made(make_run, BASE, "answer_in_top_10", dataset="fc_mh_6k")
    found = verdicts({"fc_mh_6k": estimate(runs, dataset="fc_mh_6k")}, STATED)
    said = {v.dataset: v.statement for v in found if v.id == "H1" and v.metric != "subem"}
    assert said == {
        "fc_sh_6k": "Coral as shipped beats Dense on FC single-hop at equal k",
        "fc_mh_6k": "Coral as shipped beats Dense at equal k",
        "longmemeval_s_pilot": "Coral as shipped beats Dense at equal k",
    }
    assert [v.statement for v in found if v.id == "H1"][-1] == said["fc_sh_6k"]  # SubEM, same set
