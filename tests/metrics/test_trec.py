"""The TREC files say to another tool what we say."""

from __future__ import annotations

import random
from pathlib import Path

import ir_measures
import pytest
from ir_measures import Success

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.errors import DataError
from engram_hydra.metrics.trec import qrels_lines, run_lines
from engram_hydra.scoring import Ranking, score

PLACES = ("Ovel", "Mirrow", "Tarn", "Brask", "Quend")


def test_success_from_the_files_alone_equals_answer_in_top(tmp_path: Path) -> None:
    rng = random.Random(3)
    items = [Item(f"fact_{n}", n, f"{n}. Ada{n} is in {rng.choice(PLACES)}.") for n in range(60)]
    questions = [
        Question(f"q{n}", "?", (rng.choice((*PLACES, "Nowhere")),), "single_hop") for n in range(25)
    ]
    # Rankings whose ids are in no order, so that a tool that broke ties by id would differ.
    data = Dataset("d", (History("d", tuple(items), tuple(questions)),), "0" * 64, "here")
    rankings = [Ranking(rng.sample(range(60), 10), [0.0] * 10) for _ in questions]
    scored = score(data, rankings, [[]] * 25, k=10, tag="random", more={})
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels"
    run.write_text(scored.files["run.trec"])
    qrels.write_text(scored.files["qrels.trec"])
    theirs = ir_measures.calc_aggregate(
        [Success @ 1, Success @ 5, Success @ 10],
        ir_measures.read_trec_qrels(str(qrels)),
        ir_measures.read_trec_run(str(run)),
    )
    for cut in (1, 5, 10):
        ours = scored.metrics[f"answer_in_top_{cut}"]
        assert theirs[Success @ cut] == pytest.approx(ours, abs=1e-12)
    assert any("Nowhere" in q.answers for q in questions)  # a question without a relevant item


def test_lines() -> None:
    assert list(run_lines("q1", ["i3", "i2"], 4, "bm25")) == [
        "q1 Q0 i3 1 4 bm25",
        "q1 Q0 i2 2 3 bm25",
    ]
    ids = ["i0", "i1", "i2", "i3"]
    assert list(qrels_lines("q1", ids, {0, 2}, [3, 2])) == ["q1 0 i0 1", "q1 0 i2 1", "q1 0 i3 0"]
    assert list(qrels_lines("q2", ids, set(), [1])) == ["q2 0 i1 0"]
    assert list(qrels_lines("q3", ids, set(), [])) == ["q3 0 i0 0"]


@pytest.mark.parametrize("bad", ["two words", "tab\t", ""])
def test_ids_that_would_break_the_columns_are_refused(bad: str) -> None:
    with pytest.raises(DataError, match="TREC file"):
        list(run_lines(bad, ["i0"], 1, "bm25"))
