"""Question by question: what each method returned, and which ablation lost it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from engram_hydra.datasets.dataset import Dataset
from engram_hydra.report.ablation_table import CORAL
from engram_hydra.report.cells import Run
from engram_hydra.report.document import Drilldown
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator

EXCERPT = 280  # characters of an item's text that are shown


def drilldown(
    estimator: Estimator,
    dataset: str,
    labels: Mapping[Cell, str],
    metrics: Sequence[str],
    data: Dataset | None,
) -> Drilldown | None:
    """Each question with what the cells of ``labels`` made of it; None without runs that say so.

    Metrics are means over a cell's seeds, items and answers those of its first seed. A question was
    lost by the ablations of Coral whose mean of the first of ``metrics`` is below Coral's own.
    ``data`` gives the items' texts and which of them are stale; without it they stand by their ids.
    """
    shown = {cell: label for cell, label in labels.items() if _complete(estimator, cell)}
    if not shown:
        return None
    about = _About(data)
    questions: dict[str, dict[str, Any]] = {}
    for cell, label in shown.items():
        runs = [estimator.rows(run) for run in _by_seed(estimator, cell)]
        for same in zip(*runs, strict=True):
            first = same[0]
            question = questions.setdefault(
                first["question_id"],
                {
                    "id": first["question_id"],
                    "kind": first["kind"],
                    "question": first["question"],
                    "gold": first["gold"],
                    "answers": {},
                },
            )
            question["answers"][label] = {
                "metrics": {
                    name: fmean(row["metrics"][name] for row in same)
                    for name in metrics
                    if name in first["metrics"]
                },
                "items": [about.item(first, item) for item in first["items"]],
                "answers": first.get("answers", []),
            }
    ablations = [label for cell, label in shown.items() if cell.method == CORAL.method]
    whole = shown.get(CORAL, "")
    for question in questions.values():
        question["lost_by"] = _lost_by(question["answers"], whole, ablations, metrics)
    return Drilldown(dataset, list(metrics), list(shown.values()), list(questions.values()))


def _complete(estimator: Estimator, cell: Cell) -> bool:
    runs = _by_seed(estimator, cell)
    return bool(runs) and all("question" in row for run in runs for row in estimator.rows(run))


def _by_seed(estimator: Estimator, cell: Cell) -> list[Run]:
    return [run for _, run in sorted(estimator.cells.get(cell, {}).items())]


def _lost_by(
    answers: Mapping[str, Any], whole: str, ablations: Sequence[str], metrics: Sequence[str]
) -> list[str]:
    if whole not in answers:
        return []
    metric = next((name for name in metrics if name in answers[whole]["metrics"]), None)
    if metric is None:
        return []
    full = answers[whole]["metrics"][metric]
    return [
        label
        for label in ablations
        if label in answers and answers[label]["metrics"].get(metric, full) < full
    ]


class _About:
    """What the data set says of the items that were returned."""

    def __init__(self, data: Dataset | None) -> None:
        histories = data.histories if data else ()
        self._history = {q.id: history for history in histories for q in history.questions}
        self._question = {q.id: q for history in histories for q in history.questions}
        self._position = {
            history.id: {item.id: item.position for item in history.items} for history in histories
        }

    def item(self, row: Mapping[str, Any], item_id: str) -> dict[str, Any]:
        gold = item_id in row["gold_items"]
        history = self._history.get(row["question_id"])
        if history is None:
            return {"id": item_id, "text": "", "gold": gold, "stale": False}
        position = self._position[history.id][item_id]
        text = history.items[position].text
        return {
            "id": item_id,
            "text": text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…",
            "gold": gold,
            "stale": position in self._question[row["question_id"]].stale,
        }
