"""Metrics of one question and of a run, worked out by hand."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.datasets.dataset import History, Item, Question
from engram_hydra.errors import DataError
from engram_hydra.metrics.summary import (
    HEADLINES,
    headline,
    kind_fault,
    score_question,
    summarise,
)

ITEMS = tuple(Item(f"i{n}", n, f"{n}. Ada lives in Place{n}.") for n in range(12))
QUESTION = Question("q", "Where does Ada live?", ("Place3",), "single_hop", current=3, stale=(1,))
HISTORY = History("h", ITEMS, (QUESTION,))
RANKED = [5, 3, 1, 0, 2, 4, 6, 7, 8, 9]
SCORES = [2.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]


def row(id_: str, kind: str = "single_hop", **metrics: float) -> dict[str, Any]:
    return {"question_id": id_, "kind": kind, "metrics": metrics}


def test_score_question() -> None:
    assert score_question(HISTORY, QUESTION, RANKED, SCORES, 10) == {
        "answer_in_top_1": 0,
        "answer_in_top_5": 1,
        "answer_in_top_10": 1,
        "current_above_stale_at_10": 1,
        "tie_at_1": 1,
    }


def test_no_metric_looks_below_k() -> None:
    answer_last = [*RANKED[2:], RANKED[1]]
    for k in (1, 4, 5, 9):
        metrics = score_question(HISTORY, QUESTION, answer_last, SCORES, k)
        assert {name for name in metrics if name.startswith("answer")} == {
            f"answer_in_top_{cut}" for cut in (1, 5, 10) if cut <= k
        }
        assert not any(metrics[name] for name in metrics if name.startswith("answer"))
        assert "current_above_stale_at_10" not in metrics


def test_undefined_metrics_are_absent() -> None:
    no_stale = Question("q", "?", ("Place3",), "single_hop", current=3)
    unknown = Question("q", "?", ("Place3",), "multi_hop")
    for question in (no_stale, unknown):
        assert "current_above_stale_at_10" not in score_question(
            HISTORY, question, RANKED, SCORES, 10
        )
    assert "tie_at_1" not in score_question(HISTORY, QUESTION, RANKED[:1], SCORES[:1], 10)
    assert score_question(HISTORY, QUESTION, RANKED, [3.0, 2.0], 10)["tie_at_1"] == 0


def test_stale_above_current_counts_as_zero() -> None:
    metrics = score_question(HISTORY, QUESTION, [1, 3], [2.0, 1.0], 10)
    assert metrics["current_above_stale_at_10"] == 0
    assert metrics["answer_in_top_5"] == 1


@pytest.mark.parametrize(("answer", "subem"), [("It is place3.", 1), ("Place1", 0), ("", 0)])
def test_subem_only_with_a_reader(answer: str, subem: int) -> None:
    assert score_question(HISTORY, QUESTION, RANKED, SCORES, 10, [answer])["subem"] == subem
    assert "subem" not in score_question(HISTORY, QUESTION, RANKED, SCORES, 10)


def test_subem_of_several_answers_is_their_mean() -> None:
    answers = ["Place3", "Place1", "place3!", ""]
    assert score_question(HISTORY, QUESTION, RANKED, SCORES, 10, answers)["subem"] == 0.5


def test_a_question_with_gold_items_is_scored_on_their_documents() -> None:
    # Item 7 is item 2's document again, so it is gold too.
    gold = Question("q", "?", ("Place3",), "temporal-reasoning", gold=(2, 4, 7))
    documents = tuple(f"d{2 if n == 7 else n}" for n in range(12))
    history = History("h", ITEMS, (gold,), documents=documents, number=0)
    metrics = score_question(history, gold, [5, 7, 4, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0], 5)
    assert metrics == {
        "mrr": 0.5,
        "recall_any_at_1": 0,
        "recall_all_at_1": 0,
        "recall_any_at_3": 1,
        "recall_all_at_3": 1,
        "recall_any_at_5": 1,
        "recall_all_at_5": 1,
        # Gains at ranks 2 and 3, of three possible: (1 + 1/log2(3)) / (1 + 1 + 1/log2(3)).
        "ndcg_any_at_5": pytest.approx((1 + 1 / math.log2(3)) / (2 + 1 / math.log2(3)), abs=1e-12),
        "tie_at_1": 0,
    }


def test_summarise_one_kind() -> None:
    # Wilson by hand for 1 of 2: centre 1/2, half-width z/(n + z²) * sqrt(n/4 + z²/4).
    z = 1.959963984540054
    half = z / (2 + z**2) * math.sqrt(2 / 4 + z**2 / 4)
    logged = summarise([row("a", m=1.0), row("b", m=0.0, other=1.0)])
    assert logged["m"] == 0.5
    assert logged["m_n"] == 2
    assert logged["m_ci_low"] == pytest.approx(0.5 - half, abs=1e-12)
    assert logged["m_ci_high"] == pytest.approx(0.5 + half, abs=1e-12)
    assert logged["other"] == 1
    assert logged["other_n"] == 1
    assert len(logged) == 8  # nothing per kind


def test_summarise_several_kinds() -> None:
    logged = summarise(
        [row("a", m=1.0, c=1.0), row("b", m=1.0), row("c", "two_hop", m=0.0), row("d", "two_hop")]
    )
    assert logged["m"] == pytest.approx(2 / 3)
    assert (logged["m_single_hop"], logged["m_single_hop_n"]) == (1, 2)
    assert (logged["m_two_hop"], logged["m_two_hop_n"]) == (0, 1)
    assert logged["m_two_hop_ci_low"] == 0
    assert logged["c_single_hop_n"] == 1
    assert not any(name.startswith("c_two_hop") for name in logged)  # n = 0 is not logged


WORDS = st.sampled_from(
    ["n", "ci_low", "ci_high", "low", "ci", "multi", "x-n", "10", "@", "a/b", ""]
)
KINDS = st.lists(WORDS, min_size=1, max_size=3).map("_".join) | st.text(max_size=120)


@given(
    st.lists(KINDS.filter(lambda kind: not kind_fault(kind)), min_size=2, max_size=5, unique=True)
)
def test_no_kind_of_no_fault_takes_anothers_name(kinds: list[str]) -> None:
    logged = summarise([row(kind, kind, recall_any_at_1=1.0, mrr=0.5) for kind in kinds])
    assert len(logged) == 2 * 4 * (1 + len(kinds))
    assert logged["mrr_n"] == len(kinds)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,250}", name) for name in logged)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("a@b", "'a@b' can't stand in a metric's name"),
        ("two\nlines", r"'two\\nlines' can't stand"),
        ("x" * 300, f"'{'x' * 40}' and so on can't stand"),
        ("", "'' can't stand"),
        ("n", "'n' ends like the names of other metrics, which have _n at"),
        ("multi_ci_low", "'multi_ci_low' ends like .* which have _ci_low at"),
    ],
)
def test_faults_of_kinds(kind: str, what: str) -> None:
    assert re.match(what, kind_fault(kind))


@pytest.mark.parametrize(
    "kind", ["multi-session", "two_hop", "single_hop", "n_hop", "in", "x" * 100]
)
def test_kinds_without_fault(kind: str) -> None:
    assert kind_fault(kind) == ""


def test_graded_metrics_are_bootstrapped() -> None:
    values = [0.1, 0.5, 0.9, 0.7]
    logged = summarise([row(str(n), g=value) for n, value in enumerate(values)])
    assert logged["g"] == pytest.approx(0.55)
    assert 0.1 <= logged["g_ci_low"] < 0.55 < logged["g_ci_high"] <= 0.9


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_summarise_refuses_what_is_no_number(bad: float) -> None:
    with pytest.raises(DataError, match="Metric m of question b"):
        summarise([row("a", m=1.0), row("b", m=bad)])


def test_the_headline_says_the_tables_metrics_in_their_order() -> None:
    first = {"answer_in_top_1": 1.0, "current_above_stale_at_10": 1.0, "tie_at_1": 1.0}
    rows = [row("a", **first), row("b", answer_in_top_1=0.0)]
    # Wilson of 1 of 2 is [0.0945, 0.9055], and of 1 of 1 [0.2065, 1].
    assert headline(summarise(rows)) == (
        "current_above_stale_at_10 1.000 [0.207,1.000] n=1 | answer_in_top_1 0.500 [0.095,0.905] n=2"
    )
    assert headline({}) == ""
    assert all(meaning.endswith(".") for meaning in HEADLINES.values())


def test_summarise_nothing() -> None:
    assert summarise([]) == {}
