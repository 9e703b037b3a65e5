"""A report made of a stranger's store: its texts are shown, act on nothing, and lead nowhere."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from markdown_it import MarkdownIt

from workspace import SMALL, Workspace

METHOD = "=cmd|' /C calc'!A1 <script>harm()</script> [a](http://evil.example) \\input{x} \x1b[31m"


def test_a_strangers_tags_are_text_and_no_path(workspace: Workspace) -> None:
    workspace.ok("-m", "method=bm25,dense", *SMALL)
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{workspace.folder / 'mlruns' / 'mlflow.db'}")
    (bm25,) = workspace.runs(method="bm25")
    client.set_tag(bm25.info.run_id, "engram.method", METHOD)
    client.set_tag(bm25.info.run_id, "engram.exploratory", "false")
    client.set_tag(bm25.info.run_id, "engram.git_commit", METHOD)
    (dense,) = workspace.runs(method="dense")
    up = client.create_run(dense.info.experiment_id, tags=dense.data.tags)
    client.set_tag(up.info.run_id, "engram.dataset", "../../../up")
    before = {file for file in workspace.folder.rglob("*") if file.is_file()}
    done = workspace.run(module="engram_hydra.aggregate")
    assert done.returncode == 0, done.stderr
    assert "left out: no data set is called '../../../up'" in done.stdout + done.stderr
    new = {file for file in workspace.folder.rglob("*") if file.is_file()} - before
    (report,) = [
        file.parent for file in new if file.name == "report.html" and "outputs" in str(file)
    ]
    places = {file.relative_to(workspace.folder).parts[0] for file in new}
    assert places == {"outputs", "mlruns"}
    assert not [file for file in new if "outputs" in str(file) and not file.is_relative_to(report)]
    assert "\x1b" not in done.stdout
    _shows_and_runs_nothing(report)


def _shows_and_runs_nothing(report: Path) -> None:
    page = (report / "report.html").read_text("utf-8")
    assert "&lt;script&gt;harm()" in page
    assert "<script>harm" not in page
    tex = (report / "report.tex").read_text("utf-8")
    assert r"\textbackslash{}input\{x\}" in tex.replace(r"\allowbreak{}", "")
    assert r"\input{x}" not in tex
    markdown = (report / "report.md").read_text("utf-8")
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inner = [child for token in tokens for child in token.children or ()]
    assert not [t for t in (*tokens, *inner) if t.type.startswith("html")]
    targets = [token.attrGet("href") for token in inner if token.type == "link_open"]
    assert [target for target in targets if not re.fullmatch(r"\w+\.csv", str(target))] == []
    cells = [
        cell
        for file in report.rglob("*.csv")
        for row in csv.reader(file.read_text("utf-8").splitlines())
        for cell in row
    ]
    assert any(cell.startswith("'=cmd") for cell in cells)
    assert not [cell for cell in cells if re.match(r"[=@]|[+-](?![\d.])", cell)]
