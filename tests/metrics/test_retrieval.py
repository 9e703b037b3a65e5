"""Retrieval metrics on hand-made rankings, and BM25's golden lists on real ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.metrics.retrieval import answer_in_top, answer_rank, current_above_stale

TEXTS = ["0. Tarn sings.", "1. Ada lives in Mirrow.", "2. Ada lives in the Ovel, now."]


@pytest.mark.parametrize(
    ("answers", "rank"),
    [(["Ovel"], 3), (["Nowhere", "MIRROW"], 2), (["The Ovel now"], 3), (["Nowhere"], None)],
)
def test_answer_rank(answers: list[str], rank: int | None) -> None:
    assert answer_rank(TEXTS, answers) == rank


@given(st.lists(st.sampled_from(TEXTS), max_size=6), st.integers(1, 7))
def test_answer_in_top_is_the_rank_cut_at_k(texts: list[str], k: int) -> None:
    rank = answer_rank(texts, ["Mirrow"])
    assert answer_in_top(texts, ["Mirrow"], k) == (rank is not None and rank <= k)
    assert answer_in_top(texts, ["Mirrow"], k) == any("Mirrow" in text for text in texts[:k])


@pytest.mark.parametrize(
    ("ranking", "k", "expected"),
    [
        ([7, 3, 1], 3, True),  # nothing stale retrieved
        ([7, 3, 2], 3, True),  # stale below current
        ([2, 7, 3], 3, False),  # one of the stale above current
        ([4, 7, 2], 3, True),  # an unrelated fact above
        ([2, 4, 5], 3, False),  # current missing
        ([4, 5, 7], 2, False),  # current below the cut
        ([7, 4, 2], 1, True),
        ([], 5, False),
    ],
)
def test_current_above_stale(ranking: list[int], k: int, expected: bool) -> None:
    assert current_above_stale(ranking, current=7, stale=(2, 3), k=k) is expected


@pytest.mark.parametrize(("hops", "hits"), [("sh", 96), ("mh", 27)])
def test_bm25_golden_lists(golden: Path, engram_data: Path, hops: str, hits: int) -> None:
    name = f"factconsolidation_{hops}_6k"
    lists = json.loads((golden / "fc6k_bm25_top10.json").read_text(encoding="utf-8"))[name]
    raw = (engram_data / "memoryagentbench" / "Conflict_Resolution.json").read_text("utf-8")
    row = next(row for row in json.loads(raw) if row["metadata"]["source"] == name)
    facts = [line for line in row["context"].split("\n") if re.match(r"\d+\. ", line)]
    found = [
        answer_in_top([facts[i] for i in each["top10"]], answers, 10)
        for each, answers in zip(lists, row["answers"], strict=True)
    ]
    assert found == [each["hit"] for each in lists]
    assert sum(found) == hits
