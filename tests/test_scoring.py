"""From rankings and answers to metrics and files."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb

import pytest

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.scoring import Ranking, score

ITEMS = tuple(Item(f"i{n}", n, f"Ada lives in Place{n}.") for n in range(4))
QUESTIONS = tuple(Question(f"q{n}", f"Where lives {n}?", ("Place3",), "x") for n in range(3))
DATA = Dataset("tiny", (History("tiny", ITEMS, QUESTIONS),), "ab" * 32, "made up")
RANKINGS = [Ranking([0, 1], [2.0, 1.0]) for _ in QUESTIONS]
SILENT: list[list[str]] = [[], [], []]


def test_further_metrics_of_questions_are_summarised_like_any() -> None:
    more = {"index_recall_at_2": [1.0, 0.5, 0.75]}
    scored = score(DATA, RANKINGS, SILENT, k=2, tag="t", more=more)
    assert scored.metrics["index_recall_at_2"] == pytest.approx(0.75)
    assert scored.metrics["index_recall_at_2_n"] == 3
    assert 0.5 <= scored.metrics["index_recall_at_2_ci_low"] < 0.75
    rows = [json.loads(line) for line in scored.files["per_question.jsonl"].splitlines()]
    assert [row["metrics"]["index_recall_at_2"] for row in rows] == [1.0, 0.5, 0.75]
    with pytest.raises(ValueError, match="zip"):
        score(DATA, RANKINGS, SILENT, k=2, tag="t", more={"too_few": [1.0]})


def test_every_question_needs_a_ranking_and_its_answers() -> None:
    for rankings, answers in ((RANKINGS[:2], SILENT), (RANKINGS, SILENT[:2])):
        with pytest.raises(ValueError, match="zip"):
            score(DATA, rankings, answers, k=2, tag="t", more={})


def test_the_answers_stand_beside_the_question() -> None:
    answers = [["Place3", "Place2"], ["Place3", "Place3"], ["no", "idea"]]
    scored = score(DATA, RANKINGS, answers, k=2, tag="t", more={})
    rows = [json.loads(line) for line in scored.files["per_question.jsonl"].splitlines()]
    assert [row["answers"] for row in rows] == answers
    assert [row["metrics"]["subem"] for row in rows] == [0.5, 1.0, 0.0]
    assert "subem" not in score(DATA, RANKINGS, SILENT, k=2, tag="t", more={}).metrics


def test_a_question_stands_with_its_text_and_gold() -> None:
    data = several()
    scored = score(
        data, [Ranking([5], [1.0]), Ranking([9], [1.0])], [[], []], k=1, tag="t", more={}
    )
    rows = [json.loads(line) for line in scored.files["per_question.jsonl"].splitlines()]
    assert [(row["question"], row["gold"]) for row in rows] == [("?", ["x"]), ("?", ["x"])]
    assert [row["gold_items"] for row in rows] == [["s5"], ["s0", "s7", "s9"]]


def several() -> Dataset:
    """Two histories of 6 and 12 items, whose questions have 1 and 3 gold items."""
    histories = []
    for n, gold in ((6, (5,)), (12, (0, 7, 9))):
        items = tuple(Item(f"s{position}", position, "") for position in range(n))
        question = Question(f"q{n}", "?", ("x",), f"type-{n}", gold=gold)
        documents = tuple(item.id for item in items)
        histories.append(History(question.id, items, (question,), documents=documents, number=n))
    return Dataset("several", tuple(histories), "ab" * 32, "made up", {"q3_abs": "because"})


def test_positions_count_within_each_history() -> None:
    rankings = [Ranking([5, 0], [2.0, 1.0]), Ranking([1, 9], [0.5, 0.5])]
    scored = score(several(), rankings, [[], []], k=5, tag="m", more={})
    assert scored.metrics["recall_any_at_1"] == 0.5
    assert scored.metrics["recall_any_at_1_type-6"] == 1
    assert scored.metrics["recall_any_at_3"] == 1
    assert scored.metrics["k_over_n"] == pytest.approx((5 / 6 + 5 / 12) / 2)
    expected = (1 / 6 + 1 - comb(9, 1) / comb(12, 1)) / 2
    assert scored.metrics["chance_recall_any_at_1"] == pytest.approx(expected)
    assert scored.files["run.trec"].splitlines() == [
        "q6 Q0 s5 1 6 m",
        "q6 Q0 s0 2 5 m",
        "q12 Q0 s1 1 12 m",
        "q12 Q0 s9 2 11 m",
    ]
    assert scored.files["qrels.trec"].splitlines() == [
        "q6 0 s0 0",
        "q6 0 s5 1",
        "q12 0 s0 1",
        "q12 0 s1 0",
        "q12 0 s7 1",
        "q12 0 s9 1",
    ]
    assert scored.files["excluded.jsonl"] == '{"question_id": "q3_abs", "reason": "because"}\n'


def test_chance_counts_no_item_twice_in_a_short_history() -> None:
    data = several()
    short = replace(data, histories=data.histories[:1])
    metrics = score(short, [Ranking([5], [1.0])], [[]], k=10, tag="m", more={}).metrics
    assert metrics["chance_recall_any_at_10"] == 1
    assert metrics["k_over_n"] == 1
