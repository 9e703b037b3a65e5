"""One question's metrics, and a run's metrics with intervals from all its questions'."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from engram_hydra.datasets.dataset import History, Question
from engram_hydra.errors import DataError
from engram_hydra.metrics.answers import subem
from engram_hydra.metrics.retrieval import answer_rank, current_above_stale
from engram_hydra.metrics.sessions import session_metrics
from engram_hydra.stats import bootstrap_mean, wilson

CUTS = (1, 5, 10)
HEADLINES = {
    "current_above_stale_at_10": "Share of questions where the fact that holds now is among the first 10 "
    "items and no superseded one stands above it; single-hop questions whose fact superseded another.",
    "answer_in_top_1": "Share of questions whose first item contains the answer.",
    "answer_in_top_10": "Share of questions with the answer in one of the first 10 items.",
    "subem": "Share of questions where the reader's answer contains the gold answer.",
    "recall_any_at_5": "Share of questions with at least one of their gold sessions among the first 5.",
    "ndcg_any_at_10": "Mean of the official NDCG of the first 10 sessions.",
}
"""The metrics that tables show, in their order, each with what its mean says."""
_KIND = re.compile(r"[A-Za-z0-9_-]{1,100}")  # MLflow takes 250 characters for the whole name
_BESIDE_THE_MEAN = ("ci_low", "ci_high", "n")


def kind_fault(kind: str) -> str:
    """Why no metric can be logged per ``kind`` of question, as a sentence's end; empty if it can.

    A name with the kind at its end must be one that MLflow takes, and no other metric's.
    """
    if not _KIND.fullmatch(kind):
        return (
            f"{kind[:40]!r}{' and so on' if len(kind) > 40 else ''} can't stand in a metric's name, "
            "which takes up to 100 letters (A to Z), digits, hyphens and underscores of it"
        )
    if own := next((own for own in _BESIDE_THE_MEAN if f"_{kind}".endswith(f"_{own}")), None):
        return f"{kind!r} ends like the names of other metrics, which have _{own} at their end"
    return ""


def score_question(
    history: History,
    question: Question,
    ranked: Sequence[int],
    scores: Sequence[float],
    k: int,
    answers: Sequence[str] = (),
) -> dict[str, float]:
    """The metrics of one question, from 0 to 1; none has a cut above ``k``.

    ``ranked`` are the positions of the retrieved items (at most ``k``), best first, and ``scores``
    theirs. A question with gold items is scored on these, any other on the answers in the items.
    ``answers`` are the reader's: ``subem`` is their mean, and absent without one.
    ``current_above_stale_at_10`` is defined only where a stale fact is known, ``tie_at_1`` (the two
    best scores are equal) only where two items were retrieved.
    """
    metrics = (
        _gold_metrics(history, question, ranked, k)
        if question.gold
        else _answer_metrics(history, question, ranked, k)
    )
    if len(ranked) > 1:
        metrics["tie_at_1"] = float(scores[0] == scores[1])
    if answers:
        metrics["subem"] = fmean(subem(answer, question.answers) for answer in answers)
    return metrics


def _gold_metrics(
    history: History, question: Question, ranked: Sequence[int], k: int
) -> dict[str, float]:
    documents = history.documents
    golds = {documents[position] for position in question.gold}
    return session_metrics([documents[position] for position in ranked], documents, golds, k)


def _answer_metrics(
    history: History, question: Question, ranked: Sequence[int], k: int
) -> dict[str, float]:
    top = ranked[: CUTS[-1]]
    rank = answer_rank([history.items[position].text for position in top], question.answers)
    metrics = {
        f"answer_in_top_{cut}": float(rank is not None and rank <= cut) for cut in CUTS if cut <= k
    }
    if k >= 10 and question.current is not None and question.stale:
        metrics["current_above_stale_at_10"] = float(
            current_above_stale(top, question.current, question.stale, 10)
        )
    return metrics


def summarise(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """A run's metrics from its per-question rows ``{"question_id", "kind", "metrics": {name: value}}``.

    For each metric ``name``: its mean, and ``name_ci_low``, ``name_ci_high`` (95%) and ``name_n``, the
    number of questions it is defined for. A metric of zeros and ones has a Wilson interval, any other
    a bootstrap one. With questions of more than one kind each kind has its own too, as
    ``name_<kind>``, ``name_<kind>_ci_low`` and so on. What no question has is not there. Kinds are
    such as ``kind_fault`` finds none in.

    Raises DataError at a NaN or an infinity.
    """
    rows = list(rows)
    kinds = {row["kind"] for row in rows}
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in row["metrics"].items():
            if not math.isfinite(value):
                raise DataError(
                    f"Metric {name} of question {row['question_id']} is {value}: a metric must be a "
                    "finite number, so look for a score or an answer that is none."
                )
            values[name].append(value)
            if len(kinds) > 1:
                values[f"{name}_{row['kind']}"].append(value)
    logged: dict[str, float] = {}
    for name, column in sorted(values.items()):
        low, high = _interval(column)
        logged[name] = fmean(column)
        logged[f"{name}_ci_low"] = low
        logged[f"{name}_ci_high"] = high
        logged[f"{name}_n"] = float(len(column))
    return logged


def headline(metrics: Mapping[str, float]) -> str:
    """The headline metrics of one run in one line, with intervals and n."""
    return " | ".join(
        f"{name} {metrics[name]:.3f} [{metrics[f'{name}_ci_low']:.3f},{metrics[f'{name}_ci_high']:.3f}]"
        f" n={metrics[f'{name}_n']:.0f}"
        for name in HEADLINES
        if name in metrics
    )


def _interval(column: Sequence[float]) -> tuple[float, float]:
    if set(column) <= {0.0, 1.0}:
        return wilson(int(sum(column)), len(column))
    return bootstrap_mean(np.array(column), seed=0)
