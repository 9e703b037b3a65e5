"""A million polyps in one pass, and one batch of reads, within 6 GiB.

``python benchmarks/soak.py`` writes them with ``index=hnsw`` on one thread, reports as it goes, and
exits with 1 if it took more memory. ``--facts 20000`` tries it small.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from itertools import pairwise

import faiss
import numpy as np
from numpy.typing import NDArray
from vector_mode import maker, on_one_thread

from engram_hydra.datasets.synthetic_vectors import VectorWorld
from engram_hydra.memories.index import Index
from engram_hydra.metrics.immune import immune_metrics

AT_ONCE = 10_000
REPORTS = 20
QUERIES = 1_000
CHECKED = 200
K = 10
MOST_GIB = 6.0


def peak_gib() -> float:
    """The most memory this process has held; Linux counts it in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def index_recall(index: Index, queries: NDArray[np.float32], k: int) -> float:
    """The share of the exact ``k`` nearest that the index finds, from products by the block."""
    best, nearest = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.intp)
    for start in range(0, index.size, 10 * AT_ONCE):
        block = index.vectors[start : start + 10 * AT_ONCE]
        best = np.hstack([best, queries @ block.T])
        positions = np.arange(start, start + len(block))
        nearest = np.hstack([nearest, np.broadcast_to(positions, (len(queries), len(block)))])
        top = np.argpartition(-best, k, axis=1)[:, :k]
        best, nearest = (np.take_along_axis(a, top, axis=1) for a in (best, nearest))
    _, found = index.search(queries, min(index.width, index.size))
    hits = sum(len(np.intersect1d(a, b)) for a, b in zip(nearest, found, strict=True))
    return hits / nearest.size


def main() -> None:
    on_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=1_000_000, help="how many polyps to write")
    count = parser.parse_args().facts
    faiss.omp_set_num_threads(1)

    world = VectorWorld(facts=count)
    coral = maker("coral", "hnsw", world.embed)()
    clock = [0.0]  # seconds of writing after each call
    bounds = [*range(0, count, AT_ONCE), count]
    every = max(1, (len(bounds) - 1) // REPORTS)
    start = time.perf_counter()
    for call, (first, stop) in enumerate(pairwise(bounds), start=1):
        coral.write(world.items(first, stop))
        clock.append(time.perf_counter() - start)
        if call % every == 0 or stop == count:
            earlier = max(0, call - every)
            rate = (stop - bounds[earlier]) / (clock[call] - clock[earlier])
            print(
                f"{stop:>9,} written, {clock[-1]:6.0f} s, {rate:6,.0f} a second,"
                f" peak {peak_gib():.2f} GiB",
                flush=True,
            )

    questions = [f"?{number}" for number in range(QUERIES)]
    start = time.perf_counter()
    coral.read(questions, K)
    milliseconds = (time.perf_counter() - start) / QUERIES * 1000

    tenth = (len(bounds) - 1) // 10 or 1
    displaced = [
        (coral.position_of[old], coral.position_of[new]) for old, new in coral.displacements()
    ]
    immune = immune_metrics(displaced, [(old, new) for old, new in world.superseded_by.tolist()])
    recall = index_recall(coral.index, world.queries(CHECKED)[0], K)
    print(
        f"\nwriting {count:,}: {clock[-1]:.0f} s;"
        f" the first {bounds[tenth]:,} at {bounds[tenth] / clock[tenth]:,.0f} a second,"
        f" the last {count - bounds[-1 - tenth]:,} at"
        f" {(count - bounds[-1 - tenth]) / (clock[-1] - clock[-1 - tenth]):,.0f}"
        f"\nreading {QUERIES:,} at k = {K}: {milliseconds:.2f} ms a query"
        f"\nreefs: {coral.counters()['reefs']:,}; displacements: {len(displaced):,},"
        f" precision {immune.get('immune_precision', float('nan')):.3f},"
        f" recall {immune.get('immune_recall', float('nan')):.3f}"
        f"\nthe index finds {recall:.3f} of the exact {K} nearest of {CHECKED} questions"
        f"\npeak memory: {peak_gib():.2f} GiB, at most {MOST_GIB:.0f}"
    )
    sys.exit(peak_gib() > MOST_GIB)


if __name__ == "__main__":
    main()
