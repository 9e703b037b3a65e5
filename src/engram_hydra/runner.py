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

from engram_hydra.audit import reordered
from engram_hydra.datasets.dataset import Dataset, Item
from engram_hydra.datasets.load import load_dataset
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory
from engram_hydra.errors import ConfigError
from engram_hydra.fairness import audit_reads, blind, check_rankings
from engram_hydra.inside import inside_files
from engram_hydra.memories.build import build_memory, memory_class
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.memories.vectors import VectorMemory
from engram_hydra.metrics.immune import immune_metrics
from engram_hydra.metrics.summary import headline
from engram_hydra.run_key import is_approximate, run_key, run_name, seed_of
from engram_hydra.scoring import Ranking, score
from engram_hydra.self_report import SelfReport, self_report
from engram_hydra.tags import identity_tags
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
    tags = identity_tags(cfg, seed)
    reset_peak_memory()
    data = _data(cfg)
    embedder = _embedder(cfg, data)
    memory = build_memory(
        cfg.method, embedder, seed, index=cfg.index, superseded_by=data.superseded_by
    )
    store = Store.of(cfg.tracking)
    tags |= _same_run(cfg, data, tags["engram.code_sha256"], store)
    name = run_name(cfg, tags["engram.variant"])
    if tags["engram.exploratory"] == "true":
        log.info("exploratory, so in no table: its values or its seed are not declared ones")

    with store.run(name, tags, _params(cfg)) as record:
        store.log_dataset(record.run_id, data)
        rankings, report = _write_and_read(cfg, data, memory, embedder, record)
        recall = _index_recall(cfg, data, memory)
        scored = score(data, rankings, k=cfg.k, reader=cfg.reader.name, tag=name, more=recall)
        record.metrics |= scored.metrics
        if embedder is not None:
            texts = [item.text for item in data.items]
            record.metrics["truncated_fraction"] = embedder.truncated_fraction(texts)
        if (peak := peak_memory_mib()) is not None:
            record.metrics["peak_memory_mib"] = peak
        record.files |= {**scored.files, **_provenance(cfg)}
        _look_inside(name, data, report, record)
    log.info("%s", headline(record.metrics))
    if not tags["engram.sweep_id"]:
        log.info("look at it with: %s", ui_command(store.uri))
    return record.run_id


def _data(cfg: DictConfig) -> Dataset:
    """The data set, with known conflicts if the method is an oracle, which is told them."""
    data = load_dataset(cfg.dataset, Path(cfg.paths.data) if cfg.paths.data else None)
    if memory_class(cfg.method).sees_conflicts and not data.superseded_by:
        raise ConfigError(
            f"method={cfg.method.name} is told the known conflicts, and dataset={cfg.dataset.name} has"
            " none as it is set: choose one whose facts supersede one another."
        )
    return data


def _embedder(cfg: DictConfig, data: Dataset) -> Embedder | None:
    """The embedder, with the items' vectors at hand; none for methods that don't use vectors."""
    if not memory_class(cfg.method).uses_vectors:
        return None
    embedder = Embedder(cfg.embedder, Path(cfg.paths.cache) / "vectors")
    embedder.warm([item.text for item in data.items])
    return embedder


def _write_and_read(
    cfg: DictConfig, data: Dataset, memory: Memory, embedder: Embedder | None, record: Record
) -> tuple[list[Ranking], SelfReport]:
    """Let the method work on blinded items, hold it to the rules, and translate back.

    The method gets copies of all it is given, so that what we compare with stays ours, and no
    question is embedded before all items are written.
    """
    items = blind(data.items, data.sha256)
    queries = [question.text for question in data.questions]
    pool = cfg.audit.pool or cfg.k
    log.info("writing %d items, then reading %d questions", len(items), len(queries))
    start = time.perf_counter()
    memory.write([replace(item) for item in items])
    record.metrics["write_seconds"] = time.perf_counter() - start
    inert = memory.inert()
    if embedder is not None:
        embedder.warm(queries)
    start = time.perf_counter()
    returned = memory.read(list(queries), pool)
    seconds = time.perf_counter() - start
    record.metrics["read_ms_per_query"] = 1000 * seconds / len(queries)
    report = self_report(memory, inert, items)

    ours = type(memory).__module__.startswith("engram_hydra.")
    hits = check_rankings(returned, memory, queries, items, pool, cfg.method.ties, full=ours)
    audit_reads(hits, memory, queries, len(items))
    rankings = _unblind(hits, items, data.items)
    return [reordered(ranking, cfg.audit.order, cfg.k) for ranking in rankings], report


def _unblind(
    hits: Sequence[Sequence[Hit]], blinded: Sequence[Item], items: Sequence[Item]
) -> list[Ranking]:
    original = {item.id: items[item.position] for item in blinded}
    return [
        Ranking([original[hit.id] for hit in ranking], [float(hit.score) for hit in ranking])
        for ranking in hits
    ]


def _index_recall(cfg: DictConfig, data: Dataset, memory: Memory) -> dict[str, list[float]]:
    """What an approximate index found of each question's exact top k."""
    if not (is_approximate(cfg) and isinstance(memory, VectorMemory)):
        return {}
    queries = [question.text for question in data.questions]
    return {f"index_recall_at_{cfg.k}": memory.index_recall(queries, cfg.k)}


def _look_inside(name: str, data: Dataset, report: SelfReport, record: Record) -> None:
    """Log what the memory says of itself, held against the conflicts where they are known."""
    if report.inert is not None:
        record.tags["engram.inert"] = ", ".join(report.inert)
    record.metrics |= {f"memory_{key}": value for key, value in report.counters.items()}
    immune: dict[str, float] = {}
    if report.displacements is not None and data.superseded_by:
        immune = immune_metrics(report.displacements, data.superseded_by)
    record.metrics |= immune
    record.files |= inside_files(
        name, report.counters, report.distributions, report.table, immune, report.inert
    )


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
