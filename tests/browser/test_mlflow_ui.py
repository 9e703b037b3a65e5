"""MLflow's own pages on a store of ours: runs, their metrics, and the report opened as an artifact."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram_hydra.report.page import to_html

from made_up_report import QUESTIONS, made_up_blocks
from workspace import Workspace

PATIENCE = 60  # seconds, for a first start


@pytest.fixture
def logged(workspace: Workspace) -> dict[str, str]:
    """The experiment's id, and the run ids of two rows and of the report by name."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{workspace.folder / 'mlruns' / 'mlflow.db'}")
    artifacts = (workspace.folder / "mlruns" / "artifacts").as_uri()
    ids = {"experiment": client.create_experiment("engram_hydra", artifacts)}
    for name, hit in (("bm25", 0.8125), ("coral", 0.9375), ("report", None)):
        run = client.create_run(ids["experiment"], run_name=f"{name} made_up").info.run_id
        ids[name] = run
        if hit is None:
            page = to_html(made_up_blocks(), title="A made-up report")
            client.log_text(run, page, "report.html")
        else:
            client.log_metric(run, "answer_in_top_10", hit)
        client.set_terminated(run)
    return ids


@pytest.fixture
def server(workspace: Workspace, logged: dict[str, str]) -> Iterator[str]:
    """The address of ``mlflow ui`` on that store."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = f"sqlite:///{workspace.folder / 'mlruns' / 'mlflow.db'}"
    with (workspace.folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "ui", "--port", str(port), "--workers", "1",
             "--host", "127.0.0.1", "--backend-store-uri", store],
            cwd=workspace.folder,
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/health", process, workspace.folder / "server.log")
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not _answers(address):
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"mlflow ui did not answer:\n{log.read_text('utf-8')[-2000:]}")
        time.sleep(0.5)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def test_runs_metrics_and_report_are_found(
    browser: Any, server: str, logged: dict[str, str], screenshots: Path
) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(PATIENCE * 1000)
    experiment = f"{server}/#/experiments/{logged['experiment']}"

    page.goto(f"{experiment}/runs")
    for name in ("bm25 made_up", "coral made_up", "report made_up"):
        page.get_by_text(name, exact=True).first.wait_for()
    page.screenshot(path=screenshots / "mlflow-runs.png")

    page.goto(f"{experiment}/runs/{logged['coral']}")
    page.get_by_text("answer_in_top_10").first.wait_for()
    page.get_by_text("0.9375").first.wait_for()
    page.screenshot(path=screenshots / "mlflow-run.png")

    page.goto(f"{experiment}/runs/{logged['report']}/artifacts")
    page.get_by_text("report.html").first.click()
    report = page.frame_locator("iframe")
    report.get_by_role("heading", name="A made-up report", level=1).wait_for()
    question = report.get_by_role("button", name=QUESTIONS[0])
    question.click()
    report.locator(".detail").first.get_by_text("Emerald City").wait_for()
    page.screenshot(path=screenshots / "mlflow-report.png")
    frame = next(frame for frame in page.frames if frame.query_selector(".verdicts"))
    assert frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    report.get_by_role("heading", level=1).scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "mlflow-report-top.png")
    page.close()
