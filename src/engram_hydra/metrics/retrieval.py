"""Retrieval metrics of one question, over facts. Ranks count from 1, positions from 0."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engram_hydra.datasets.dataset import History
from engram_hydra.metrics.answers import normalize


def relevant_items(history: History) -> Iterator[set[int]]:
    """For each question the positions of its gold; where it names none, of the items with an answer.

    Item and answer are normalised as for SubEM.
    """
    named = all(question.gold for question in history.questions)
    texts = [] if named else [normalize(item.text) for item in history.items]
    for question in history.questions:
        golds = [normalize(answer) for answer in question.answers]
        yield set(question.gold) or {
            position for position, text in enumerate(texts) if any(gold in text for gold in golds)
        }


def answer_rank(texts: Sequence[str], answers: Sequence[str]) -> int | None:
    """Rank of the first of ``texts`` (best first) that contains a gold answer, or None.

    Text and answer are normalised as for SubEM. ``rank <= k`` is ``answer_in_top`` at any k, so one
    pass serves every cut.
    """
    golds = [normalize(answer) for answer in answers]
    for rank, text in enumerate(texts, start=1):
        normal = normalize(text)
        if any(gold in normal for gold in golds):
            return rank
    return None


def answer_in_top(texts: Sequence[str], answers: Sequence[str], k: int) -> bool:
    """Whether any of the first ``k`` texts contains a gold answer after SubEM's normalisation."""
    return answer_rank(texts[:k], answers) is not None


def current_above_stale(
    ranked_positions: Sequence[int], current: int, stale: Collection[int], k: int
) -> bool:
    """Whether the current fact is in the top ``k`` and none it superseded ranks above it."""
    top = list(ranked_positions[:k])
    return current in top and not set(stale) & set(top[: top.index(current)])
