"""What 2,000 runs cost on their way to a table, against the bare calls that fetch them.

``python benchmarks/aggregation.py`` makes the store, then takes both in turns, in one process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from made_up_store import make_store
from table import head, line

from engram_hydra.collect import collect
from engram_hydra.report.ablation_table import ablation_tables
from engram_hydra.report.cells import Run, select
from engram_hydra.report.chapter import Chapter, chapter_blocks
from engram_hydra.report.document import to_markdown
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.expected import expected_seeds
from engram_hydra.tracking import Store

MOST = 5


def bare(store: Store) -> int:
    """The pages of ``search_runs`` that hold all runs; how many came."""
    found, token = 0, None
    while True:
        page = store.client.search_runs([store.experiment_id], max_results=1000, page_token=token)
        found, token = found + len(page), page.token
        if not token:
            return found


def to_tables(store: Store) -> str:
    """All runs pulled, selected and tabulated, with the account of them."""
    expected = expected_seeds(known_conflicts=True)
    return "\n".join(
        to_markdown(chapter_blocks(_chapter(dataset, runs, expected)))
        for dataset, runs in collect(store, None).items()
    )


def _chapter(dataset: str, runs: list[Run], expected: Any) -> Chapter:
    chosen = select(
        runs, dataset=dataset, data_sha256=None, k=10, reader="newest", embedder="minilm"
    )
    tables = ablation_tables(Estimator(chosen))
    shown = {key.variant for key in chosen.cells}
    return Chapter(dataset, 10, "newest", "minilm", chosen, tables, [], {}, shown, expected)


def seconds(what: Callable[[], Any]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3, help="medians are of so many")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        made = time.perf_counter()
        store = make_store(Path(name), options.runs)
        made = time.perf_counter() - made
        assert bare(store) == options.runs  # warms up
        rounds = [
            (seconds(lambda: bare(store)), seconds(lambda: to_tables(store)))
            for _ in range(options.rounds)
        ]
        fetching, ours = (median(column) for column in zip(*rounds, strict=True))
        head()
        line(
            f"{options.runs:,} runs to tables of four data sets",
            f"{ours:.1f} s",
            f"`search_runs`, page by page {fetching:.1f} s",
            f"at most {MOST} times: {ours / fetching:.2f}",
            ours <= MOST * fetching,
        )
    print(f"\nMedians of {options.rounds}; the store took {made:.0f} s to make.")


if __name__ == "__main__":
    main()
