"""Mem0, raw mode, beside Coral: how fast each writes and reads texts, its encoder included.

``python benchmarks/peers.py`` needs the extra ``peers``. Both embed with the same weights on the same
threads; nothing is cached. The generated data set is written and read whole, in turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from hydra import compose, initialize_config_dir
from table import head, line

from engram_hydra import config
from engram_hydra.cli import register_resolvers
from engram_hydra.conf_dir import conf_dir
from engram_hydra.datasets import synthetic
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.memories.build import build_memory
from engram_hydra.memories.memory import Memory

ROUNDS = 3
GOAL = 10


def maker(method: str) -> Callable[[Path], Memory]:
    """A new memory of this kind, whose cache of vectors is empty and whose model is loaded."""
    cfg = compose("config", [f"method={method}"])

    def make(cache: Path) -> Memory:
        embedder = Embedder(cfg.embedder, cache)
        memory = build_memory(cfg.method, embedder, 0, index=cfg.index)
        embedder(["Something else."])
        return memory

    return make


def main() -> None:
    config.register()
    register_resolvers()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        makers = {name: maker(name) for name in ("mem0", "coral")}
    data = synthetic.generate()
    questions = [question.text for question in data.questions]
    rates: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        for name, make in makers.items():
            with tempfile.TemporaryDirectory() as cache:
                memory = make(Path(cache))
                start = time.perf_counter()
                memory.write(data.items)
                written = time.perf_counter()
                memory.read(questions, 10)
                read = time.perf_counter()
            rates.setdefault((name, "written"), []).append(len(data.items) / (written - start))
            rates.setdefault((name, "read"), []).append(len(questions) / (read - written))
    head()
    for what, goal in (("written", GOAL), ("read", 1)):
        coral, mem0 = rates["coral", what], rates["mem0", what]
        ratio = median(ours / theirs for ours, theirs in zip(coral, mem0, strict=True))
        line(
            f"texts {what}, encoder included",
            f"`coral` {median(coral):,.1f} a second",
            f"`mem0` {median(mem0):,.1f} a second",
            f"at least {goal} times: {ratio:.1f}",
            ratio >= goal,
        )


if __name__ == "__main__":
    main()
