"""One run: load, write, read, check, answer, score, track."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import ablation_of
from engram_hydra.datasets.dataset import Dataset, Item
from engram_hydra.datasets.load import load_dataset
from engram_hydra.declared import declaration
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory
from engram_hydra.fairness import audit_reads, blind, check_rankings
from engram_hydra.memories.build import build_memory, memory_class
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.metrics.summary import headline
from engram_hydra.run_key import (
    code_sha256,
    embedder_of,
    method_sha256,
    run_key,
    run_name,
    seed_of,
)
from engram_hydra.scoring import Ranking, score
from engram_hydra.tracking import Record, Store, flatten, ui_command
from engram_hydra.validation import validate

log = logging.getLogger(__name__)


def run(cfg: DictConfig) -> str:
    """Do one run and return its MLflow id.

    Whatever the user can mend (options, data, weights, store) is found out before the run begins, so
    that no half-written run is left. Raises EngramError then, and whatever the method raises after.
    """
    validate(cfg)
    seed = seed_of(cfg)
    tags = _identity(cfg, seed)
    reset_peak_memory()
    data = load_dataset(cfg.dataset, Path(cfg.paths.data) if cfg.paths.data else None)
    embedder = _embedder(cfg, data)
    memory = build_memory(cfg.method, embedder, seed)
    store = Store.of(cfg.tracking)
    tags |= _same_run(cfg, data, tags["engram.code_sha256"], store)

    with store.run(run_name(cfg), tags, _params(cfg)) as record:
        store.log_dataset(record.run_id, data)
        rankings = _write_and_read(cfg, data, memory, embedder, record)
        scored = score(data, rankings, k=cfg.k, reader=cfg.reader.name, tag=run_name(cfg))
        record.metrics |= scored.metrics
        if embedder is not None:
            texts = [item.text for item in data.items]
            record.metrics["truncated_fraction"] = embedder.truncated_fraction(texts)
        if (peak := peak_memory_mib()) is not None:
            record.metrics["peak_memory_mib"] = peak
        record.files |= {**scored.files, **_provenance(cfg)}
    log.info("%s", headline(record.metrics))
    if not tags["engram.sweep_id"]:
        log.info("look at it with: %s", ui_command(store.uri))
    return record.run_id


def _embedder(cfg: DictConfig, data: Dataset) -> Embedder | None:
    """The embedder, with the items' vectors at hand; none for methods that don't use vectors."""
    if not memory_class(cfg.method).uses_vectors:
        return None
    embedder = Embedder(cfg.embedder, Path(cfg.paths.cache) / "vectors")
    embedder.warm([item.text for item in data.items])
    return embedder


def _write_and_read(
    cfg: DictConfig, data: Dataset, memory: Memory, embedder: Embedder | None, record: Record
) -> list[Ranking]:
    """Let the method work on blinded items, hold it to the rules, and translate back.

    The method gets copies of all it is given, so that what we compare with stays ours, and no
    question is embedded before all items are written.
    """
    items = blind(data.items, data.sha256)
    queries = [question.text for question in data.questions]
    log.info("writing %d items, then reading %d questions", len(items), len(queries))
    start = time.perf_counter()
    memory.write([replace(item) for item in items])
    record.metrics["write_seconds"] = time.perf_counter() - start
    record.tags["engram.inert"] = ", ".join(memory.inert())
    if embedder is not None:
        embedder.warm(queries)
    start = time.perf_counter()
    returned = memory.read(list(queries), cfg.k)
    seconds = time.perf_counter() - start
    record.metrics["read_ms_per_query"] = 1000 * seconds / len(queries)
    for name, value in memory.counters().items():
        record.metrics[f"memory_{name}"] = value

    ours = type(memory).__module__.startswith("engram_hydra.")
    hits = check_rankings(returned, memory, queries, items, cfg.k, cfg.method.ties, full=ours)
    audit_reads(hits, memory, queries, len(items))
    return _unblind(hits, items, data.items)


def _unblind(
    hits: Sequence[Sequence[Hit]], blinded: Sequence[Item], items: Sequence[Item]
) -> list[Ranking]:
    original = {item.id: items[item.position] for item in blinded}
    return [
        Ranking([original[hit.id] for hit in ranking], [float(hit.score) for hit in ranking])
        for ranking in hits
    ]


def _identity(cfg: DictConfig, seed: int | None) -> dict[str, str]:
    """The tags that say which run this is, as far as the options tell."""
    declared = declaration(cfg, seed)
    return {
        "engram.method": cfg.method.name,
        "engram.ablation": ablation_of(cfg.method),
        "engram.dataset": cfg.dataset.name,
        "engram.seed": "deterministic" if seed is None else str(seed),
        "engram.embedder": embedder_of(cfg),
        "engram.reader": cfg.reader.name,
        "engram.k": str(cfg.k),
        "engram.code_sha256": code_sha256(),
        "engram.method_sha256": method_sha256(cfg.method),
        "engram.sweep_id": _sweep_id(),
        "engram.as_shipped": str(declared.as_shipped).lower(),
        "engram.variant": declared.variant,
        "engram.exploratory": str(declared.exploratory).lower(),
    }


def _same_run(cfg: DictConfig, data: Dataset, code: str, store: Store) -> dict[str, str]:
    """The tags by which a run is known again, and the earlier one that it supersedes."""
    key = run_key(cfg, data.sha256, code)
    return {
        "engram.run_key": key,
        "engram.data_sha256": data.sha256,
        "engram.n_questions": str(len(data.questions)),
        "engram.supersedes": store.newest("engram.run_key", key) or "",
    }


def _params(cfg: DictConfig) -> dict[str, Any]:
    options: Any = OmegaConf.to_container(cfg, resolve=True)
    del options["paths"], options["tracking"]
    return dict(flatten(options))


def _provenance(cfg: DictConfig) -> dict[str, str]:
    return {
        "config.yaml": OmegaConf.to_yaml(cfg, resolve=True),
        "environment.json": json.dumps(environment(), indent=2) + "\n",
    }


def _sweep_id() -> str:
    """The sweep's folder name, the same in every process of it; empty for a single run."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    hydra = HydraConfig.get()
    return Path(hydra.sweep.dir).name if hydra.mode is RunMode.MULTIRUN else ""
