"""Metrics across context lengths, and the four lengths pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.errors import DataError
from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.lengths import LENGTHS, length_section, pooled_section
from engram_hydra.report.section import Section

M = "answer_in_top_1"
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def asking(run: Run, texts: Sequence[str], golds: Sequence[str]) -> Run:
    def rows() -> list[dict[str, Any]]:
        return [
            {**row, "question": text, "gold": [gold]}
            for row, text, gold in zip(run.per_question(), texts, golds, strict=True)
        ]

    return replace(run, per_question=rows)


@pytest.fixture
def at(make_run: Make, estimate: Estimate_) -> Callable[..., Estimator]:
    """The estimator of one length: Coral and Dense on questions with these texts."""

    def build(
        length: str, texts: str, coral: list[float], dense: list[float], golds: str = ""
    ) -> Estimator:
        name = f"fc_sh_{length}"
        runs = [
            asking(make_run(m, *more, columns={M: values}, dataset=name), texts, golds or texts)
            for m, more, values in (("coral", ("none", 0), coral), ("dense", (), dense))
        ]
        return estimate(runs, dataset=name)

    return build


def pooled(section: Section | str) -> dict[tuple[str, str], Any]:
    assert isinstance(section, Section)
    return {(e.keys["metric"], e.keys["against"]): e.value for e in section.entries}


def test_each_distinct_question_counts_once_at_its_longest(at: Callable[..., Estimator]) -> None:
    estimators = {
        "fc_sh_6k": at("6k", "ab", [1, 1], [0, 0]),
        "fc_sh_32k": at("32k", "ac", [0, 1], [0, 0]),
        "fc_sh_64k": at("64k", "ad", [0, 0], [0, 0]),
        # The same text with another gold answer is another question.
        "fc_sh_262k": at("262k", "ae", [1, 0], [1, 1], golds="xe"),
    }
    section = pooled_section(estimators)
    value = pooled(section)[M, "dense"]
    # Kept: b at 6k (+1), c at 32k (+1), a and d at 64k (0, 0), a' and e at 262k (0, -1).
    assert (value.n, value.value) == (6, pytest.approx(1 / 6))
    # b and c are alone in their strata, and those of 64k do not vary: only 262k is resampled.
    assert (value.low, value.high) == (pytest.approx(0), pytest.approx(2 / 6))
    assert isinstance(section, Section)
    text = " ".join(to_text(section.blocks).split())
    assert "1 at 6K, 1 at 32K, 2 at 64K, 2 at 262K, 6 in all" in text
    assert pooled(section)[M, "tide"] == "not run"
    assert pooled(section)["answer_in_top_10", "dense"] == "not run"


def test_all_lengths_are_needed(at: Callable[..., Estimator], estimate: Estimate_) -> None:
    some = {f"fc_sh_{n}": at(n, "ab", [1, 1], [0, 0]) for n in LENGTHS[:3]}
    empty = {"fc_sh_262k": estimate([], dataset="fc_sh_262k")}
    for estimators in (some, some | empty, {}):
        said = pooled_section(estimators)
        assert isinstance(said, str)
        assert said.startswith("missing:") and "fc_sh_262k" in said
    assert "fc_sh_6k" not in str(pooled_section(some))


def test_runs_without_their_questions_are_told(make_run: Make, estimate: Estimate_) -> None:
    estimators = {
        f"fc_sh_{n}": estimate([make_run(seed=0, dataset=f"fc_sh_{n}")], dataset=f"fc_sh_{n}")
        for n in LENGTHS
    }
    with pytest.raises(DataError, match="does not carry its questions"):
        pooled_section(estimators)


def test_a_metric_by_length(at: Callable[..., Estimator]) -> None:
    estimators = {
        "fc_sh_32k": at("32k", "ac", [0, 1], [0, 0]),
        "fc_sh_6k": at("6k", "ab", [1, 1], [0, 1]),
        "synthetic": at("6k", "ab", [1, 1], [0, 0]),
    }
    section = length_section(estimators)
    assert isinstance(section, Section)
    found = {
        (e.keys["length"], e.keys["row"]): e.value.value
        for e in section.entries
        if isinstance(e.value, Estimate)
    }
    assert found == {
        ("6k", "Coral (as shipped)"): 1.0,
        ("6k", "Dense"): 0.5,
        ("32k", "Coral (as shipped)"): 0.5,
        ("32k", "Dense"): 0.0,
    }
    [header] = [line for line in to_text(section.blocks).split("\n") if line.startswith("row")]
    assert header.split() == ["row", "6k", "32k"]


def test_one_length_is_no_series(at: Callable[..., Estimator]) -> None:
    said = length_section({"fc_sh_6k": at("6k", "ab", [1, 1], [0, 1])})
    assert isinstance(said, str) and "dataset=fc_sh_6k,fc_sh_32k" in said
