"""A store of made-up runs like those of the table, written past MLflow's interface, which takes hours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from engram_hydra.metrics.summary import summarise
from engram_hydra.report.expected import expected_seeds
from engram_hydra.tracking import Store

DATASETS = ("fc_sh_6k", "fc_mh_6k", "fc_sh_32k", "fc_mh_32k")
QUESTIONS = 100
METRICS, PARAMS = 120, 60  # of each run
KILLED_EVERY = 23  # of the older runs
MEASURED = ("answer_in_top_1", "answer_in_top_5", "answer_in_top_10", "tie_at_1", "subem")
START = 1_700_000_000_000  # ms since 1970, of the newest run


def make_store(folder: Path, runs: int, datasets: Sequence[str] = DATASETS) -> Store:
    """``runs`` runs over the data sets: all that a table needs, and older ones that they supersede.

    The runs that a table takes have their file of questions; the others can't be asked for theirs.
    """
    store = Store(f"sqlite:///{folder / 'mlflow.db'}", str(folder / "artifacts"), "engram_hydra")
    rng = np.random.default_rng(0)
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection, connection:
        for number, made in enumerate(_runs(rng, runs, datasets)):
            _insert(connection, store.experiment_id, folder / "artifacts", number, *made)
    return store


def _runs(
    rng: np.random.Generator, runs: int, datasets: Sequence[str]
) -> Iterator[tuple[dict[str, str], dict[str, float], list[dict[str, Any]] | None]]:
    """Tags, metrics and, for the newest of a cell, the rows of each run; the newest first."""
    cells = [
        (dataset, cell, seed)
        for dataset in datasets
        for cell, seeds in expected_seeds(known_conflicts=True).items()
        for seed in seeds
    ]
    newest: dict[int, dict[str, float]] = {}
    for number, (place, (dataset, cell, seed)) in islice(
        zip(count(), cycle(enumerate(cells))), runs
    ):
        rows = _rows(rng) if place not in newest else None
        if rows:
            newest[place] = _metrics(rows)
        killed = not rows and number % KILLED_EVERY == 0
        tags = {
            "method": cell.method,
            "ablation": cell.ablation,
            "variant": cell.variant,
            "dataset": dataset,
            "seed": seed,
            "embedder": "minilm",
            "overflow": "truncate",
            "reader": "newest",
            "k": "10",
            "run_key": f"{place:064x}",
            "data_sha256": f"{datasets.index(dataset):064x}",
            "method_sha256": f"{len(cell.method):064x}",
            "code_sha256": "c" * 64,
            "git_commit": "d" * 40,
            "git_dirty": "false",
            "exploratory": "false",
            "audit": "false",
            "n_questions": str(QUESTIONS),
            **({} if killed else {"complete": "true"}),
        }
        yield {f"engram.{name}": value for name, value in tags.items()}, newest[place], rows


def _rows(rng: np.random.Generator) -> list[dict[str, Any]]:
    values = rng.integers(2, size=(QUESTIONS, len(MEASURED))).astype(float)
    items = [f"fact_{number}" for number in range(10)]
    return [
        {
            "question_id": f"question_{n:03d}",
            "kind": "single_hop" if n % 2 else "two_hop",
            "question": "Which of the facts that were told holds now?",
            "gold": ["the newest of them"],
            "items": items,
            "scores": [round(x, 5) for x in rng.random(10)],
            "metrics": dict(zip(MEASURED, map(float, values[n]), strict=True)),
            "answers": ["the newest of them"],
        }
        for n in range(QUESTIONS)
    ]


def _metrics(rows: list[dict[str, Any]]) -> dict[str, float]:
    scored = summarise(rows)
    return scored | {f"memory_counter_{n}": float(n) for n in range(METRICS - len(scored))}


def _insert(
    connection: sqlite3.Connection,
    experiment: str,
    artifacts: Path,
    number: int,
    tags: dict[str, str],
    metrics: dict[str, float],
    rows: list[dict[str, Any]] | None,
) -> None:
    run_id, started = f"{number:032x}", START - 1000 * number
    folder = artifacts / run_id / "artifacts"
    connection.execute(
        "INSERT INTO runs (run_uuid, name, source_type, user_id, status, start_time, end_time,"
        " lifecycle_stage, artifact_uri, experiment_id)"
        " VALUES (?, ?, 'UNKNOWN', 'unknown', 'FINISHED', ?, ?, 'active', ?, ?)",
        (run_id, f"run {number}", started, started + 900, folder.as_uri(), int(experiment)),
    )
    connection.executemany(
        "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan)"
        " VALUES (?, ?, ?, ?, 0, 0)",
        [(name, value, started, run_id) for name, value in metrics.items()],
    )
    connection.executemany(
        "INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid)"
        " VALUES (?, ?, ?, 0, 0, ?)",
        [(name, value, started, run_id) for name, value in metrics.items()],
    )
    connection.executemany(
        "INSERT INTO params (key, value, run_uuid) VALUES (?, ?, ?)",
        [(f"method.constant_{n}", str(n / 7), run_id) for n in range(PARAMS)],
    )
    connection.executemany(
        "INSERT INTO tags (key, value, run_uuid) VALUES (?, ?, ?)",
        [(name, value, run_id) for name, value in tags.items()],
    )
    if rows:
        folder.mkdir(parents=True)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "per_question.jsonl").write_text(lines, encoding="utf-8")
