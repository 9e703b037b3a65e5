"""From rankings to metrics and files: the only place, besides the metrics, where gold is seen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Any

from engram_hydra.datasets.dataset import Dataset, Item
from engram_hydra.metrics.summary import CUTS, score_question, summarise
from engram_hydra.metrics.tokens import count_tokens
from engram_hydra.metrics.trec import qrels_lines, run_lines


@dataclass(frozen=True)
class Ranking:
    """What one question got: items of the data set, best first, with their scores."""

    items: list[Item]
    scores: list[float]


@dataclass(frozen=True)
class Scored:
    """A run's metrics by name, and its files by name."""

    metrics: dict[str, float]
    files: dict[str, str]


def score(
    data: Dataset,
    rankings: Sequence[Ranking],
    *,
    k: int,
    reader: str,
    tag: str,
    more: Mapping[str, Sequence[float]],
) -> Scored:
    """Answer and score each question; ``rankings`` holds one ranking per question, in their order.

    ``reader`` is ``newest`` or ``none``; ``tag`` names the method in the TREC run file. ``more`` holds
    further metrics by name, with one value per question.
    """
    rows = list(_rows(data, rankings, k, _answers(reader, data, rankings)))
    for name, values in more.items():
        for row, value in zip(rows, values, strict=True):
            row["metrics"][name] = value
    ranked = {row["question_id"]: row["items"] for row in rows}
    qrels = list(qrels_lines(data.questions, data.items, ranked))
    metrics = {
        **summarise(rows),
        **_chance(qrels, len(data.questions), len(data.items), k),
        "k_over_n": min(k / len(data.items), 1.0),
        "context_tokens": _context_tokens(rankings),
    }
    files = {
        "per_question.jsonl": _lines(json.dumps(row, ensure_ascii=False) for row in rows),
        "run.trec": _lines(run_lines(ranked, len(data.items), tag)),
        "qrels.trec": _lines(qrels),
    }
    return Scored(metrics, files)


def _rows(
    data: Dataset, rankings: Sequence[Ranking], k: int, answers: Sequence[str | None]
) -> Iterable[dict[str, Any]]:
    for question, ranking, answer in zip(data.questions, rankings, answers, strict=True):
        yield {
            "question_id": question.id,
            "kind": question.kind,
            "items": [item.id for item in ranking.items],
            "scores": [float(f"{score:.6g}") for score in ranking.scores],
            "metrics": score_question(question, ranking.items, ranking.scores, k, answer),
            "answer": answer,
        }


def _answers(reader: str, data: Dataset, rankings: Sequence[Ranking]) -> Sequence[str | None]:
    """The reader's answer to each question from what was retrieved, oldest first for every method."""
    if reader == "none":
        return [None] * len(rankings)
    from engram_hydra.readers.newest import NewestReader

    newest = NewestReader()
    contexts = [sorted(ranking.items, key=lambda item: item.position) for ranking in rankings]
    return [
        newest.answer(question.text, [item.text for item in context])
        for question, context in zip(data.questions, contexts, strict=True)
    ]


def _context_tokens(rankings: Sequence[Ranking]) -> float:
    """Mean length of a question's context: equal k is not equal budget."""
    texts = {item.position: item.text for ranking in rankings for item in ranking.items}
    tokens = dict(zip(texts, count_tokens(list(texts.values())), strict=True))
    return fmean(sum(tokens[item.position] for item in ranking.items) for ranking in rankings)


def _chance(qrels: Sequence[str], n_questions: int, n: int, k: int) -> dict[str, float]:
    """What a random ranking is expected to reach: hypergeometric, over each question's own gold."""
    gold = Counter(line.split()[0] for line in qrels if line.endswith(" 1"))
    return {
        f"chance_answer_in_top_{cut}": sum(
            1 - comb(n - m, cut) / comb(n, cut) for m in gold.values()
        )
        / n_questions
        for cut in CUTS
        if cut <= min(k, n)
    }


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
