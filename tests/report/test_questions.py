"""Question by question: what stands beside each, and which ablation lost it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.report.cells import Run
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.questions import EXCERPT, drilldown

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
M = "answer_in_top_1"
LABELS = {Cell("coral"): "Coral", Cell("coral", "no_heirs"): "no heirs", Cell("dense"): "Dense"}
ITEMS = (Item("old", 0, "She lived in Rome."), Item("new", 1, "x" * (EXCERPT + 1)))
DATA = Dataset(
    "fc_sh_6k",
    (
        History(
            "h",
            ITEMS,
            (
                Question("q0", "Where?", ("Oslo",), "single_hop", current=1, stale=(0,)),
                Question("q1", "Who?", ("<b>",), "single_hop"),
            ),
        ),
    ),
    "ab" * 32,
    "made up",
)


def told(run: Run, items: Sequence[str] = ("new", "old")) -> Run:
    def rows() -> list[dict[str, Any]]:
        return [
            {
                **row,
                "question": question.text,
                "gold": list(question.answers),
                "gold_items": ["new"],
                "items": list(items),
                "answers": ["Oslo"],
            }
            for row, question in zip(run.per_question(), DATA.questions, strict=True)
        ]

    return replace(run, per_question=rows)


def runs(make_run: Make) -> list[Run]:
    return [
        told(make_run(seed=0, columns={M: [1, 0]})),
        told(make_run(seed=1, columns={M: [1, 1]})),
        told(make_run("coral", "no_heirs", 0, columns={M: [0, 1]}), ("old",)),
        told(make_run("coral", "no_heirs", 1, columns={M: [1, 0]})),
        told(make_run("dense", columns={M: [0, 0]})),
    ]


def test_a_question_with_what_each_method_made_of_it(make_run: Make, estimate: Estimate_) -> None:
    found = drilldown(estimate(runs(make_run)), "fc_sh_6k", LABELS, [M, "subem"], DATA)
    assert found is not None
    assert (found.dataset, found.metrics) == ("fc_sh_6k", [M, "subem"])
    assert found.methods == ["Coral", "no heirs", "Dense"]
    first, second = found.questions
    assert (first["id"], first["question"], first["gold"]) == ("q0", "Where?", ["Oslo"])
    assert first["answers"]["Coral"]["metrics"] == {M: 1.0}
    assert first["answers"]["no heirs"]["metrics"] == {M: 0.5}
    assert first["answers"]["no heirs"]["items"] == [
        {"id": "old", "text": "She lived in Rome.", "gold": False, "stale": True}
    ]
    new = first["answers"]["Dense"]["items"][0]
    assert (new["gold"], new["stale"], len(new["text"])) == (True, False, EXCERPT + 1)
    assert second["answers"]["Dense"]["items"][1]["stale"] is False


def test_lost_is_what_an_ablation_answers_less_often(make_run: Make, estimate: Estimate_) -> None:
    found = drilldown(estimate(runs(make_run)), "fc_sh_6k", LABELS, [M], DATA)
    assert found is not None
    assert [question["lost_by"] for question in found.questions] == [["no heirs"], []]
    without = [run for run in runs(make_run) if "no_heirs" in run.run_id or "dense" in run.run_id]
    found = drilldown(estimate(without), "fc_sh_6k", LABELS, [M], DATA)
    assert found is not None
    assert [question["lost_by"] for question in found.questions] == [[], []]


def test_without_the_data_items_stand_by_their_ids(make_run: Make, estimate: Estimate_) -> None:
    found = drilldown(estimate(runs(make_run)), "fc_sh_6k", LABELS, [M], None)
    assert found is not None
    assert found.questions[0]["answers"]["Dense"]["items"] == [
        {"id": "new", "text": "", "gold": True, "stale": False},
        {"id": "old", "text": "", "gold": False, "stale": False},
    ]


def test_older_runs_say_nothing_of_their_questions(make_run: Make, estimate: Estimate_) -> None:
    assert drilldown(estimate([make_run("dense")]), "fc_sh_6k", LABELS, [M], None) is None
