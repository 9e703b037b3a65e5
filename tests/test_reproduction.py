"""Figures that others computed, or that follow from the data alone, through the real command line."""

from __future__ import annotations

import csv
import json
import os
import re
import string
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workspace import Workspace

pytestmark = pytest.mark.slow

SEEDS = 5
MIB_AT_262K = 2048


def swept(workspace: Workspace, methods: str, lengths: str, seeds: str = "0") -> Workspace:
    """One sweep over single-hop and multi-hop."""
    workspace.ok("-m", f"method={methods}", f"dataset={lengths}", f"seed={seeds}")
    return workspace


@pytest.fixture(scope="module")
def short(engram_data, tmp_path_factory, vector_cache) -> Workspace:
    """BM25, Dense and random rankings at 6K."""
    workspace = Workspace(tmp_path_factory.mktemp("fc_6k"), vector_cache)
    seeds = ",".join(map(str, range(SEEDS)))
    return swept(workspace, "bm25,dense,random", "fc_sh_6k,fc_mh_6k", seeds)


@pytest.fixture(scope="module")
def long(engram_data, tmp_path_factory, vector_cache) -> Workspace:
    """BM25 and Dense at 262K; Dense on both sets, so that all their vectors are cached after it."""
    workspace = Workspace(tmp_path_factory.mktemp("fc_262k"), vector_cache)
    return swept(workspace, "bm25,dense", "fc_sh_262k,fc_mh_262k")


def correct(workspace: Workspace, metric: str, **tags: str) -> int:
    """How many questions of the one such run have the metric, of 100."""
    (run,) = workspace.runs(complete="true", **tags)
    assert run.data.metrics[f"{metric}_n"] == 100
    count = round(100 * run.data.metrics[metric])
    assert run.data.metrics[metric] == pytest.approx(count / 100)
    return count


@pytest.mark.parametrize(
    ("method", "dataset", "metric", "expected"),
    [
        ("bm25", "fc_mh_6k", "answer_in_top_10", 27),
        ("bm25", "fc_sh_6k", "answer_in_top_10", 96),
        ("bm25", "fc_sh_6k", "answer_in_top_1", 44),
        ("bm25", "fc_sh_6k", "subem", 87),
        ("dense", "fc_mh_6k", "answer_in_top_10", 28),
        ("dense", "fc_sh_6k", "answer_in_top_10", 100),
        ("dense", "fc_sh_6k", "answer_in_top_1", 44),
        ("dense", "fc_sh_6k", "subem", 90),
    ],
)
def test_figures_at_6k(short, method, dataset, metric, expected):
    assert correct(short, metric, method=method, dataset=dataset) == expected


@pytest.mark.parametrize(("method", "expected"), [("bm25", 64), ("dense", 80)])
def test_subem_at_262k(long, method, expected):
    assert correct(long, "subem", method=method, dataset="fc_sh_262k", reader="newest") == expected


@pytest.mark.parametrize("hops", ["sh", "mh"])
def test_every_bm25_list_is_the_golden_one(short, golden, hops):
    lists = json.loads((golden / "fc6k_bm25_top10.json").read_text("utf-8"))
    expected = lists[f"factconsolidation_{hops}_6k"]
    (run,) = short.runs(method="bm25", dataset=f"fc_{hops}_6k", complete="true")
    rows = short.rows(run)
    assert [row["items"] for row in rows] == [
        [f"fact_{position}" for position in question["top10"]] for question in expected
    ]
    assert [row["metrics"]["answer_in_top_10"] for row in rows] == [
        float(question["hit"]) for question in expected
    ]


@pytest.mark.parametrize("length", ["6k", "262k"])
def test_conflicts_are_scored_where_there_are_some(request, golden, length):
    workspace = request.getfixturevalue({"6k": "short", "262k": "long"}[length])
    known = json.loads((golden / "fc_conflicts.json").read_text("utf-8"))[length]
    questions = known["single_hop_questions"]
    (run,) = workspace.runs(method="bm25", dataset=f"fc_sh_{length}", complete="true")
    n = sum(question is not None and bool(question["stale"]) for question in questions)
    assert run.data.metrics["current_above_stale_at_10_n"] == n

    expected = []
    for question, row in zip(questions, workspace.rows(run), strict=True):
        if question is None or not question["stale"]:
            continue
        current = f"fact_{question['current']}"
        above = row["items"][: row["items"].index(current)] if current in row["items"] else None
        stale = {f"fact_{position}" for position in question["stale"]}
        expected.append(above is not None and not stale & set(above))
    logged = run.data.metrics["current_above_stale_at_10"]
    assert logged == pytest.approx(sum(expected) / n)


def normalized(text: str) -> str:
    """SQuAD's normalisation, which SubEM uses, written down once more."""
    kept = "".join(char for char in text.lower() if char not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def chances(data: Path, source: str) -> list[float]:
    """Each question's chance that ten facts drawn from all of them hold an answer."""
    from scipy.stats import hypergeom

    table = json.loads((data / "memoryagentbench" / "Conflict_Resolution.json").read_text("utf-8"))
    (row,) = [row for row in table if row["metadata"]["source"] == source]
    facts = [normalized(line) for line in row["context"].strip().split("\n")[1:]]
    golds = [
        sum(any(normalized(answer) in fact for answer in accepted) for fact in facts)
        for accepted in row["answers"]
    ]
    return [float(hypergeom.sf(0, len(facts), gold, 10)) for gold in golds]


@pytest.mark.parametrize(("hops", "percent"), [("mh", 5.8), ("sh", 8.0)])
def test_a_random_ranking_is_at_chance_level(short, engram_data, hops, percent):
    chance = chances(engram_data, f"factconsolidation_{hops}_6k")
    expected = sum(chance) / len(chance)
    assert 100 * expected == pytest.approx(percent, abs=0.05)
    runs = short.runs(method="random", dataset=f"fc_{hops}_6k", complete="true")
    assert {run.data.tags["engram.seed"] for run in runs} == {str(s) for s in range(SEEDS)}
    for run in runs:
        assert run.data.metrics["chance_answer_in_top_10"] == pytest.approx(expected)
    # Questions share rankings neither with each other nor over seeds: the sum's variance is known.
    hits = sum(100 * run.data.metrics["answer_in_top_10"] for run in runs)
    sd = (SEEDS * sum(p * (1 - p) for p in chance)) ** 0.5
    assert abs(hits - SEEDS * sum(chance)) < 3 * sd


def test_these_runs_are_in_the_table(short, long):
    runs = [*short.runs(complete="true"), *long.runs(complete="true")]
    assert len(runs) == 2 * (2 + SEEDS) + 4
    for run in runs:
        assert run.data.tags["engram.as_shipped"] == "true"
        assert run.data.tags["engram.exploratory"] == "false"
    short.ok("datasets=fc_mh_6k", module="engram_hydra.aggregate")
    (aggregate,) = short.runs(aggregate_of="fc_mh_6k")
    (row,) = [
        row
        for row in csv.DictReader(short.artifact(aggregate, "report.csv").splitlines())
        if (row["row"], row["metric"]) == ("BM25, ties oldest", "answer_in_top_10")
    ]
    assert (float(row["value"]), row["n"], row["seeds"]) == (0.27, "100", "det.")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to watch a process")
def test_coral_at_262k_stays_under_2_gib(long):
    with (long.folder / "coral.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "engram_hydra", "method=coral", "dataset=fc_mh_262k"],
            cwd=long.folder,
            env=os.environ | {"ENGRAM_CACHE": str(long.cache)},
            stdout=log,
            stderr=log,
        )
        watched = 0
        while process.poll() is None:
            watched = max(watched, resident_kib(process.pid))
            time.sleep(0.02)
    assert process.returncode == 0, (long.folder / "coral.log").read_text()
    (run,) = long.runs(method="coral", complete="true")
    said = run.data.metrics["peak_memory_mib"]
    assert said < MIB_AT_262K
    assert watched / 1024 < MIB_AT_262K
    # 18,332 vectors of 384 floats alone take 27 MiB: neither figure is of nothing.
    assert min(said, watched / 1024) > 27


def resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found.group(1)) if found else 0
