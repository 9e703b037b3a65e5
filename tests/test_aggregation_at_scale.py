"""More runs than a page holds, on their way from a store to tables; at full size in the benchmarks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from aggregation import bare, to_tables
from made_up_store import DATASETS as ALL
from made_up_store import KILLED_EVERY, make_store

from engram_hydra import tracking
from engram_hydra.collect import collect
from engram_hydra.report.cells import select
from engram_hydra.report.expected import expected_seeds
from engram_hydra.tracking import Store

DATASETS = ALL[:2]
NEEDED = len(DATASETS) * sum(map(len, expected_seeds(known_conflicts=True).values()))
RUNS = NEEDED + 50


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, store_template: Path) -> Store:
    folder = tmp_path_factory.mktemp("runs")
    shutil.copy(store_template, folder)
    return make_store(folder, RUNS, DATASETS)


@pytest.fixture
def in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "RUNS_AT_ONCE", 37)  # neither divides the other


@pytest.mark.usefixtures("in_pages")
def test_every_run_comes_once_and_is_taken_or_ignored(store: Store) -> None:
    runs = collect(store, None)
    ids = [run.run_id for of_set in runs.values() for run in of_set]
    assert len(ids) == len(set(ids)) == bare(store) == RUNS
    taken, reasons = 0, []
    for dataset, of_set in runs.items():
        chosen = select(
            of_set, dataset=dataset, data_sha256=None, k=10, reader="newest", embedder="minilm"
        )
        taken += len(chosen.cells)
        reasons += [reason.partition(" by ")[0] for _, reason in chosen.left_out]
        assert chosen.remarks == []
    assert taken == NEEDED
    killed = len([number for number in range(NEEDED, RUNS) if number % KILLED_EVERY == 0])
    assert reasons.count("incomplete") == killed
    assert reasons.count("superseded") == RUNS - NEEDED - killed


@pytest.mark.usefixtures("in_pages")
def test_the_tables_are_whole(store: Store) -> None:
    text = to_tables(store)
    needed = NEEDED // len(DATASETS)
    whole = f"- Expected: {needed} runs for the standing rows, of which {needed} are there and 0"
    assert text.count(whole) == len(DATASETS)
    assert "not run" not in text.replace("Not run", "")
