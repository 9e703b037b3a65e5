"""Runs and sweeps on the real command line, on generated data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workspace import SMALL

BM25 = ("method=bm25", *SMALL)

BROKEN_MEMORY = '''
from engram_hydra.memories.memory import Hit, Memory

class Broken(Memory):
    """Breaks the rule it is told to."""

    def __init__(self, *, ties, rule):
        self.rule, self.ids, self.reads = rule, [], 0

    def write(self, items):
        self.ids += [item.id for item in items]

    def read(self, queries, k):
        self.reads += 1
        if self.rule == "raises":
            raise RuntimeError("no such luck")
        n = len(self.ids)
        ids = list(self.ids)
        if self.rule == "learns" and self.reads > 1:
            ids.reverse()
        if self.rule == "too many":
            k += 1
        if self.rule == "orders the best k only" and k < n:
            ids[:k] = reversed(ids[:k])
        ids = ids[:k]
        if self.rule == "twice":
            ids[1] = ids[0]
        if self.rule == "unknown":
            ids[0] = "fact_0"
        scores = [float(n - i) for i in range(len(ids))]
        if self.rule == "rising":
            scores.reverse()
        if self.rule == "nan":
            scores[0] = float("nan")
        if self.rule == "newest first":
            ids, scores = self.ids[::-1][:k], [1.0] * k
        rankings = [[Hit(i, s) for i, s in zip(ids, scores)] for _ in queries]
        return rankings[1:] if self.rule == "forgets a query" else rankings
'''


def test_one_run_leaves_all_it_should(workspace):
    out = workspace.run(*BM25)
    assert out.returncode == 0, out.stderr
    (run,) = workspace.runs()
    tags, metrics = run.data.tags, run.data.metrics
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "bm25/none/synthetic/deterministic"
    assert tags["engram.complete"] == "true"
    expected = {
        "method": "bm25",
        "ablation": "none",
        "dataset": "synthetic",
        "seed": "deterministic",
        "embedder": "none",
        "index": "none",
        "reader": "newest",
        "k": "10",
        "n_questions": "15",
        "as_shipped": "true",
        "variant": "",
        "exploratory": "true",  # its data set is smaller than the committed one
        "sweep_id": "",
        "oracle": "false",
        "audit": "false",
    }
    assert {name: tags[f"engram.{name}"] for name in expected} == expected
    assert "engram.audit_rule" not in tags
    for name in ("data_sha256", "code_sha256", "statements_sha256", "run_key"):
        assert re.fullmatch("[0-9a-f]{64}", tags[f"engram.{name}"])
    for metric in (
        "answer_in_top_1",
        "answer_in_top_10_single_hop",
        "answer_in_top_10_two_hop",
        "current_above_stale_at_10",
        "subem",
    ):
        assert (
            0 <= metrics[f"{metric}_ci_low"] <= metrics[metric] <= metrics[f"{metric}_ci_high"] <= 1
        )
        assert metrics[f"{metric}_n"] > 0
    for metric in ("write_seconds", "read_ms_per_query", "peak_memory_mib", "context_tokens"):
        assert metrics[metric] > 0
    assert run.data.params["method.k1"] == "1.5"
    (given,) = run.inputs.dataset_inputs
    assert given.dataset.name == "synthetic"
    assert tags["engram.data_sha256"].startswith(given.dataset.digest)

    rows = workspace.rows(run)
    assert len(rows) == 15
    assert all(len(row["items"]) == len(row["scores"]) == 10 for row in rows)
    mean = sum(row["metrics"]["answer_in_top_1"] for row in rows) / 15
    assert mean == pytest.approx(metrics["answer_in_top_1"])
    environment = json.loads(workspace.artifact(run, "environment.json"))
    assert environment["versions"]["rank-bm25"] == "0.2.2"
    assert {"commit", "dirty", "threads", "python"} <= set(environment)
    assert "k1: 1.5" in workspace.artifact(run, "config.yaml")
    assert "writing 60 items" in workspace.artifact(run, "engram_hydra.log")
    assert "mlflow ui --host 127.0.0.1 --backend-store-uri sqlite:///" in out.stdout + out.stderr


def test_k_bounds_what_is_logged(workspace):
    workspace.ok(*BM25, "k=5", "reader=none")
    (run,) = workspace.runs()
    logged = run.data.metrics
    assert "answer_in_top_5" in logged
    assert not [name for name in logged if "_10" in name or "subem" in name]


def test_ir_measures_recomputes_the_metrics_from_the_trec_files(workspace):
    import ir_measures
    from ir_measures import Success

    workspace.ok(*BM25)
    (run,) = workspace.runs()
    folder = workspace.folder
    for name in ("run.trec", "qrels.trec"):
        (folder / name).write_text(workspace.artifact(run, name))
    measured = ir_measures.calc_aggregate(
        [Success @ 1, Success @ 5, Success @ 10],
        ir_measures.read_trec_qrels(str(folder / "qrels.trec")),
        ir_measures.read_trec_run(str(folder / "run.trec")),
    )
    for cut in (1, 5, 10):
        assert measured[Success @ cut] == pytest.approx(run.data.metrics[f"answer_in_top_{cut}"])


def test_a_deterministic_method_runs_once_in_a_sweep_over_seeds(workspace):
    done = workspace.run("-m", *BM25, "seed=0,1,2")
    assert done.returncode == 0, done.stderr
    assert len(workspace.runs(complete="true")) == 1
    (said,) = [line for line in (done.stdout + done.stderr).splitlines() if "skipped" in line]
    assert "seed=1, seed=2" in said
    assert "deterministic" in said


def test_a_sweep_that_is_rerun_adds_runs_and_names_what_it_supersedes(workspace):
    sweep = ("-m", "method=bm25,random", *SMALL, "seed=0,1", "existing=rerun")
    workspace.ok(*sweep)
    first = {run.data.tags["engram.run_key"]: run for run in workspace.runs()}
    workspace.ok(*sweep)
    runs = workspace.runs(complete="true")
    assert len(first) == 3
    assert len(runs) == 6
    assert len({run.data.tags["engram.sweep_id"] for run in runs}) == 2
    for run in runs:
        older = first[run.data.tags["engram.run_key"]]
        if run.info.run_id != older.info.run_id:
            assert run.data.tags["engram.supersedes"] == older.info.run_id
            name = "per_question.jsonl"
            assert workspace.artifact(run, name) == workspace.artifact(older, name)


def test_a_failing_job_is_marked_and_named_and_the_sweep_goes_on(workspace):
    (workspace.folder / "broken.py").write_text(BROKEN_MEMORY)
    workspace.ok(*BM25)
    before = workspace.runs()[0]
    done = workspace.run(
        "-m",
        "method=custom",
        "method.name=mine",
        "method._target_=broken.Broken",
        "+method.params.rule=raises,nothing",
        *SMALL,
    )
    assert done.returncode == 1
    assert "1 job of the sweep failed" in done.stderr
    assert "rule=raises" in done.stderr
    assert "no such luck" in done.stderr
    (failed,) = [run for run in workspace.runs() if run.info.status == "FAILED"]
    assert "engram.complete" not in failed.data.tags
    assert "RuntimeError: no such luck" in failed.data.tags["engram.error"]
    assert "RuntimeError: no such luck" in workspace.artifact(failed, "engram_hydra.log")
    assert len(workspace.runs(method="mine", complete="true")) == 1
    (still,) = workspace.runs(method="bm25")
    assert still.data.to_dictionary() == before.data.to_dictionary()


@pytest.mark.parametrize(
    ("rule", "words"),
    {
        "too many": "at most k = 10",
        "twice": "came twice",
        "unknown": "never written",
        "rising": "higher than the one before",
        "nan": "not finite",
        "newest first": "oldest first",
        "forgets a query": "14 of 15 queries",
        "learns": "read again",
        "orders the best k only": "prefix-consistent",
    }.items(),
)
def test_a_method_that_breaks_a_rule_fails_its_run(workspace, rule, words):
    (workspace.folder / "broken.py").write_text(BROKEN_MEMORY)
    done = workspace.run(
        "method=custom", "method._target_=broken.Broken", f"+method.params.rule='{rule}'", *SMALL
    )
    assert done.returncode == 1
    assert words in done.stderr
    (run,) = workspace.runs()
    assert run.info.status == "FAILED"


def test_a_method_of_ones_own_is_a_class_and_a_file(workspace):
    (workspace.folder / "broken.py").write_text(BROKEN_MEMORY)
    mine = workspace.folder / "my_conf" / "method"
    mine.mkdir(parents=True)
    (mine / "mine.yaml").write_text(
        "defaults: [/schema/method/custom@_here_, _self_]\n"
        "_target_: broken.Broken\nname: mine\nties: oldest\nparams: {rule: none}\n"
    )
    workspace.ok("--config-dir", "my_conf", "method=mine")
    (run,) = workspace.runs(method="mine")
    assert run.data.tags["engram.as_shipped"] == "true"
    assert run.data.tags["engram.exploratory"] == "false"
    workspace.ok("--config-dir", "my_conf", "method=mine", "method.params.rule=other")
    assert len(workspace.runs(method="mine", exploratory="true")) == 1
    table = workspace.ok(module="engram_hydra.aggregate")
    assert any(line.startswith("mine ") for line in table.splitlines())


PARTS_MEMORY = """
from engram_hydra.memories.memory import Hit, Memory

class Parts(Memory):
    def __init__(self, *, ties, pointer, decay):
        self.ids = []

    def write(self, items):
        self.ids += [item.id for item in items]

    def read(self, queries, k):
        return [[Hit(i, -float(n)) for n, i in enumerate(self.ids[:k])] for _ in queries]

    def displacements(self):
        return [(self.ids[0], "nowhere")] if len(self.ids) > 60 else []
"""


def test_the_parts_of_a_method_of_ones_own_are_ablations(workspace):
    (workspace.folder / "parts.py").write_text(PARTS_MEMORY)
    conf = workspace.folder / "my_conf"
    for file, text in {
        "method/mine.yaml": "defaults: [/schema/method/custom@_here_, _self_]\n"
        "_target_: parts.Parts\nname: mine\nswitches: {pointer: true, decay: true}\n",
        "ablation/no_pointer.yaml": "# @package _global_\nmethod: {switches: {pointer: false}}\n",
        "ablation/no_decay.yaml": "# @package _global_\nmethod: {switches: {decay: false}}\n",
    }.items():
        (conf / file).parent.mkdir(parents=True, exist_ok=True)
        (conf / file).write_text(text)
    parts = "ablation=none,no_pointer,[no_pointer,no_decay]"
    workspace.ok("-m", "--config-dir", "my_conf", "method=mine", parts, *SMALL)
    runs = workspace.runs(complete="true", as_shipped="true")
    ablations = [run.data.tags["engram.ablation"] for run in runs]
    assert sorted(ablations) == ["no_decay+no_pointer", "no_pointer", "none"]
    assert len({run.data.tags["engram.method_sha256"] for run in runs}) == 1

    done = workspace.run("--config-dir", "my_conf", "method=mine", *SMALL, "dataset.facts=70")
    assert done.returncode == 1
    assert "displacements() names the id 'nowhere', which was never written" in done.stderr


def test_two_parts_off_at_once_are_one_ablation(workspace):
    workspace.ok("-m", "ablation=none,[no_calc,no_heirs]", *SMALL)
    names = sorted(run.info.run_name for run in workspace.runs(complete="true"))
    assert names == ["coral/no_heirs+no_calc/synthetic/seed0", "coral/none/synthetic/seed0"]


def test_an_audit_is_tagged_and_scored_at_k(workspace):
    sweep = ("method=dense", "audit=none,plain,own_score,newest_first", "k=5", *SMALL)
    workspace.ok("-m", *sweep)
    runs = {run.info.run_name.rpartition("/")[2]: run for run in workspace.runs(complete="true")}
    assert set(runs) == {
        "deterministic",
        "audit_plain",
        "audit_own_score",
        "audit_newest_first",
    }
    assert runs.pop("deterministic").data.tags["engram.audit"] == "false"
    for name, run in runs.items():
        assert run.data.tags["engram.audit"] == "true"
        assert run.data.tags["engram.audit_rule"] == name.removeprefix("audit_")
        assert all(len(row["items"]) == 5 for row in workspace.rows(run))

    def ranked(name):
        return [row["items"] for row in workspace.rows(runs[name])]

    # Rankings are prefix-consistent, so a larger pool alone changes nothing.
    assert ranked("audit_own_score") == ranked("audit_plain") != ranked("audit_newest_first")
    for items in ranked("audit_newest_first"):
        positions = [int(item.rpartition("_")[2]) for item in items]
        assert positions == sorted(positions, reverse=True)


def test_approximate_search_is_a_row_of_its_own_with_its_recall(workspace):
    workspace.ok("-m", "method=dense", "index=exact,hnsw", "seed=0,1", *SMALL)
    runs = {run.info.run_name.rpartition("synthetic/")[2]: run for run in workspace.runs()}
    assert set(runs) == {"deterministic", "seed0/hnsw", "seed1/hnsw"}
    exact = runs.pop("deterministic")
    assert exact.data.tags["engram.index"] == "exact"
    assert not [name for name in exact.data.metrics if "recall" in name]
    for run in runs.values():
        assert run.data.tags["engram.index"] == "hnsw"
        metrics = run.data.metrics
        assert 0.5 < metrics["index_recall_at_10"] <= 1
        assert metrics["index_recall_at_10_n"] == 15
        assert metrics["index_recall_at_10_ci_low"] <= metrics["index_recall_at_10"]


def test_an_oracle_is_tagged(workspace):
    workspace.ok("-m", "method=oracle_immune,heirs_only", *SMALL)
    (oracle,) = workspace.runs(oracle="true", complete="true")
    assert oracle.data.tags["engram.method"] == "oracle_immune"
    (heirs,) = workspace.runs(oracle="false", complete="true")
    assert heirs.info.run_name == "heirs_only/none/synthetic/deterministic"


def test_the_table_refuses_a_damaged_per_question_file(workspace):
    workspace.ok("method=bm25")
    (run,) = workspace.runs()
    file = Path(run.info.artifact_uri.removeprefix("file://")) / "per_question.jsonl"
    whole = file.read_text("utf-8")
    for damaged in (whole[:-40], "{}\n" + whole, "[1]\n" + whole):
        file.write_text(damaged, "utf-8")
        done = workspace.run(module="engram_hydra.aggregate")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert f"per_question.jsonl of run {run.info.run_id} is damaged" in done.stderr
