"""A trial: a new memory writes and reads one history blind, and is held to the rules."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf import DictConfig

from engram_hydra.audit import reordered
from engram_hydra.datasets.dataset import History, Item
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import MethodError
from engram_hydra.fairness import audit_reads, blind, check_rankings
from engram_hydra.memories.build import build_memory, memory_class
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.memories.vectors import VectorMemory
from engram_hydra.run_key import is_approximate, seed_of
from engram_hydra.scoring import Ranking
from engram_hydra.self_report import SelfReport, self_report


@dataclass(frozen=True)
class Trial:
    """What a memory did with one history, its rankings in the order of the questions.

    ``truncated`` counts the items that are longer than what the embedder takes in at once, and
    ``index_recall`` is each question's share of the exact top k that an approximate index found;
    ``None`` and empty where there is no such thing.
    """

    rankings: list[Ranking]
    report: SelfReport
    write_seconds: float
    read_seconds: float
    truncated: float | None
    index_recall: list[float]


def new_memory(cfg: DictConfig, history: History, embedder: Embedder | None) -> Memory:
    """An empty memory for ``history``, whose random stream is its own.

    Raises ConfigError where the options are not what the class takes.
    """
    seed = seed_of(cfg)
    own = seed if seed is None or history.number is None else (seed, history.number)
    return build_memory(
        cfg.method, embedder, own, index=cfg.index, superseded_by=history.superseded_by
    )


def new_embedder(cfg: DictConfig) -> Embedder | None:
    """An embedder that has seen no text yet; none for methods that don't use vectors."""
    if not memory_class(cfg.method).uses_vectors:
        return None
    return Embedder(cfg.embedder, Path(cfg.paths.cache) / "vectors")


def attempt(cfg: DictConfig, history: History, salt: str, embedder: Embedder | None) -> Trial:
    """Let a new memory work on the blinded history, check what it returns, and translate back.

    The memory gets copies of all it is given, so that what we compare with stays ours, and no
    question is embedded before all items are written. Raises MethodError at a broken rule, and
    whatever the memory raises.
    """
    memory = new_memory(cfg, history, embedder)
    items = blind(history.items, f"{salt}:{history.id}")
    queries = [question.text for question in history.questions]
    pool = cfg.audit.pool or cfg.k
    texts = [item.text for item in items]
    if embedder is not None:
        embedder.warm(texts)
    start = time.perf_counter()
    memory.write([replace(item) for item in items])
    write_seconds = time.perf_counter() - start
    inert = memory.inert()
    if embedder is not None:
        embedder.warm(queries)
    start = time.perf_counter()
    returned = memory.read(list(queries), pool)
    read_seconds = time.perf_counter() - start
    try:
        report = self_report(memory, inert, items)
        full = _is_ours(memory) and not memory.may_return_fewer
        hits = check_rankings(returned, memory, queries, items, pool, cfg.method.ties, full=full)
        audit_reads(hits, memory, queries, len(items))
    except MethodError as error:
        if history.number is None:
            raise
        raise MethodError(f"history {history.id}: {error}") from error
    return Trial(
        [reordered(ranking, cfg.audit.order, cfg.k) for ranking in _unblind(hits, items)],
        report,
        write_seconds,
        read_seconds,
        None if embedder is None else embedder.truncated_fraction(texts) * len(texts),
        _index_recall(cfg, queries, memory),
    )


def _is_ours(memory: Memory) -> bool:
    return type(memory).__module__.startswith("engram_hydra.")


def _unblind(hits: Sequence[Sequence[Hit]], items: Sequence[Item]) -> list[Ranking]:
    position = {item.id: item.position for item in items}
    return [
        Ranking([position[hit.id] for hit in ranking], [float(hit.score) for hit in ranking])
        for ranking in hits
    ]


def _index_recall(cfg: DictConfig, queries: Sequence[str], memory: Memory) -> list[float]:
    if not (is_approximate(cfg) and isinstance(memory, VectorMemory)):
        return []
    return memory.index_recall(queries, cfg.k)
