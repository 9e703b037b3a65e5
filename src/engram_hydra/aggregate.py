"""``python -m engram_hydra.aggregate``: from the runs in MLflow to the ablation table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from engram_hydra.cli import hydra_command
from engram_hydra.conf_dir import conf_dir
from engram_hydra.errors import DataError
from engram_hydra.report.ablation_table import (
    HNSW,
    SPLIT_SPACE,
    TIES_NEWEST,
    Table,
    ablation_tables,
)
from engram_hydra.report.cells import Run, Selection, select
from engram_hydra.report.document import to_markdown, to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.published import beside, load_published
from engram_hydra.report.render import Report, document
from engram_hydra.report.section import Section
from engram_hydra.report.sections import sections
from engram_hydra.report.tidy_csv import to_csv
from engram_hydra.report.variants import changes
from engram_hydra.run_key import reader_of
from engram_hydra.tracking import Store, output_folder, ui_command
from engram_hydra.validation import validate

PER_QUESTION = "per_question.jsonl"


def aggregate(cfg: DictConfig) -> None:
    """Select the newest complete run of each cell, tabulate, print, write and log the report."""
    validate(cfg)
    store = Store.of(cfg.tracking)
    report = _report(cfg, store)
    selection = report.selection
    settings = {
        "dataset": report.dataset,
        "k": str(report.k),
        "reader": report.reader,
        "embedder": report.embedder,
    }
    ran = [section for section in report.sections.values() if isinstance(section, Section)]
    blocks = document(report)
    files = {
        "ablation_table.md": to_markdown(blocks),
        "ablation_table.csv": to_csv(report),
        **{f"{section.name}.csv": section.to_csv(settings) for section in ran},
        "runs.json": json.dumps(_selected(selection), indent=2) + "\n",
    }
    folder = output_folder()
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")

    tags = {
        "engram.aggregate_of": report.dataset,
        "engram.k": str(report.k),
        "engram.reader": report.reader,
        "engram.embedder": report.embedder,
        "engram.n_runs": str(len(selection.cells)),
    }
    with store.run(f"aggregate/{report.dataset}", tags, {}) as record:
        record.metrics |= dict(_figures(report.tables))
        for section in ran:
            record.metrics |= dict(section.figures())
        record.files |= files
    print(to_text(blocks))
    print(f"Written to {folder / 'ablation_table.md'} and .csv, and logged as run {record.run_id}.")
    print(f"Look at the runs with: {ui_command(store.uri)}")


def _report(cfg: DictConfig, store: Store) -> Report:
    name, k, reader, embedder = cfg.dataset.name, cfg.k, reader_of(cfg), cfg.embedder.name
    overflow = cfg.embedder.overflow
    declared = changes(cfg.dataset)
    selection = select(
        _runs(store, name),
        dataset=name,
        data_sha256=cfg.data_sha256,
        k=k,
        reader=reader,
        embedder=embedder,
        overflow=overflow,
        endpoint=cfg.reader.get("base_url", ""),
        data_variants={change.variant for change in declared if not change.method},
    )
    estimator = Estimator(selection)
    return Report(
        name,
        k,
        reader,
        embedder if overflow == "truncate" else f"{embedder}, overflow {overflow}",
        selection,
        ablation_tables(estimator),
        beside(load_published(Path(conf_dir()) / "published"), name),
        sections(cfg, estimator, declared),
        {TIES_NEWEST, SPLIT_SPACE, HNSW, *(change.variant for change in declared)},
    )


def _selected(selection: Selection) -> dict[str, dict[str, str]]:
    """Which runs stand in the table, as what, and why the others don't."""
    return {
        "selected": {run.run_id: "/".join(key).rstrip("/") for key, run in selection.cells.items()},
        "left_out": {run.run_id: reason for run, reason in selection.left_out},
    }


def _runs(store: Store, dataset: str) -> Iterator[Run]:
    def rows_of(run_id: str) -> list[dict[str, Any]]:
        try:
            rows = [json.loads(x) for x in store.read_artifact(run_id, PER_QUESTION).splitlines()]
            return [{key: row[key] for key in ("question_id", "kind", "metrics")} for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{PER_QUESTION} of run {run_id} is damaged ({error}): run it again."
            ) from error

    for run in store.runs(f"tags.`engram.dataset` = '{dataset}'"):
        run_id = run.info.run_id
        yield Run(
            run_id=run_id,
            started=run.info.start_time,
            tags=run.data.tags,
            metrics=run.data.metrics,
            per_question=lambda run_id=run_id: rows_of(run_id),  # type: ignore[misc]
        )


def _figures(tables: Sequence[Table]) -> Iterator[tuple[str, float]]:
    """Every number of the tables under a name of its own, so that it lives in the database."""
    for table in tables:
        for row in table.rows:
            name = f"{table.metric}.{re.sub(r'[^a-z0-9]+', '_', row.label.lower()).strip('_')}"
            for what, estimate in (("", row.value), (".contrast", row.contrast)):
                if isinstance(estimate, Estimate):
                    yield f"{name}{what}", estimate.value
                    yield f"{name}{what}_ci_low", estimate.low
                    yield f"{name}{what}_ci_high", estimate.high


def main() -> None:
    hydra_command(aggregate, config_name="aggregate")


if __name__ == "__main__":
    main()
