"""A report that must be whole."""

from __future__ import annotations


def test_strict_names_what_is_missing_when_all_is_written(workspace):
    assert workspace.run("-m", "method=bm25,dense").returncode == 0
    done = workspace.run("strict=true", module="engram_hydra.aggregate")
    assert done.returncode == 1
    assert "the report is written, and not whole" in done.stderr
    assert "synthetic: Tide, seed det., not run" in done.stderr
    assert "Dense" not in done.stderr
    assert len(list(workspace.folder.glob("outputs/aggregate/**/report.html"))) == 1
    (logged,) = workspace.runs(aggregate_of="synthetic")
    assert logged.data.tags["engram.complete"] == "true"
    assert workspace.run(module="engram_hydra.aggregate").returncode == 0
