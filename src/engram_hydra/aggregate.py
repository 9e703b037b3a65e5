"""``python -m engram_hydra.aggregate``: from the runs in MLflow to the ablation table."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from engram_hydra.cli import hydra_command
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import validate
from engram_hydra.report.ablation_table import Table, ablation_tables
from engram_hydra.report.cells import Run, select
from engram_hydra.report.document import to_markdown, to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.published import beside, load_published
from engram_hydra.report.render import Report, document
from engram_hydra.report.tidy_csv import to_csv
from engram_hydra.tracking import Store, output_folder, ui_command

log = logging.getLogger(__name__)


def aggregate(cfg: DictConfig) -> None:
    """Select the newest complete run of each cell, tabulate, print, write and log the table."""
    validate(cfg)
    store = Store.of(cfg.tracking)
    name, k, reader, embedder = cfg.dataset.name, cfg.k, cfg.reader.name, cfg.embedder.name
    selection = select(
        _runs(store, name),
        dataset=name,
        data_sha256=cfg.data_sha256,
        k=k,
        reader=reader,
        embedder=embedder,
    )
    tables = ablation_tables(selection)
    figures = beside(load_published(Path(conf_dir()) / "published"), name)
    report = Report(name, k, reader, embedder, selection, tables, figures)
    blocks = document(report)

    folder = output_folder()
    tags = {
        "engram.aggregate_of": name,
        "engram.k": str(k),
        "engram.reader": reader,
        "engram.embedder": embedder,
        "engram.n_runs": str(len(selection.cells)),
    }
    with store.run(f"aggregate/{name}", folder, tags, {}) as record:
        record.metrics |= dict(_figures(tables))
        (folder / "ablation_table.md").write_text(to_markdown(blocks), encoding="utf-8")
        (folder / "ablation_table.csv").write_text(to_csv(report), encoding="utf-8")
        runs = {run.run_id: "/".join(key) for key, run in selection.cells.items()}
        (folder / "runs.json").write_text(json.dumps(runs, indent=2) + "\n", encoding="utf-8")
    print(to_text(blocks))
    print(f"Written to {folder / 'ablation_table.md'} and .csv, and logged as run {record.run_id}.")
    print(f"Look at the runs with: {ui_command(store.uri)}")


def _runs(store: Store, dataset: str) -> Iterator[Run]:
    def rows_of(run_id: str) -> list[dict[str, Any]]:
        return [
            json.loads(line)
            for line in store.read_artifact(run_id, "per_question.jsonl").splitlines()
        ]

    for run in store.runs(f"tags.`engram.dataset` = '{dataset}'"):
        run_id = run.info.run_id
        yield Run(
            run_id=run_id,
            started=run.info.start_time,
            tags=run.data.tags,
            metrics=run.data.metrics,
            per_question=lambda run_id=run_id: rows_of(run_id),  # type: ignore[misc]
        )


def _figures(tables: list[Table]) -> Iterator[tuple[str, float]]:
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
