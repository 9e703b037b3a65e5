"""One run: load, let a memory write and read each history, answer, score, track."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.address import sqlite_file, ui_command
from engram_hydra.datasets.dataset import Dataset
from engram_hydra.datasets.load import load_dataset
from engram_hydra.declared import TABLE_SEEDS, declaration
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory
from engram_hydra.errors import ConfigError
from engram_hydra.existing import alone, standing_run
from engram_hydra.inside import inside_files
from engram_hydra.job_marks import mark_stood
from engram_hydra.kept import Kept, find_kept, logged_or_kept
from engram_hydra.memories.build import memory_class
from engram_hydra.metrics.immune import immune_metrics
from engram_hydra.metrics.summary import headline
from engram_hydra.readers.build import build_reader
from engram_hydra.readers.reader import Reader
from engram_hydra.run_key import run_key, run_name, seed_of
from engram_hydra.scoring import Ranking, score
from engram_hydra.self_report import SelfReport, joined, joined_pairs
from engram_hydra.tags import identity_tags
from engram_hydra.threads import threads
from engram_hydra.tracking import Record, Store, flatten
from engram_hydra.trial import Trial, new_embedder, new_memory
from engram_hydra.trials import run_trials
from engram_hydra.validation import validate

log = logging.getLogger(__name__)


def run(cfg: DictConfig) -> str:
    """Do one run, or find the one that stands for it, and return its MLflow id.

    Whatever the user can mend (options, data, weights, store) is found out before the run begins, so
    that no half-written run is left. Raises EngramError then, and whatever the method raises after.
    """
    validate(cfg)
    seed = seed_of(cfg)
    tags = identity_tags(cfg, seed) | {"engram.threads": str(threads())}
    if undeclared := declaration(cfg, seed).undeclared:  # told before what takes long
        log.info("exploratory, so in no table: not as declared in conf/: %s", ", ".join(undeclared))
    reset_peak_memory()
    data = _data(cfg)
    reader = build_reader(cfg)
    tags |= _same_run(cfg, data, tags["engram.code_sha256"])
    store = Store.of(cfg.tracking)  # which may not answer, and embedding takes long
    database = sqlite_file(store.uri)
    shared = database.parent if database else Path(cfg.paths.cache)
    with alone(shared, tags["engram.run_key"]):
        if standing := standing_run(store, tags, cfg.existing):
            mark_stood()
            return standing
        kept = None if cfg.existing == "rerun" else find_kept(Path(cfg.paths.outputs), tags)
        return (
            _log_kept(cfg, data, store, tags, kept)
            if kept
            else _new_run(cfg, data, reader, store, tags)
        )


def _new_run(
    cfg: DictConfig, data: Dataset, reader: Reader | None, store: Store, tags: dict[str, str]
) -> str:
    seed = seed_of(cfg)
    _prepare(cfg, data)
    earlier = store.having("engram.run_key", tags["engram.run_key"])
    tags |= {"engram.supersedes": earlier[0].info.run_id if earlier else ""}
    name = run_name(cfg, tags["engram.variant"])
    with logged_or_kept(store, Path(cfg.paths.outputs), name, tags, _params(cfg)) as record:
        store.log_dataset(record.run_id, data)
        trials = run_trials(cfg, data)
        rankings = [ranking for trial in trials for ranking in trial.rankings]
        answers = _answers(reader, data, rankings, TABLE_SEEDS if seed is None else [seed])
        recall = _index_recall(cfg, trials)
        scored = score(data, rankings, answers, k=cfg.k, tag=name, more=recall)
        record.metrics |= scored.metrics | _costs(trials, reader, data)
        record.files |= {**scored.files, **_provenance(cfg)}
        report = joined([trial.report for trial in trials], data.histories)
        _look_inside(name, data, report, record)
    log.info("%s", headline(record.metrics))
    if not tags["engram.sweep_id"]:
        log.info("look at it: %s", ui_command(store.uri))
    return record.run_id


def _log_kept(
    cfg: DictConfig, data: Dataset, store: Store, tags: dict[str, str], kept: Kept
) -> str:
    """Log what an earlier job computed and its server did not take."""
    log.info("computed before, and only logged now: the results kept in %s", kept.folder)
    earlier = store.having("engram.run_key", tags["engram.run_key"])
    tags = kept.tags | {
        "engram.supersedes": earlier[0].info.run_id if earlier else "",
        "engram.sweep_id": tags["engram.sweep_id"],
    }
    outputs = Path(cfg.paths.outputs)
    with logged_or_kept(store, outputs, kept.name, tags, kept.params) as record:
        store.log_dataset(record.run_id, data)
        record.metrics |= kept.results.metrics
        record.tags |= kept.results.tags
        record.files |= kept.results.files
    for run in earlier:
        if run.info.run_id == kept.results.run_id and run.info.status == "RUNNING":
            store.mark_failed(run.info.run_id, f"not logged; its results are run {record.run_id}")
    kept.note.unlink(missing_ok=True)
    return record.run_id


def _data(cfg: DictConfig) -> Dataset:
    """The data set, with known conflicts if the method is an oracle, which is told them."""
    data = load_dataset(cfg.dataset, cfg.paths.data)
    told = any(history.superseded_by for history in data.histories)
    if memory_class(cfg.method).sees_conflicts and not told:
        raise ConfigError(
            f"method={cfg.method.name} is told the known conflicts, and dataset={cfg.dataset.name} has"
            " none as it is set: choose one whose facts supersede one another."
        )
    if data.excluded:
        every = len(data.questions) + len(data.excluded)
        log.info(
            "questions left out by the official rules: %d of %d, see the run's excluded.jsonl",
            len(data.excluded),
            every,
        )
    return data


def _prepare(cfg: DictConfig, data: Dataset) -> None:
    """Build the method once and embed all texts, for either may lack something.

    Its memories get another embedder, which has seen none of the texts.
    """
    embedder = new_embedder(cfg)
    new_memory(cfg, data.histories[0], embedder)
    if embedder is not None:
        embedder.warm(data.texts)


def _answers(
    reader: Reader | None, data: Dataset, rankings: Sequence[Ranking], seeds: Sequence[int]
) -> list[list[str]]:
    """The reader's answers to each question from what was retrieved, oldest first for every method.

    One for each of ``seeds`` where they can differ.
    """
    if reader is None:
        return [[] for _ in rankings]
    items = [history.items for history in data.histories for _ in history.questions]
    questions = [question.text for question in data.questions]
    contexts = [
        [remembered[position].text for position in sorted(ranking.positions)]
        for remembered, ranking in zip(items, rankings, strict=True)
    ]
    given = [
        reader.answers(questions, contexts, seed)
        for seed in (seeds if reader.stochastic else seeds[:1])
    ]
    return [list(answers) for answers in zip(*given, strict=True)]


def _index_recall(cfg: DictConfig, trials: Sequence[Trial]) -> dict[str, list[float]]:
    """What an approximate index found of each question's exact top k."""
    recalls = [recall for trial in trials for recall in trial.index_recall]
    return {f"index_recall_at_{cfg.k}": recalls} if recalls else {}


def _costs(trials: Sequence[Trial], reader: Reader | None, data: Dataset) -> dict[str, float]:
    """Times, memory and money; of several memories the times together."""
    read_seconds = sum(trial.read_seconds for trial in trials)
    costs = {
        "write_seconds": sum(trial.write_seconds for trial in trials),
        "read_ms_per_query": 1000 * read_seconds / len(data.questions),
        **(reader.metrics() if reader else {}),
    }
    truncated = [trial.truncated for trial in trials if trial.truncated is not None]
    if truncated:
        costs["truncated_fraction"] = sum(truncated) / len(data.items)
    if (peak := peak_memory_mib()) is not None:
        costs["peak_memory_mib"] = peak
    return costs


def _look_inside(name: str, data: Dataset, report: SelfReport, record: Record) -> None:
    """Log what the memory says of itself, held against the conflicts where they are known."""
    if report.inert is not None:
        record.tags["engram.inert"] = ", ".join(report.inert)
    record.metrics |= {f"memory_{key}": value for key, value in report.counters.items()}
    immune: dict[str, float] = {}
    known = joined_pairs((history.superseded_by for history in data.histories), data.histories)
    if report.displacements is not None and known:
        immune = immune_metrics(report.displacements, known)
    record.metrics |= immune
    record.files |= inside_files(
        name, report.counters, report.distributions, report.table, immune, report.inert
    )


def _same_run(cfg: DictConfig, data: Dataset, code: str) -> dict[str, str]:
    """The tags by which a run is known again, and what is known of its data."""
    return {
        "engram.run_key": run_key(cfg, data.sha256, code),
        "engram.data_sha256": data.sha256,
        "engram.n_questions": str(len(data.questions)),
        "engram.n_excluded": str(len(data.excluded)),
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
