"""Questions as the page reads them: each text once, cut only where the page would grow too large."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report import drilldown
from engram_hydra.report.document import Drilldown
from engram_hydra.report.drilldown import to_data

items = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("ab"),
            "text": st.text(max_size=5),
            "gold": st.booleans(),
            "stale": st.booleans(),
        }
    ),
    max_size=6,
)
answers = st.dictionaries(
    st.sampled_from(["m", "n"]),
    st.fixed_dictionaries(
        {
            "metrics": st.dictionaries(st.just("hit"), st.floats()),
            "items": items,
            "answers": st.lists(st.text(max_size=3), max_size=2),
        }
    ),
)


def _question(answers: object, lost_by: tuple[str, ...] = ()) -> dict[str, object]:
    texts = {"id": "q", "kind": "k", "question": "why?"}
    return {**texts, "gold": ["g"], "lost_by": lost_by, "answers": answers}


@given(st.lists(answers, max_size=4))
def test_nothing_is_lost(answered: list[dict[str, dict[str, object]]]) -> None:
    block = Drilldown("d", ["hit"], ["m", "n"], [_question(answer) for answer in answered])
    data = json.loads(json.dumps(to_data(block), allow_nan=False))
    assert len({(id, text) for id, text, _ in data["texts"]}) == len(data["texts"])
    for before, after in zip(answered, data["questions"], strict=True):
        for method, answer in zip(block.methods, after["answers"], strict=True):
            if method not in before:
                assert answer is None
                continue
            (value,), places, texts = answer
            was = before[method]["metrics"].get("hit", math.nan)
            assert value == (was if math.isfinite(was) else None)
            assert texts == before[method]["answers"]
            back = [(*data["texts"][n >> 2], bool(n & 1), bool(n & 2)) for n in places]
            assert back == [(*map(i.get, ("id", "text")), 0, i["gold"], i["stale"])
                            for i in before[method]["items"]]  # fmt: skip


def test_ablations_are_listed_once_in_order() -> None:
    questions = [_question({}, ("b", "a")), _question({}, ("a", "c"))]
    assert to_data(Drilldown("d", [], [], questions))["lost_by"] == ["b", "a", "c"]


def test_long_texts_are_cut_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drilldown, "BUDGET", 1000)
    long = {"id": "i", "text": "x" * 700, "gold": True, "stale": False}
    short = {**long, "id": "j", "text": "y" * 300}
    method = {"metrics": {}, "items": [long, short], "answers": []}
    block = Drilldown("d", [], ["m"], [_question({"m": method})])
    assert to_data(block)["texts"] == [["i", "x" * 700, 0], ["j", "y" * 300, 0]]
    monkeypatch.setattr(drilldown, "BUDGET", 999)
    assert to_data(block)["texts"] == [["i", "x" * 600, 100], ["j", "y" * 300, 0]]
