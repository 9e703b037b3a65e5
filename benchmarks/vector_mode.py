"""What the benchmarks of memories share: one thread, composed memories, and facts as vectors."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.datasets.synthetic_vectors import VectorWorld
from engram_hydra.memories.memory import Embed, Memory

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def on_one_thread() -> None:
    """Start the script again with one thread, since NumPy reads the number when it is imported."""
    if ONE_THREAD.items() <= os.environ.items():
        return
    os.environ.update(ONE_THREAD)
    os.execv(sys.executable, [sys.executable, *sys.argv])


class Facts:
    """A vector world's facts and some questions, all computed beforehand.

    ``embed`` looks the vectors up, so that embedding is no part of what is timed.
    """

    def __init__(self, facts: int, queries: int = 0) -> None:
        world = VectorWorld(facts=facts)
        self.vectors = world.vectors(0, facts)
        self.queries, _ = world.queries(queries)
        self.items: list[Item] = world.items(0, facts)
        self.questions = [f"?{number}" for number in range(queries)]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        table = self.queries if texts[0].startswith("?") else self.vectors
        return table[[int(text.removeprefix("?")) for text in texts]]


def maker(method: str, index: str, embed: Embed) -> Callable[[], Memory]:
    """Makes empty memories, as conf/ declares the method; composing it takes no time of theirs."""
    import hydra

    from engram_hydra.cli import register_resolvers
    from engram_hydra.conf_dir import conf_dir
    from engram_hydra.config import register
    from engram_hydra.memories.build import build_memory

    register()
    register_resolvers()
    with hydra.initialize_config_dir(conf_dir(), version_base="1.3"):
        cfg = hydra.compose("config", overrides=[f"method={method}", f"index={index}"])
    return lambda: build_memory(cfg.method, embed, seed=0, index=cfg.index)


def hnsw(vectors: NDArray[np.float32], inner_product: bool = True) -> Any:
    """FAISS's own graph with the constants of conf/index/hnsw.yaml, filled in one call."""
    import faiss

    metric = faiss.METRIC_INNER_PRODUCT if inner_product else faiss.METRIC_L2
    index: Any = faiss.IndexHNSWFlat(vectors.shape[1], 32, metric)
    index.hnsw.efConstruction = 40
    index.hnsw.efSearch = 64
    index.add(vectors)
    return index


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def in_turns(rounds: int, sides: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Each side's seconds; they take turns, so that a busy spell of the machine hits all alike."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, act in sides.items():
            taken[name].append(seconds(act))
    return taken


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return median(a / b for a, b in zip(of, to, strict=True))
