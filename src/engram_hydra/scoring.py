"""From rankings to metrics and files: the only place, besides the metrics, where gold is seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Any, NamedTuple

from engram_hydra.datasets.dataset import Dataset, History, Question
from engram_hydra.metrics.retrieval import relevant_items
from engram_hydra.metrics.summary import CUTS, score_question, summarise
from engram_hydra.metrics.tokens import count_tokens
from engram_hydra.metrics.trec import qrels_lines, run_lines


@dataclass(frozen=True)
class Ranking:
    """What one question got: positions of its history's items, best first, with their scores."""

    positions: list[int]
    scores: list[float]


@dataclass(frozen=True)
class Scored:
    """A run's metrics by name, and its files by name."""

    metrics: dict[str, float]
    files: dict[str, str]


class _Asked(NamedTuple):
    """A question with all that came of it; ``relevant`` are positions."""

    history: History
    question: Question
    relevant: set[int]
    ranking: Ranking
    answers: Sequence[str]

    @property
    def ranked_ids(self) -> list[str]:
        return [self.history.items[position].id for position in self.ranking.positions]


def score(
    data: Dataset,
    rankings: Sequence[Ranking],
    answers: Sequence[Sequence[str]],
    *,
    k: int,
    tag: str,
    more: Mapping[str, Sequence[float]],
) -> Scored:
    """Score each question; ``rankings`` and ``answers`` hold one entry per question, in their order.

    ``answers`` are the reader's, several where it answered under several seeds, none without one.
    ``tag`` names the method in the TREC run file. ``more`` holds further metrics by name, with one
    value per question.
    """
    asked = list(_asked(data, rankings, answers))
    rows = [_row(each, k) for each in asked]
    for name, values in more.items():
        for row, value in zip(rows, values, strict=True):
            row["metrics"][name] = value
    metrics = {
        **summarise(rows),
        **_chance(asked, k),
        "k_over_n": fmean(min(k / len(each.history.items), 1.0) for each in asked),
        "context_tokens": _context_tokens(asked),
    }
    files = {
        "per_question.jsonl": _lines(json.dumps(row, ensure_ascii=False) for row in rows),
        "run.trec": _lines(
            line
            for each in asked
            for line in run_lines(each.question.id, each.ranked_ids, len(each.history.items), tag)
        ),
        "qrels.trec": _lines(line for each in asked for line in _qrels(each)),
    }
    if data.excluded:
        excluded = [{"question_id": i, "reason": why} for i, why in data.excluded.items()]
        files["excluded.jsonl"] = _lines(json.dumps(row, ensure_ascii=False) for row in excluded)
    return Scored(metrics, files)


def _asked(
    data: Dataset, rankings: Sequence[Ranking], answers: Sequence[Sequence[str]]
) -> Iterator[_Asked]:
    questions = [
        (history, question, relevant)
        for history in data.histories
        for question, relevant in zip(history.questions, relevant_items(history), strict=True)
    ]
    for question, ranking, given in zip(questions, rankings, answers, strict=True):
        yield _Asked(*question, ranking, given)


def _row(asked: _Asked, k: int) -> dict[str, Any]:
    history, question, ranking = asked.history, asked.question, asked.ranking
    return {
        "question_id": question.id,
        "kind": question.kind,
        "question": question.text,
        "gold": list(question.answers),
        "gold_items": [history.items[position].id for position in sorted(asked.relevant)],
        "items": asked.ranked_ids,
        "scores": [float(f"{score:.6g}") for score in ranking.scores],
        "metrics": score_question(
            history, question, ranking.positions, ranking.scores, k, asked.answers
        ),
        "answers": list(asked.answers),
    }


def _qrels(asked: _Asked) -> Iterator[str]:
    ids = [item.id for item in asked.history.items]
    return qrels_lines(asked.question.id, ids, asked.relevant, asked.ranking.positions)


def _context_tokens(asked: Sequence[_Asked]) -> float:
    """Mean length of a question's context: equal k is not equal budget."""
    contexts = [[each.history.items[p].text for p in each.ranking.positions] for each in asked]
    texts = list(dict.fromkeys(text for context in contexts for text in context))
    tokens = dict(zip(texts, count_tokens(texts), strict=True))
    return fmean(sum(tokens[text] for text in context) for context in contexts)


def _chance(asked: Sequence[_Asked], k: int) -> dict[str, float]:
    """What a random ranking is expected to reach: hypergeometric, over each question's own gold."""
    metric = "recall_any_at" if all(each.question.gold for each in asked) else "answer_in_top"
    return {
        f"chance_{metric}_{cut}": fmean(_chance_of(each, cut) for each in asked)
        for cut in CUTS
        if cut <= k
    }


def _chance_of(asked: _Asked, cut: int) -> float:
    n, m = len(asked.history.items), len(asked.relevant)
    drawn = min(cut, n)
    return 1 - comb(n - m, drawn) / comb(n, drawn)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
