"""SubEM against the official code's answers, and its quirks told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.metrics.answers import holds_answer, normalize, parse_answer, subem


def test_official_answers(golden: Path) -> None:
    cases = json.loads((golden / "subem.json").read_text(encoding="utf-8"))
    assert len(cases) == 27
    for case in cases:
        prediction = case["prediction"]
        golds = [g for gold in case["golds"] for g in ([gold] if isinstance(gold, str) else gold)]
        assert normalize(prediction) == case["normalized"], case
        assert parse_answer(prediction) == case["parsed"], case
        assert holds_answer(prediction, golds) == case["subem"], case
        assert holds_answer(parse_answer(prediction), golds) == case["subem_parsed"], case
        assert subem(prediction, golds) == (case["subem"] or case["subem_parsed"]), case


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Lamp of\tAn Isle!", "lamp of isle"),
        ("theatre", "theatre"),
        ("A.N. Other", "other"),  # punctuation goes first, and what is left reads as an article
        ("“Ümlaut”", "“ümlaut”"),  # only ASCII punctuation is dropped
        ("the", ""),
    ],
)
def test_normalize(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I think so.\nANSWER: Ovel\nAnswer: Tarn", "Ovel"),
        ("Answer: answer: Ovel", "Ovel"),
        ("Ovel\nTarn", "Ovel"),
        ("\nOvel", ""),
        ("Answer:\nOvel", ""),
    ],
)
def test_parse_answer(text: str, answer: str) -> None:
    assert parse_answer(text) == answer


def test_subem_takes_the_better_of_raw_and_parsed() -> None:
    assert subem("\nOvel", ["Ovel"])  # the parsed line is empty, the raw output is not
    assert subem("Say: Answer: x Ovel", ["Ovel"])
    assert not subem("Answer: Tarn", ["Ovel", "Mirrow"])
    assert not subem("anything", [])


@given(st.text())
def test_normalize_leaves_neither_articles_nor_punctuation(text: str) -> None:
    once = normalize(text)
    assert once == " ".join(once.split())
    assert not set(once) & set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    assert not {"a", "an", "the"} & set(once.split(" "))
