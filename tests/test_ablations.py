"""Each part off in turn, on generated data, through the real command line; and the table of it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from statistics import fmean

import pytest

from engram_hydra.metrics.summary import HEADLINES

from workspace import SMALL, Workspace

pytestmark = pytest.mark.slow

NAMED = ("none", "no_heirs", "no_calc", "no_immune")
SEEDS = ("0", "1", "2", "3", "4")
SWITCHED_OFF = {
    "none": (),
    "no_heirs": ("heirs",),
    "no_calc": ("calcification",),
    "no_immune": ("immune_response",),
    "no_feeding": ("feeding",),
    "no_resistance": ("resist",),
    "fixed_threshold": ("reef_threshold",),
    "no_settling_noise": ("settling_noise",),
}
PER_QUESTION = "per_question.jsonl"


@pytest.fixture(scope="module")
def named(tmp_path_factory, vector_cache) -> Workspace:
    """The sweep of 20 runs, as a user types it."""
    workspace = Workspace(tmp_path_factory.mktemp("named"), vector_cache)
    workspace.ok("-m", f"ablation={','.join(NAMED)}", f"seed={','.join(SEEDS)}")
    return workspace


@pytest.fixture(scope="module")
def again(tmp_path_factory, vector_cache) -> Workspace:
    """Seed 0 of that sweep in another process, with another hash seed; and Dense."""
    workspace = Workspace(tmp_path_factory.mktemp("again"), vector_cache)
    workspace.ok("-m", f"ablation={','.join(NAMED)}", "seed=0", PYTHONHASHSEED="1")
    workspace.ok("method=dense")
    return workspace


@pytest.fixture(scope="module")
def parts(tmp_path_factory, vector_cache) -> Workspace:
    """Every ablation, as shipped."""
    workspace = Workspace(tmp_path_factory.mktemp("parts"), vector_cache)
    workspace.ok("-m", f"ablation={','.join(SWITCHED_OFF)}", "seed=0,1")
    return workspace


@pytest.fixture(scope="module")
def table(named) -> Workspace:
    """The same folder with an aggregate of its 20 runs."""
    named.ok(module="engram_hydra.aggregate")
    return named


def ablated(workspace, ablation, seed="0"):
    (run,) = workspace.runs(method="coral", ablation=ablation, seed=seed, complete="true")
    return run


def rankings(workspace, run):
    return [row["items"] for row in workspace.rows(run)]


def test_twenty_complete_runs(named):
    runs = named.runs(method="coral")
    found = Counter((r.data.tags["engram.ablation"], r.data.tags["engram.seed"]) for r in runs)
    assert found == Counter((ablation, seed) for ablation in NAMED for seed in SEEDS)
    assert len({run.data.tags["engram.sweep_id"] for run in runs}) == 1
    for run in runs:
        tags = run.data.tags
        assert run.info.status == "FINISHED"
        assert tags["engram.complete"] == "true"
        assert tags["engram.as_shipped"] == "true"
        assert tags["engram.exploratory"] == "false"
        assert len(named.rows(run)) == int(tags["engram.n_questions"]) == 200


@pytest.mark.parametrize("ablation", NAMED)
def test_a_second_process_gives_the_same_bytes(named, again, ablation):
    first, second = ablated(named, ablation), ablated(again, ablation)
    assert named.artifact(first, PER_QUESTION) == again.artifact(second, PER_QUESTION)


def test_the_seed_changes_something(parts):
    first, second = (ablated(parts, "none", seed) for seed in ("0", "1"))
    assert parts.artifact(first, PER_QUESTION) != parts.artifact(second, PER_QUESTION)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_immune_response_coral_is_dense(named, again, seed):
    (dense,) = again.runs(method="dense", complete="true")
    ours, theirs = named.rows(ablated(named, "no_immune", seed)), again.rows(dense)
    for field in ("question_id", "items", "scores", "answers"):
        assert [row[field] for row in ours] == [row[field] for row in theirs]


def test_feeding_changes_no_scored_ranking(parts):
    full, unfed = ablated(parts, "none"), ablated(parts, "no_feeding")
    assert rankings(parts, full) == rankings(parts, unfed)


@pytest.mark.parametrize(
    "ablation", [name for name in SWITCHED_OFF if name not in ("none", "no_feeding")]
)
def test_every_other_part_changes_a_ranking(parts, ablation):
    seed = "deterministic" if ablation == "no_settling_noise" else "0"
    full, part_off = ablated(parts, "none"), ablated(parts, ablation, seed)
    assert rankings(parts, full) != rankings(parts, part_off)


@pytest.mark.parametrize("ablation", SWITCHED_OFF)
def test_the_tag_says_which_part_was_off(parts, ablation):
    seed = "deterministic" if ablation == "no_settling_noise" else "0"
    params = ablated(parts, ablation, seed).data.params
    parts = {part for every in SWITCHED_OFF.values() for part in every}
    off = {part for part in parts if params[f"method.{part}"] == "False"}
    assert off == set(SWITCHED_OFF[ablation])


def test_without_settling_noise_one_run_stands_for_all_seeds(workspace):
    done = workspace.run("-m", "ablation=no_settling_noise", "seed=0,1,2", *SMALL)
    assert done.returncode == 0, done.stderr
    (run,) = workspace.runs(complete="true")
    assert run.data.tags["engram.seed"] == "deterministic"
    said = done.stdout + done.stderr
    for part in ("seed=1", "seed=2", "skipped: it is deterministic"):
        assert part in said


def lines_of(text):
    return {
        (row["metric"], row["row"]): row
        for row in csv.DictReader(text.splitlines())
        if row["source"] == "measured"
    }


def test_the_table_holds_what_the_runs_logged(table):
    (aggregate,) = table.runs(aggregate_of="synthetic")
    lines = lines_of(table.artifact(aggregate, "report.csv"))
    labels = {
        "none": "Coral (as shipped)",
        "no_heirs": "no heirs",
        "no_calc": "no calcification",
        "no_immune": "no immune response",
    }
    for metric in ("answer_in_top_1", "answer_in_top_10", "current_above_stale_at_10", "subem"):
        means = {
            name: [ablated(table, name, seed).data.metrics[metric] for seed in SEEDS]
            for name in NAMED
        }
        for name, label in labels.items():
            line = lines[metric, label]
            assert float(line["value"]) == pytest.approx(fmean(means[name]))
            assert float(line["seed_min"]) == pytest.approx(min(means[name]))
            assert float(line["seed_max"]) == pytest.approx(max(means[name]))
            assert line["seeds"] == "0-4"
            if name != "none":
                cost = fmean(means["none"]) - fmean(means[name])
                assert float(line["contrast"]) == pytest.approx(cost, abs=1e-12)
        for label, whole in (("heirs alone", "no_calc"), ("calcification alone", "no_heirs")):
            gain = fmean(means[whole]) - fmean(means["no_immune"])
            assert float(lines[metric, label]["contrast"]) == pytest.approx(gain, abs=1e-12)
        for label in ("Tide", "Dense", "BM25, ties oldest", "no feeding", "oracle displacement"):
            assert lines[metric, label]["value"] == "not run"


def test_the_aggregate_is_a_run_whose_metrics_are_the_tables_numbers(table):
    (aggregate,) = table.runs(aggregate_of="synthetic")
    assert aggregate.info.status == "FINISHED"
    assert aggregate.data.tags["engram.n_runs"] == "20"
    lines = lines_of(table.artifact(aggregate, "report.csv"))
    numbers = Counter(
        float(line[field])
        for line in lines.values()
        for field in (
            *("value", "ci_low", "ci_high"),
            *("contrast", "contrast_ci_low", "contrast_ci_high"),
        )
        if line[field] not in ("", "not run", "n/a")
    )
    tables = tuple(f"synthetic/{metric}." for metric in HEADLINES)
    logged = {k: v for k, v in aggregate.data.metrics.items() if k.startswith(tables)}
    assert numbers == Counter(float(f"{value:.6g}") for value in logged.values())
    assert "Coral (as shipped)" in table.artifact(aggregate, "report.md")


def test_the_table_is_written_as_markdown_and_csv_and_printed(table):
    out = table.ok(module="engram_hydra.aggregate")
    newest = table.runs(aggregate_of="synthetic")[0]
    for name in ("report.md", "report.csv"):
        (file,) = [
            file
            for file in table.folder.glob(f"outputs/aggregate/*/*/{name}")
            if str(file.parent) in out
        ]
        assert file.read_text("utf-8") == table.artifact(newest, name)
    for label in ("Coral (as", "no heirs", "heirs alone"):  # a long one goes on in the next line
        assert any(line.startswith(f"{label} ") for line in out.splitlines())
    for label in ("Tide", "oracle displacement"):
        assert label in out[out.index("Not run: ") :]


def test_over_nothing_the_table_is_not_run(workspace):
    out = workspace.ok("log=false", module="engram_hydra.aggregate")
    assert "Nothing was logged, as log=false says." in out
    assert workspace.runs() == []
    assert list(workspace.folder.glob("outputs/aggregate/*/*/report.html"))
    out = workspace.ok(module="engram_hydra.aggregate")
    assert "There are no runs yet" in out
    (aggregate,) = workspace.runs()
    assert aggregate.data.metrics == {}
    assert aggregate.data.tags["engram.n_runs"] == "0"


def test_what_is_no_part_of_the_table_is_left_out_and_listed(workspace):
    workspace.ok("-m", "method=bm25", "k=5,10")
    workspace.ok("-m", "method=bm25", "reader=none")
    workspace.ok("-m", "method=bm25", "method.b=0.5,0.6")
    workspace.ok("-m", "method=random", "seed=5,0")
    ids = {
        reason: {run.info.run_id[:8] for run in runs}
        for reason, runs in {
            "other k": workspace.runs(k="5"),
            "other reader": workspace.runs(reader="none"),
            "exploratory": workspace.runs(exploratory="true"),
        }.items()
    }
    assert [len(found) for found in ids.values()] == [1, 1, 3]
    (shipped,) = workspace.runs(method="bm25", k="10", reader="newest", exploratory="false")

    out = workspace.ok(module="engram_hydra.aggregate")
    (aggregate,) = workspace.runs(aggregate_of="synthetic")
    report = workspace.artifact(aggregate, "report.md")
    listed = report[report.index("Runs: expected, found") :]
    assert "ignored: exploratory 3, other k 1, other reader 1." in " ".join(out.split())
    for reason, left_out in ids.items():
        words = " ".join(listed[listed.index(f"- Ignored, {reason}: {len(left_out)} (") :].split())
        assert left_out == set(words[words.index("(") + 1 : words.index(")")].split(", "))
    taken = json.loads(workspace.artifact(aggregate, "runs.json"))["synthetic"]
    selected, reasons = taken["selected"], taken["left_out"]
    (random,) = workspace.runs(method="random", seed="0")
    assert selected == {
        shipped.info.run_id: "bm25/none//deterministic",
        random.info.run_id: "random/none//0",
    }
    for reason, left_out in ids.items():
        assert {run[:8] for run, why in reasons.items() if why == reason} == left_out
    lines = lines_of(workspace.artifact(aggregate, "report.csv"))
    line = lines["answer_in_top_10", "BM25, ties oldest"]
    assert float(line["value"]) == shipped.data.metrics["answer_in_top_10"]
    assert lines["answer_in_top_10", "random ranking"]["seeds"] == "0"
