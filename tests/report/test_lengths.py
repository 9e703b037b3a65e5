"""Metrics across context lengths, and the four lengths pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.lengths import LENGTHS, length_section
from engram_hydra.report.pooled_lengths import pooled_section
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


@pytest.fixture(scope="session")
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


def test_a_question_that_a_length_asks_twice_counts_once(at: Callable[..., Estimator]) -> None:
    estimators = {
        "fc_sh_6k": at("6k", "aaa", [1, 1, 1], [0, 0, 0]),
        "fc_sh_32k": at("32k", "bb", [1, 0], [0, 0]),
        "fc_sh_64k": at("64k", "b", [1], [0]),
        "fc_sh_262k": at("262k", "cdc", [0, 0, 1], [0, 0, 0]),
    }
    # a once (+1), b at 64k (+1), c and d (0, 0): nothing counts at 32k.
    value = pooled(pooled_section(estimators))[M, "dense"]
    assert (value.n, value.value) == (4, pytest.approx(2 / 4))


def test_pooled_p_and_the_least_difference(at: Callable[..., Estimator]) -> None:
    """Ten wins of twelve: of the sign flips a share of 2 / 1024 is as far from 0."""
    parts = zip(LENGTHS, ("abc", "def", "ghi", "jkl"), strict=True)
    won = {"c": 0, "f": 0}
    estimators = {
        f"fc_sh_{n}": at(n, texts, [float(won.get(t, 1)) for t in texts], [0, 0, 0])
        for n, texts in parts
    }
    section = pooled_section(estimators)
    assert isinstance(section, Section)
    [entry] = [e for e in section.entries if e.keys["metric"] == M and e.keys["against"] == "dense"]
    assert entry.more["p"] == pytest.approx(2 / 1024, abs=4 * (2 / 1024 / 10_000) ** 0.5)
    assert entry.more["detectable"] == 6 / 12
    assert {e.more["p"] for e in section.entries if e.value == "not run"} == {None}
    same = {name: at(name[6:], f"{name[6:7]}x", [1, 0], [1, 0]) for name in estimators}
    section = pooled_section(same)
    assert isinstance(section, Section)
    # x once, and 6, 3, 2: the 6 of 64k is that of 6k.
    assert "identical on 4 questions; true rate of difference below 0.750" in to_text(
        section.blocks
    )


def test_what_keeps_lengths_from_being_pooled_is_named(
    at: Callable[..., Estimator], make_run: Make, estimate: Estimate_
) -> None:
    whole = {f"fc_sh_{n}": at(n, "ab", [1, 1], [0, 0]) for n in LENGTHS}
    section = pooled_section({**whole, "fc_mh_6k": estimate([make_run()])})
    assert isinstance(section, Section)
    text = " ".join(to_text(section.blocks).split())
    assert "not pooled: not run: fc_mh_32k, fc_mh_64k, fc_mh_262k (python -m" in text
    for length in ("32k", "262k"):
        name = f"fc_sh_{length}"
        runs = [r for r in whole[name].selection.cells.values() if "dense" not in r.run_id]
        whole[name] = estimate(runs, dataset=name)
    section = pooled_section(whole)
    [entry] = [e for e in section.entries if e.keys["metric"] == M and e.keys["against"] == "dense"]
    assert entry.value == "not run"
    assert [note for note in entry.notes if "not run" in note] == ["32K: not run", "262K: not run"]


def test_other_questions_are_refused(
    at: Callable[..., Estimator], make_run: Make, estimate: Estimate_
) -> None:
    whole = {f"fc_sh_{n}": at(n, "ab", [1, 1], [0, 0]) for n in LENGTHS}
    runs = list(whole["fc_sh_64k"].selection.cells.values())
    runs = [r for r in runs if "dense" not in r.run_id]
    runs.append(make_run("dense", columns={M: [0, 0]}, ids=["q0", "q9"], dataset="fc_sh_64k"))
    whole["fc_sh_64k"] = estimate(runs, dataset="fc_sh_64k")
    with pytest.raises(DataError, match="can't be paired"):
        pooled_section(whole)


def test_four_lengths_fit_a_terminal_and_missing_ones_are_named(
    at: Callable[..., Estimator],
) -> None:
    estimators = {f"fc_sh_{n}": at(n, "abcd", [1, 1, 0, 1], [0, 0, 1, 0]) for n in LENGTHS}
    section = length_section(estimators)
    assert isinstance(section, Section)
    lines = to_text(section.blocks).split("\n")
    assert max(map(len, lines)) <= 100
    assert "not run: fc_mh_6k, fc_mh_32k, fc_mh_64k, fc_mh_262k" in " ".join(lines)
    [entry] = {e.notes[0] for e in section.entries if e.keys["row"] == "Coral (as shipped)"}
    assert entry == "seed 1-4 not run"


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=4, max_size=4))
@settings(max_examples=25, deadline=None)
def test_pooling_keeps_each_question_at_its_longest(
    at: Callable[..., Estimator], questions: list[list[int]]
) -> None:
    """Coral is right at one length only in turn, so that the mean says which lengths count."""
    longest = {q: n for n, of_length in enumerate(questions) for q in of_length}
    for right in range(4):
        estimators = {
            f"fc_sh_{length}": at(
                length,
                "".join("abcd"[q] for q in of_length),
                [float(n == right)] * len(of_length),
                [0.0] * len(of_length),
            )
            for n, (length, of_length) in enumerate(zip(LENGTHS, questions, strict=True))
        }
        value = pooled(pooled_section(estimators))[M, "dense"]
        counted = sum(n == right for n in longest.values())
        assert (value.n, value.value) == (len(longest), pytest.approx(counted / len(longest)))


def test_all_lengths_are_needed(at: Callable[..., Estimator], estimate: Estimate_) -> None:
    some = {f"fc_sh_{n}": at(n, "ab", [1, 1], [0, 0]) for n in LENGTHS[:3]}
    empty = {"fc_sh_262k": estimate([], dataset="fc_sh_262k")}
    for estimators in (some, some | empty, {}):
        said = pooled_section(estimators)
        assert isinstance(said, str)
        assert said.startswith("not run: ") and "fc_sh_262k" in said
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
    assert isinstance(said, str) and "dataset=fc_sh_32k" in said
