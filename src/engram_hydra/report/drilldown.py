"""The questions of a data set as the page's script reads them: each text once, numbers for the rest."""

from __future__ import annotations

import math
from typing import Any

from engram_hydra.report.document import Drilldown

BUDGET = 6_000_000  # characters of all items of one data set
LENGTHS = (4000, 1500, 600, 250, 100)  # of one item, the longest that keeps within the budget


def to_data(drilldown: Drilldown) -> dict[str, Any]:
    """``{dataset, metrics, methods, lost_by, texts, questions}``, ready for strict JSON.

    ``texts`` holds ``[id, text, letters cut off]`` of each item. A question is ``{id, kind, question,
    gold, lost_by, answers}``; its answers are in the order of ``methods``, ``null`` for a method that
    has none, each ``[values of metrics, items, answers]``. An item is 4 times its place in ``texts``,
    plus 1 if gold, plus 2 if stale. Long texts are cut so that the page stays of a bearable size.
    """
    places: dict[tuple[str, str], int] = {}
    questions = []
    for question in drilldown.questions:
        answers = [
            _answer(question["answers"].get(method), drilldown, places)
            for method in drilldown.methods
        ]
        questions.append(
            {
                **{key: question[key] for key in ("id", "kind", "question")},
                **{key: list(question[key]) for key in ("gold", "lost_by")},
                "answers": answers,
            }
        )
    length = next(
        (n for n in LENGTHS if sum(min(n, len(text)) for _, text in places) <= BUDGET), LENGTHS[-1]
    )
    return {
        "dataset": drilldown.dataset,
        "metrics": list(drilldown.metrics),
        "methods": list(drilldown.methods),
        "lost_by": list(dict.fromkeys(by for question in questions for by in question["lost_by"])),
        "texts": [[id, text[:length], max(0, len(text) - length)] for id, text in places],
        "questions": questions,
    }


def _answer(
    answer: Any, drilldown: Drilldown, places: dict[tuple[str, str], int]
) -> list[Any] | None:
    if answer is None:
        return None
    values = [answer["metrics"].get(metric) for metric in drilldown.metrics]
    items = [
        4 * places.setdefault((str(item["id"]), item["text"]), len(places))
        + bool(item["gold"])
        + 2 * bool(item["stale"])
        for item in answer["items"]
    ]
    finite = [None if value is None or not math.isfinite(value) else value for value in values]
    return [finite, items, list(answer["answers"])]
