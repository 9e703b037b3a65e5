"""What two processes side by side gain over one, in a sweep of 40 runs of at least 1.5 s.

``python benchmarks/sweeps.py`` prints one line per measurement. One worker and two take turns; the
vectors are cached and the store exists before any time is taken.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import fmean, median
from typing import Any

from overhead import OURS, seconds
from table import head, line

ROUNDS = 3
RUNS = 40
FACTS = 3000
GRID = ("ablation=none,no_heirs,no_calc,no_feeding", "seed=0,1,2,3,4,5,6,7,8,9")
ONE_WORKER = ("hydra/launcher=basic",)
TWO_WORKERS = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


def sweep(launcher: tuple[str, ...], folder: Path) -> tuple[float, float, float]:
    """Seconds of the whole command, from its first run's start to its last one's end, and of a run."""
    known = {run.info.run_id for run in runs(folder)}
    whole = seconds(
        (*OURS, "-m", *launcher, "existing=rerun", f"dataset.facts={FACTS}", *GRID), folder
    )
    new = [run.info for run in runs(folder) if run.info.run_id not in known]
    assert len(new) == RUNS
    inner = max(run.end_time for run in new) - min(run.start_time for run in new)
    return whole, inner / 1000, fmean(run.end_time - run.start_time for run in new) / 1000


def runs(folder: Path) -> list[Any]:
    """All runs of the folder's store."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("engram_hydra")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], max_results=1000))


def main() -> None:
    head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds((*OURS, f"dataset.facts={FACTS}"), folder)  # makes the store, embeds the texts
        rounds = [(sweep(ONE_WORKER, folder), sweep(TWO_WORKERS, folder)) for _ in range(ROUNDS)]
    one, inner, each = (
        median(column) for column in zip(*(pair[0] for pair in rounds), strict=True)
    )
    two, inner_two, _ = (
        median(column) for column in zip(*(pair[1] for pair in rounds), strict=True)
    )
    if each < 1.5:
        sys.exit(f"a run takes {each:.2f} s here: raise FACTS until it is 1.5 s.")
    ratio, inner_ratio = (
        median(pair[1][which] / pair[0][which] for pair in rounds) for which in (0, 1)
    )
    line(
        f"{RUNS} runs of {each:.1f} s with two workers",
        f"{two:.1f} s",
        f"with one {one:.1f} s",
        f"at most 0.70 of it: {ratio:.2f}",
        ratio <= 0.70,
    )
    line(
        "from the first run's start to the last one's end",
        f"{inner_two:.1f} s",
        f"with one {inner:.1f} s",
        f"at most 0.60 of it: {inner_ratio:.2f}",
        inner_ratio <= 0.60,
    )
    print(f"\nMedians of {ROUNDS} rounds; {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
