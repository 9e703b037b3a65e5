"""LongMemEval on the real command line: invented histories, and the real sample."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from statistics import fmean

import pytest

from longmemeval_file import TYPES, entry, write

LEFT_OUT = {"q90_abs": "abstention question (_abs in its id)"}


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    unanswerable = entry(90) | {"question_id": "q90_abs"}
    return write(tmp_path, [*map(entry, range(12)), unanswerable])


def test_a_file_of_ones_own(workspace, histories):
    sha256 = hashlib.sha256(histories.read_bytes()).hexdigest()
    own = ("dataset=longmemeval_s", f"dataset.path={histories}", f"dataset.sha256={sha256}")
    for workers in (1, 3):
        done = workspace.run("method=bm25", *own, f"workers={workers}", "existing=rerun")
        assert done.returncode == 0, done.stderr
        assert "left out by the official rules: 1 of 13, see" in done.stdout
    second, first = workspace.runs()
    assert first.data.tags["engram.reader"] == "n/a"
    assert first.data.tags["engram.exploratory"] == "true"  # another file is not LongMemEval_S
    assert first.data.tags["engram.n_questions"] == "12"
    assert first.data.tags["engram.n_excluded"] == "1"
    assert second.data.tags["engram.supersedes"] == first.info.run_id  # workers change nothing
    for name in ("per_question.jsonl", "run.trec", "qrels.trec", "excluded.jsonl"):
        assert workspace.artifact(first, name) == workspace.artifact(second, name)
    metrics = first.data.metrics
    rows = workspace.rows(first)
    assert len(rows) == metrics["recall_any_at_5_n"] == 12
    for cut in (1, 3, 5, 10):
        for kind in ("any", "all"):
            name = f"recall_{kind}_at_{cut}"
            assert metrics[name] == pytest.approx(fmean(row["metrics"][name] for row in rows))
            assert {f"{name}_{question_type}" for question_type in TYPES} <= metrics.keys()
    for name in ("ndcg_any_at_5", "ndcg_any_at_10", "ndcg_std_at_10", "mrr"):
        assert 0 < metrics[f"{name}_ci_low"] <= metrics[name] <= metrics[f"{name}_ci_high"] <= 1
    assert metrics["k_over_n"] == pytest.approx(10 / 14)
    excluded = [json.loads(x) for x in workspace.artifact(first, "excluded.jsonl").splitlines()]
    assert {row["question_id"]: row["reason"] for row in excluded} == LEFT_OUT


def test_without_a_hash_it_is_unchecked_and_with_a_wrong_one_refused(workspace, histories):
    own = ("method=bm25", "dataset=longmemeval_sample", f"dataset.path={histories}")
    workspace.ok(*own)
    (run,) = workspace.runs()
    assert run.data.tags["engram.exploratory"] == "true"
    wrong = workspace.run(*own, f"dataset.sha256={'0' * 64}")
    assert wrong.returncode == 1
    assert f"where dataset.sha256={'0' * 64} was said" in wrong.stderr
    alone = workspace.run("dataset=longmemeval_sample", f"dataset.sha256={'0' * 64}")
    assert alone.returncode == 2
    assert alone.stderr == (
        "dataset.sha256 is of a file of your own: set dataset.path to it, too.\n"
    )
    assert len(workspace.runs()) == 1


@pytest.mark.parametrize(
    ("options", "items"),
    [(["dataset.granularity=turn"], 15), (["dataset.granularity=turn", "dataset.roles=both"], 29)],
    ids=str,
)
def test_turns_and_roles(workspace, tmp_path, options, items):
    file = write(tmp_path, [entry(0)])
    workspace.ok("method=bm25", "dataset=longmemeval_s", f"dataset.path={file}", *options)
    (run,) = workspace.runs()
    assert workspace.rows(run)[0]["metrics"]["recall_any_at_10"] == 1
    assert run.data.metrics["k_over_n"] == pytest.approx(10 / items)


def test_a_malformed_file_is_named_with_its_question(workspace, tmp_path):
    bad = entry(1)
    bad["haystack_dates"][3] = "2026/02/31 (Tue) 10:00"
    file = write(tmp_path, [entry(0), bad])
    done = workspace.run("dataset=longmemeval_s", f"dataset.path={file}")
    assert done.returncode == 1
    (sentence,) = [x for x in done.stderr.splitlines() if "question q01" in x]
    assert "haystack_dates[3]" in sentence
    assert "Traceback" not in done.stderr
    assert workspace.runs() == []


def test_a_model_has_nothing_to_answer(workspace):
    done = workspace.run("dataset=longmemeval_sample", "reader=openai", "reader.model=m")
    assert done.returncode == 2
    assert "reader=openai has nothing to answer on dataset=longmemeval_sample" in done.stderr


def test_memories_of_vectors_have_a_random_stream_for_each_history(workspace, histories):
    own = ("dataset=longmemeval_s", f"dataset.path={histories}")
    for method in ("dense", "coral"):
        for workers in (1, 2):
            workspace.ok(f"method={method}", *own, f"workers={workers}", "existing=rerun")
    by_method = {}
    for run in workspace.runs():
        by_method.setdefault(run.data.tags["engram.method"], []).append(run)
    for first, second in by_method.values():
        for name in ("per_question.jsonl", "run.trec"):
            assert workspace.artifact(first, name) == workspace.artifact(second, name)
        assert first.data.metrics["truncated_fraction"] == 0
    (coral, _) = by_method["coral"]
    table = workspace.artifact(coral, "inside/items.csv").splitlines()
    assert table[0].startswith("history,position,reef,")
    assert len(table) == 1 + 12 * 14


# The real sample


@pytest.mark.slow
def test_the_sample_end_to_end_with_its_table(workspace, engram_data, golden):
    sample = "dataset=longmemeval_sample"
    sweep = ("ablation=none,no_heirs,no_calc,no_immune", "seed=0,1")
    workspace.ok("-m", "method=coral", *sweep, sample)
    workspace.ok("-m", "method=bm25,dense,tide", sample)
    workspace.ok("variant=bm25_split_space", sample)
    runs = workspace.runs(complete="true")
    assert len(runs) == 8 + 3 + 1
    named = {(run.data.tags["engram.method"], run.data.tags["engram.variant"]): run for run in runs}
    cases = json.loads((golden / "longmemeval_sample_bm25.json").read_text("utf-8"))
    for tokenizer, variant in (("lower_split", ""), ("split_space", "bm25_split_space")):
        rows = {row["question_id"]: row for row in workspace.rows(named["bm25", variant])}
        for case in cases:
            if case["tokenizer"] != tokenizer:
                continue
            assert (case["question_id"] in rows) is case["scored"]
            if case["scored"]:
                metrics = rows[case["question_id"]]["metrics"]
                for name in ("recall_any@5", "recall_all@5", "ndcg_any@10"):
                    ours = metrics[name.replace("@", "_at_")]
                    assert ours == pytest.approx(case[name], abs=1e-9, rel=0), case
    # Without the immune response Coral is Dense, history by history.
    dense = workspace.rows(named["dense", ""])
    for run in workspace.runs(ablation="no_immune"):
        same = zip(workspace.rows(run), dense, strict=True)
        assert all(ours["items"] == theirs["items"] for ours, theirs in same)
    dense_metrics = named["dense", ""].data.metrics
    assert dense_metrics["truncated_fraction"] > 0.3
    out = workspace.ok(f"datasets={sample.partition('=')[2]}", module="engram_hydra.aggregate")
    assert "recall_any_at_5" in out
    (report,) = workspace.folder.glob("outputs/aggregate/*/*/report.md")
    assert "ndcg_any_at_10" in report.read_text("utf-8")
    assert "answer_in_top" not in out
    assert "BM25, tokens split_space" in out
    assert "reader n/a" in out
