"""One seed, one result: in other processes, on other threads, under other hash seeds, in other batches."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Prints a digest of the written reef and of what it reads.
SCRIPT = """
import hashlib, json, sys
import numpy as np
from engram_hydra.datasets.dataset import Item
from engram_hydra.embedders.encoder import on_grid
from engram_hydra.memories.coral.archipelago import Archipelago
from engram_hydra.memories.index import ExactIndex, HnswIndex

n, dim, batch = 1500, 48, int(sys.argv[2])
rng = np.random.default_rng(0)
centres = rng.normal(size=(8, dim))
table = on_grid((centres[rng.integers(8, size=n)] + 0.7 * rng.normal(size=(n, dim))).astype("f4"))
memory = Archipelago(
    settling_exponent=1.0, founding_affinity=0.05, min_reef_size=8, outlier_z=2.0, resistance=0.03,
    fixed_cosine=0.65, calcified_score=0.5, mass_split=0.3, maintenance_cost=0.01, lean_cycles=3,
    cycle_every=400, heirs=True, calcification=True, immune_response=True, feeding=True, resist=True,
    reef_threshold=True, settling_noise=True, ties="oldest",
    embed=lambda texts: table[[int(text) for text in texts]],
    index={"exact": ExactIndex, "hnsw": HnswIndex}[sys.argv[1]](), rng=np.random.default_rng(3),
)
items = [Item(f"item {i}", i, str(i)) for i in range(n)]
for start in range(0, n, batch):
    memory.write(items[start : start + batch])
rankings = memory.read([str(i) for i in range(0, n, 10)], 10)
state = [memory.polyps.columns(), rankings, memory.counters(), memory.displacements()]
assert memory.counters()["displacements"] > 100 and memory.counters()["strayed"] > 10
print(hashlib.sha256(json.dumps(state).encode()).hexdigest())
"""


def digest(index: str, batch: int, hash_seed: str = "0", threads: str = "1") -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, index, str(batch)],
        env=os.environ
        | {
            "PYTHONHASHSEED": hash_seed,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_exact_reef_is_the_same_everywhere():
    first = digest("exact", 1500)
    assert digest("exact", 7, hash_seed="1") == first
    assert digest("exact", 400, hash_seed="random", threads="2") == first


@pytest.mark.slow
def test_a_reef_on_a_graph_repeats_itself():
    assert digest("hnsw", 500) == digest("hnsw", 500, hash_seed="9")
