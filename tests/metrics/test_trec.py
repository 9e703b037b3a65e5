"""The TREC files say to another tool what we say."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean

import ir_measures
import pytest
from ir_measures import Success

from engram_hydra.datasets.dataset import Item, Question
from engram_hydra.errors import DataError
from engram_hydra.metrics.summary import score_question
from engram_hydra.metrics.trec import qrels_lines, run_lines

PLACES = ("Ovel", "Mirrow", "Tarn", "Brask", "Quend")


def test_success_from_the_files_alone_equals_answer_in_top(tmp_path: Path) -> None:
    rng = random.Random(3)
    items = [Item(f"fact_{n}", n, f"{n}. Ada{n} is in {rng.choice(PLACES)}.") for n in range(60)]
    questions = [
        Question(f"q{n}", "?", (rng.choice((*PLACES, "Nowhere")),), "single_hop") for n in range(25)
    ]
    # Rankings whose ids are in no order, so that a tool that broke ties by id would differ.
    rankings = {q.id: [f"fact_{n}" for n in rng.sample(range(60), 10)] for q in questions}
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels"
    run.write_text("".join(f"{line}\n" for line in run_lines(rankings, 60, "random")))
    qrels.write_text("".join(f"{line}\n" for line in qrels_lines(questions, items, rankings)))
    theirs = ir_measures.calc_aggregate(
        [Success @ 1, Success @ 5, Success @ 10],
        ir_measures.read_trec_qrels(str(qrels)),
        ir_measures.read_trec_run(str(run)),
    )
    by_id = {item.id: item for item in items}
    ours = [
        score_question(q, [by_id[i] for i in rankings[q.id]], [0.0] * 10, 10, None)
        for q in questions
    ]
    for cut in (1, 5, 10):
        assert theirs[Success @ cut] == pytest.approx(
            fmean(metrics[f"answer_in_top_{cut}"] for metrics in ours), abs=1e-12
        )
    assert any("Nowhere" in q.answers for q in questions)  # a question without a relevant item


def test_lines() -> None:
    items = [Item(f"i{n}", n, text) for n, text in enumerate(("the Ovel", "Tarn", "an ovel", "x"))]
    questions = [
        Question("q1", "?", ("Ovel",), "single_hop"),
        Question("q2", "?", ("Brask",), "single_hop"),
        Question("q3", "?", ("Brask",), "single_hop"),
    ]
    rankings = {"q1": ["i3", "i2"], "q2": ["i1"], "q3": []}
    assert list(run_lines(rankings, 4, "bm25")) == [
        "q1 Q0 i3 1 4 bm25",
        "q1 Q0 i2 2 3 bm25",
        "q2 Q0 i1 1 4 bm25",
    ]
    assert list(qrels_lines(questions, items, rankings)) == [
        "q1 0 i0 1",
        "q1 0 i2 1",
        "q1 0 i3 0",
        "q2 0 i1 0",
        "q3 0 i0 0",
    ]


@pytest.mark.parametrize("bad", ["two words", "tab\t", ""])
def test_ids_that_would_break_the_columns_are_refused(bad: str) -> None:
    with pytest.raises(DataError, match="TREC file"):
        list(run_lines({bad: ["i0"]}, 1, "bm25"))
