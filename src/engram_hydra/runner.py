"""One run: load, write, read, check, answer, score, track."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import fmean
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import ablation_of, validate
from engram_hydra.datasets.dataset import Dataset, Item
from engram_hydra.datasets.load import load_dataset
from engram_hydra.declared import declaration
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory
from engram_hydra.fairness import audit_reads, blind, check_rankings
from engram_hydra.memories.build import build_memory, memory_class
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.metrics.summary import CUTS, score_question, summarise
from engram_hydra.metrics.tokens import count_tokens
from engram_hydra.metrics.trec import qrels_lines, run_lines
from engram_hydra.run_key import code_sha256, embedder_of, run_key, run_name, seed_of
from engram_hydra.tracking import Record, Store, flatten, output_folder, ui_command

log = logging.getLogger(__name__)


def run(cfg: DictConfig) -> str:
    """Do one run and return its MLflow id.

    Whatever the user can mend (options, data, weights, store) is found out before the run begins, so
    that no half-written run is left. Raises EngramError then, and whatever the method raises after.
    """
    validate(cfg)
    seed = seed_of(cfg)
    identity = _identity(cfg, seed)
    data = load_dataset(cfg.dataset, Path(cfg.paths.data) if cfg.paths.data else None)
    reset_peak_memory()
    embedder, embed_seconds = _embed(cfg, data)
    memory = build_memory(cfg.method, embedder, seed)
    store = Store.of(cfg.tracking)

    key = run_key(cfg, data.sha256, identity["engram.code_sha256"])
    identity |= {
        "engram.run_key": key,
        "engram.data_sha256": data.sha256,
        "engram.n_questions": str(len(data.questions)),
        "engram.supersedes": store.newest("engram.run_key", key) or "",
    }
    with store.run(run_name(cfg), output_folder(), identity, _params(cfg)) as record:
        store.log_dataset(record.run_id, data)
        record.metrics["embed_seconds"] = embed_seconds
        rankings = _write_and_read(cfg, data, memory, record)
        _score(cfg, data, rankings, record)
        if embedder is not None:
            texts = [item.text for item in data.items]
            record.metrics["truncated_fraction"] = embedder.truncated_fraction(texts)
        peak = peak_memory_mib()
        if peak is not None:
            record.metrics["peak_memory_mib"] = peak
    if not identity["engram.sweep_id"]:
        log.info("look at it with: %s", ui_command(store.uri))
    return record.run_id


@dataclass(frozen=True)
class Ranking:
    """What one question got: items of the data set, best first, with their scores."""

    items: list[Item]
    scores: list[float]


def _embed(cfg: DictConfig, data: Dataset) -> tuple[Embedder | None, float]:
    """Vectors of all texts, before anything is timed; none for methods that don't use them."""
    if not memory_class(cfg.method).uses_vectors:
        return None, 0.0
    start = time.perf_counter()
    embedder = Embedder(cfg.embedder, Path(cfg.paths.cache) / "vectors")
    embedder.warm(data.texts)
    return embedder, time.perf_counter() - start


def _write_and_read(
    cfg: DictConfig, data: Dataset, memory: Memory, record: Record
) -> list[Ranking]:
    """Let the method work on blinded items, hold it to the rules, and translate back."""
    items = blind(data.items, data.sha256)
    queries = [question.text for question in data.questions]
    log.info("writing %d items, then reading %d questions", len(items), len(queries))
    start = time.perf_counter()
    memory.write(items)
    record.metrics["write_seconds"] = time.perf_counter() - start
    record.tags["engram.inert"] = ", ".join(memory.inert())
    start = time.perf_counter()
    hits = memory.read(queries, cfg.k)
    seconds = time.perf_counter() - start
    record.metrics["read_ms_per_query"] = 1000 * seconds / max(len(queries), 1)
    for name, value in memory.counters().items():
        record.metrics[f"memory_{name}"] = value

    ours = type(memory).__module__.startswith("engram_hydra.")
    check_rankings(hits, memory, queries, items, cfg.k, cfg.method.ties, full=ours)
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


def _score(cfg: DictConfig, data: Dataset, rankings: Sequence[Ranking], record: Record) -> None:
    """Answer, score each question, and leave rankings, metrics and gold as files and numbers."""
    answers = _answers(cfg.reader.name, data, rankings)
    rows: list[dict[str, Any]] = [
        {
            "question_id": question.id,
            "kind": question.kind,
            "items": [item.id for item in ranking.items],
            "scores": [float(f"{score:.6g}") for score in ranking.scores],
            "metrics": score_question(question, ranking.items, ranking.scores, cfg.k, answer),
            "answer": answer,
        }
        for question, ranking, answer in zip(data.questions, rankings, answers, strict=True)
    ]
    record.metrics |= summarise(rows)
    record.metrics["k_over_n"] = min(cfg.k / len(data.items), 1.0)
    tokens = _tokens(rankings)
    record.metrics["context_tokens"] = fmean(
        sum(tokens[item.id] for item in ranking.items) for ranking in rankings
    )

    ranked = {row["question_id"]: row["items"] for row in rows}
    qrels = list(qrels_lines(data.questions, data.items, ranked))
    record.metrics |= _chance(qrels, len(data.questions), len(data.items), cfg.k)
    _write_lines(record, "per_question.jsonl", [json.dumps(r, ensure_ascii=False) for r in rows])
    _write_lines(record, "run.trec", list(run_lines(ranked, len(data.items), cfg.method.name)))
    _write_lines(record, "qrels.trec", qrels)
    _write_lines(record, "config.yaml", [OmegaConf.to_yaml(cfg, resolve=True).rstrip()])
    _write_lines(record, "environment.json", [json.dumps(environment(), indent=2)])


def _answers(reader: str, data: Dataset, rankings: Sequence[Ranking]) -> list[str] | list[None]:
    """The reader's answer to each question from what was retrieved, oldest first for every method."""
    if reader == "none":
        return [None] * len(rankings)
    from engram_hydra.readers.newest import NewestReader

    newest = NewestReader()
    return [
        newest.answer(
            question.text, [i.text for i in sorted(ranking.items, key=lambda item: item.position)]
        )
        for question, ranking in zip(data.questions, rankings, strict=True)
    ]


def _tokens(rankings: Sequence[Ranking]) -> dict[str, int]:
    texts = {item.id: item.text for ranking in rankings for item in ranking.items}
    return dict(zip(texts, count_tokens(list(texts.values())), strict=True))


def _chance(qrels: Sequence[str], n_questions: int, n: int, k: int) -> dict[str, float]:
    """What a random ranking is expected to reach: hypergeometric, over each question's own gold."""
    gold = Counter(line.split()[0] for line in qrels if line.endswith(" 1"))
    return {
        f"chance_answer_in_top_{cut}": sum(
            1 - comb(n - m, cut) / comb(n, cut) for m in gold.values()
        )
        / n_questions
        for cut in CUTS
        if cut <= min(k, n)
    }


def _identity(cfg: DictConfig, seed: int | None) -> dict[str, str]:
    """The tags that say which run this is; all of them known before it begins."""
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
        "engram.sweep_id": _sweep_id(),
        "engram.as_shipped": str(declared.as_shipped).lower(),
        "engram.variant": declared.variant,
        "engram.exploratory": str(declared.exploratory).lower(),
    }


def _params(cfg: DictConfig) -> dict[str, Any]:
    options: Any = OmegaConf.to_container(cfg, resolve=True)
    del options["paths"], options["tracking"]
    return dict(flatten(options))


def _sweep_id() -> str:
    """The sweep's folder name, the same in every process of it; empty for a single run."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    hydra = HydraConfig.get()
    return Path(hydra.sweep.dir).name if hydra.mode is RunMode.MULTIRUN else ""


def _write_lines(record: Record, name: str, lines: Sequence[str]) -> None:
    (record.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
