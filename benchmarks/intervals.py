"""Intervals of a whole table in one pass beside a loop over scipy's, and their coverage.

``python benchmarks/intervals.py`` bootstraps the paired differences of 14 rows to 4 anchors in 6 metrics
on 100 questions, five seeds each, made up and seeded. It is one process on one thread, where both sides
take turns and draw everything anew. An end of an interval is held against the means that scipy
resampled: how far its share of them is from the tail it should cut off, in standard errors of a
difference of two shares of 10,000. Then both kinds of interval are simulated, and held against their
coverage as computed exactly.
"""

from __future__ import annotations

import math
import time
from statistics import median

import numpy as np
import scipy.stats
from table import head, line
from vector_mode import on_one_thread

from engram_hydra.stats import RESAMPLES, bootstrap_means, draws, percentile_interval

from interval_coverage import TAIL, between, coverages
from interval_coverage import table as coverage_table

ROUNDS = 3
GOAL = 20
ROWS, ANCHORS, METRICS, N, SEEDS = 14, 4, 6, 100, 5
GRID = {
    20: (1, 5, 10, 15, 18, 19),
    100: (1, 3, 10, 30, 50, 70, 90, 97, 98),
}
SAMPLES = 5_000
COVERAGE_RESAMPLES = 1_001


def pilot_table() -> np.ndarray:
    """Per-question seed means of differences, (rows x anchors x metrics, questions).

    Half the metrics are 0/1, half continuous; anchors are deterministic.
    """
    rng = np.random.default_rng(0)
    hard = rng.random((1, METRICS, 1, N))
    better = rng.uniform(-0.2, 0.2, (ROWS + ANCHORS, METRICS, 1, 1))
    values = np.clip(hard + better + rng.normal(0, 0.2, (ROWS + ANCHORS, METRICS, SEEDS, N)), 0, 1)
    values[:, ::2] = values[:, ::2] > 0.5
    rows, anchors = values[:ROWS].mean(axis=2), values[ROWS:, :, 0]
    return (rows[:, np.newaxis] - anchors).reshape(-1, N)


def ours(table: np.ndarray) -> np.ndarray:
    draws.counts.cache_clear()
    return np.array(percentile_interval(bootstrap_means(table, seed=0)))


def theirs(table: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds of a loop over scipy's bootstrap, and the means it resampled."""
    rng = np.random.default_rng(1)
    resampled = np.empty((len(table), RESAMPLES))
    start = time.perf_counter()
    for row, values in enumerate(table):
        result = scipy.stats.bootstrap(
            (values,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=rng
        )
        resampled[row] = result.bootstrap_distribution
    return time.perf_counter() - start, resampled


def deviations(intervals: np.ndarray, resampled: np.ndarray) -> np.ndarray:
    """Of each end, shape (2, rows), in Monte-Carlo standard errors; 0 within a step of the means."""
    error = math.sqrt(2 * TAIL * (1 - TAIL) / RESAMPLES)
    ends, tails = intervals[:, :, np.newaxis], np.array([[TAIL], [1 - TAIL]])
    less = (resampled < ends - 1e-9).mean(axis=2)
    at_most = (resampled <= ends + 1e-9).mean(axis=2)
    return np.maximum(np.maximum(less - tails, tails - at_most), 0) / error


def main() -> None:
    on_one_thread()
    table = pilot_table()
    one_pass, loop = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        intervals = ours(table)
        one_pass.append(time.perf_counter() - start)
        seconds, resampled = theirs(table)
        loop.append(seconds)
    ratio = median(there / here for here, there in zip(one_pass, loop, strict=True))
    head()
    line(
        f"{len(table)} paired intervals of {N} questions, {RESAMPLES:,} resamples",
        f"{median(one_pass):.2f} s",
        f"a loop over `scipy.stats.bootstrap` {median(loop):.2f} s",
        f"at least {GOAL} times faster: {ratio:.0f}",
        ratio >= GOAL,
    )
    off = deviations(intervals, resampled)
    # With as many ends, one beyond this is to be expected once in a hundred times, if all is well.
    bound = scipy.stats.norm.isf(0.01 / 2 / off.size)
    line(
        f"their {off.size} ends: greatest deviation, in Monte-Carlo standard errors",
        f"{off.max():.1f}",
        "scipy's resampled means",
        f"at most {bound:.1f}",
        bool(off.max() <= bound),
    )
    print()
    rows = [
        row
        for n, successes in GRID.items()
        for below in successes
        for row in coverages(n, between(n, below), SAMPLES, COVERAGE_RESAMPLES)
    ]
    print(coverage_table(rows))
    worst = max(abs(row.errors) for row in rows)
    print(f"\nFarthest from the exact coverage: {worst:.1f} standard errors of {len(rows)} rates.")


if __name__ == "__main__":
    main()
