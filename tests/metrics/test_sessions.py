"""LongMemEval's metrics against the official code's answers, a second implementation, and by hand."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.metrics.sessions import (
    mrr,
    ndcg_any,
    ndcg_std,
    recall_all,
    recall_any,
    session_metrics,
)

HAYSTACK = ["a", "b", "c", "d", "e", "f"]


def test_golden_cases(golden: Path) -> None:
    cases = json.loads((golden / "longmemeval_metrics.json").read_text(encoding="utf-8"))
    assert len(cases) == 200
    for case in cases:
        ids, gold = case["corpus_ids"], case["correct"]
        ranked = [ids[i] for i in case["ranking"]]
        for cut, expected in case["expected"].items():
            k = int(cut)
            assert recall_any(ranked, gold, k) == expected["recall_any"]
            assert recall_all(ranked, gold, k) == expected["recall_all"]
            found = ndcg_any(ranked, ids, gold, k)
            assert found == pytest.approx(expected["ndcg_any"], abs=1e-9, rel=0)
    assert any(not case["correct"] for case in cases)
    assert any(len(set(case["corpus_ids"])) < len(case["corpus_ids"]) for case in cases)


def test_ranks_one_and_two_weigh_the_same_in_the_official_ndcg_only() -> None:
    assert ndcg_any(["x", "a"], HAYSTACK, {"a"}, 5) == 1.0
    assert ndcg_std(["x", "a"], HAYSTACK, {"a"}, 5) == pytest.approx(1 / log2(3))
    assert ndcg_any(["x", "y", "a"], HAYSTACK, {"a"}, 5) == pytest.approx(1 / log2(3))


def test_a_repeated_id_counts_as_often_as_it_stands_there() -> None:
    haystack = ["a", "a", "b"]
    assert ndcg_any(["a", "b", "a"], haystack, {"a"}, 3) == pytest.approx((1 + 1 / log2(3)) / 2)
    assert recall_all(["a", "b", "a"], {"a"}, 1) == 1.0


def test_the_ideal_is_cut_at_k() -> None:
    assert ndcg_any(["a", "b"], HAYSTACK, {"a", "b", "c"}, 2) == 1.0


def test_mrr_is_of_the_first_gold() -> None:
    assert mrr(["x", "b", "a"], {"a", "b"}) == 0.5
    assert mrr(["x"], {"a"}) == 0.0


def test_no_metric_looks_beyond_k() -> None:
    metrics = session_metrics(HAYSTACK, HAYSTACK, {"f"}, 5)
    assert metrics == {
        "mrr": 0.0,
        "recall_any_at_1": 0.0,
        "recall_all_at_1": 0.0,
        "recall_any_at_3": 0.0,
        "recall_all_at_3": 0.0,
        "recall_any_at_5": 0.0,
        "recall_all_at_5": 0.0,
        "ndcg_any_at_5": 0.0,
    }
    more = session_metrics(HAYSTACK, HAYSTACK, {"f"}, 10)
    assert set(more) - set(metrics) == {
        "recall_any_at_10",
        "recall_all_at_10",
        "ndcg_any_at_10",
        "ndcg_std_at_10",
    }
    assert more["mrr"] == pytest.approx(1 / 6)
    assert more["ndcg_std_at_10"] == pytest.approx(1 / log2(7))


def test_a_question_without_gold_is_an_error() -> None:
    with pytest.raises(DataError, match="no gold"):
        session_metrics(HAYSTACK, HAYSTACK, (), 5)


@given(st.permutations(HAYSTACK), st.sets(st.sampled_from(HAYSTACK), min_size=1), st.integers(1, 8))
def test_standard_metrics_are_those_of_ir_measures(
    ranked: list[str], gold: set[str], k: int
) -> None:
    qrels = [ir_measures.Qrel("q", item, 1) for item in gold]
    run = [ir_measures.ScoredDoc("q", item, -float(i)) for i, item in enumerate(ranked)]
    ndcg, rr = ir_measures.nDCG @ k, ir_measures.RR @ k
    expected = ir_measures.calc_aggregate([ndcg, rr], qrels, run)
    assert ndcg_std(ranked, HAYSTACK, gold, k) == pytest.approx(expected[ndcg], abs=1e-9)
    assert mrr(ranked[:k], gold) == pytest.approx(expected[rr], abs=1e-9)
