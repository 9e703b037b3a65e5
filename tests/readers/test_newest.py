"""The newest-fact reader's rule, step by step, and its golden figures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engram_hydra.metrics.answers import subem
from engram_hydra.readers.newest import NewestReader

QUESTION = "In which city was Ada Tarn born?"


def read(*context: str) -> str:
    return NewestReader().answer(QUESTION, context)


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ((), ""),
        (("3. Ada Tarn was born in the city of Ovel.",), "the of Ovel."),
        # Of equal scores the latest; a better score wins over a later one.
        (("1. Ada Tarn was born in Ovel.", "2. Ada Tarn was born in Mirrow."), "Mirrow."),
        (("1. Ada Tarn was born in Ovel.", "2. Ada lives in Mirrow."), "Ovel."),
        # A token counts once, however often it stands in the fact.
        (("1. Ada Tarn: Ovel", "2. Ada Ada Ada Ada Mirrow"), "Ovel"),
        # A hyphenated word stays unless all its tokens are the question's; pure punctuation goes.
        (("1. Ada-Tarn Ada-Ovel - ?",), "Ada-Ovel"),
        # An apostrophe is part of its token, so this is not the question's Ada.
        (("1. Ada's Tarn Ovel",), "Ada's Ovel"),
        # A serial number is stripped at the start only.
        (("1. 2. Tarn",), "2."),
        # No token in common: the latest fact, whole.
        (("1. x y", "2. u v"), "u v"),
    ],
)
def test_rule(context: tuple[str, ...], answer: str) -> None:
    assert read(*context) == answer


def test_golden_subem_behind_bm25(golden: Path, engram_data: Path) -> None:
    name = "factconsolidation_sh_6k"
    lists = json.loads((golden / "fc6k_bm25_top10.json").read_text(encoding="utf-8"))[name]
    assert _subem(engram_data, name, [each["top10"] for each in lists]) == 87


@pytest.mark.slow
def test_golden_subem_behind_bm25_at_262k(engram_data: Path) -> None:
    import numpy as np
    from rank_bm25 import BM25Okapi

    name = "factconsolidation_sh_262k"
    facts, row = _row(engram_data, name)
    index = BM25Okapi([fact.lower().split() for fact in facts])
    tops = [
        np.argsort(-index.get_scores(question.lower().split()), kind="stable")[:10].tolist()
        for question in row["questions"]
    ]
    assert _subem(engram_data, name, tops) == 64


def _row(data: Path, name: str) -> tuple[list[str], dict]:
    rows = json.loads((data / "memoryagentbench" / "Conflict_Resolution.json").read_text("utf-8"))
    row = next(row for row in rows if row["metadata"]["source"] == name)
    return [line for line in row["context"].split("\n") if re.match(r"\d+\. ", line)], row


def _subem(data: Path, name: str, tops: list[list[int]]) -> int:
    facts, row = _row(data, name)
    return sum(
        subem(NewestReader().answer(question, [facts[i] for i in sorted(top)]), golds)
        for question, top, golds in zip(row["questions"], tops, row["answers"], strict=True)
    )
