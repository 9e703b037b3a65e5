"""A run that is there already: skipped, run anew or refused; and a sweep that stops at a failure."""

from __future__ import annotations

from workspace import SMALL

BM25 = ("method=bm25", *SMALL)


def test_a_sweep_that_is_started_again_runs_only_what_is_missing(workspace):
    workspace.ok(*BM25, "k=3")
    said = workspace.ok("-m", *BM25, "k=3,4")
    (three,) = workspace.runs(k="3")
    (four,) = workspace.runs(k="4")
    assert f"run {three.info.run_id} of " in said
    assert "stood already: run " in said
    assert three.data.tags["engram.sweep_id"] == ""
    assert four.data.tags["engram.sweep_id"] != ""


def test_an_existing_run_may_be_refused(workspace):
    workspace.ok(*BM25)
    (run,) = workspace.runs()
    done = workspace.run(*BM25, "existing=fail", "workers=2")
    assert done.returncode == 1
    assert done.stderr.startswith(f"run {run.info.run_id} of ")
    assert done.stderr.count("\n") == 1
    assert len(workspace.runs()) == 1


def test_processes_that_meet_at_a_cell_do_it_once(workspace):
    under_way = [workspace.start(*BM25) for _ in range(3)]
    said = [process.communicate(timeout=120) for process in under_way]
    assert [process.returncode for process in under_way] == [0, 0, 0], said
    (run,) = workspace.runs()
    assert run.data.tags["engram.complete"] == "true"
    stands = f"run {run.info.run_id} of "
    assert sum(stands in output for output, _ in said) == 2


def test_fail_fast_starts_no_job_after_a_failure(workspace):
    (workspace.folder / "broken.py").write_text(
        "from engram_hydra.memories.memory import Memory\n\n\n"
        "class Broken(Memory):\n"
        "    def __init__(self, *, ties):\n        pass\n\n"
        "    def write(self, items):\n        raise ValueError('oh')\n\n"
        "    def read(self, queries, k):\n        return []\n"
    )
    sweep = ("-m", "method=custom", "method._target_=broken.Broken", *SMALL, "k=2,3,4")
    done = workspace.run(*sweep, "fail_fast=true")
    assert done.returncode == 1
    first, reason = done.stderr.splitlines()[-2:]
    assert first == "1 job of the sweep failed, 2 more were not started (fail_fast=true):"
    assert "k=2" in reason
    assert len(workspace.runs()) == 1
    assert "3 jobs of the sweep failed" in workspace.run(*sweep).stderr
    assert len(workspace.runs()) == 4
