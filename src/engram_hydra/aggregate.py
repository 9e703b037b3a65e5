"""``python -m engram_hydra.aggregate``: from the runs in MLflow to the report."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from omegaconf import DictConfig

from engram_hydra.address import is_server, ui_command
from engram_hydra.cli import hydra_command
from engram_hydra.collect import check_known, collect
from engram_hydra.environment import environment
from engram_hydra.errors import IncompleteError
from engram_hydra.hydra_job import output_folder
from engram_hydra.names import below
from engram_hydra.report.assemble import assemble
from engram_hydra.report.cells import Selection
from engram_hydra.report.chapter import account_of
from engram_hydra.report.document import to_markdown
from engram_hydra.report.figures import figures
from engram_hydra.report.latex import to_fragment, to_latex
from engram_hydra.report.page import to_html
from engram_hydra.report.report import Report, document
from engram_hydra.report.terminal import to_terminal
from engram_hydra.report.tidy import to_csv, to_json
from engram_hydra.run_key import reader_label
from engram_hydra.tracking import Store
from engram_hydra.validation import validate

log = logging.getLogger(__name__)


def aggregate(cfg: DictConfig) -> None:
    """Select the newest complete run of each cell, decide, tabulate, print and write the report.

    It is logged too, as a run of its own, unless ``cfg.log`` is false.
    """
    validate(cfg)
    store = Store.of(cfg.tracking)
    runs = collect(store, cfg.datasets)
    check_known(runs)
    log.info("runs found: %d", sum(map(len, runs.values())))
    report = assemble(cfg, runs, _made_by(store))
    settings = {
        "k": str(cfg.k),
        "reader": reader_label(cfg.reader),
        "embedder": cfg.embedder.name,
        "overflow": cfg.embedder.overflow,
    }
    files = _files(report, settings)
    folder = output_folder()
    for name, text in files.items():
        file = below(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    names = [chapter.dataset for chapter in report.chapters]
    logged = "Nothing was logged, as log=false says."
    if cfg.log:
        with store.run(f"aggregate/{_short(names)}", _tags(report, settings), {}) as record:
            record.metrics |= dict(figures(report))
            record.files |= files
        logged = f"All of it is logged as run {record.run_id}: {ui_command(store.uri)}"
    print(to_terminal(report))
    print(f"Open {folder / 'report.html'}; report.md, .csv, .tex and .json lie beside it.")
    print(logged)
    problems = [text for chapter in report.chapters for text in account_of(chapter).problems]
    if cfg.strict and problems:
        raise IncompleteError(problems)


def _files(report: Report, settings: Mapping[str, str]) -> dict[str, str]:
    """The report in each of its forms, and what its tables and pictures are made of."""
    blocks = document(report)
    files = {
        "report.html": to_html(blocks, title=report.title),
        "report.md": to_markdown(blocks),
        "report.tex": to_latex(blocks),
        "report.csv": to_csv(report.chapters),
        "report.json": to_json(report),
        "runs.json": json.dumps(
            {chapter.dataset: _selected(chapter.selection) for chapter in report.chapters}, indent=2
        )
        + "\n",
    }
    for dataset, section in report.all_sections():
        stem = f"{dataset}/{section.name}" if dataset else section.name
        files[f"{stem}.csv"] = section.to_csv(settings)
        files[f"{stem}.tex"] = to_fragment(section.blocks)  # for a paper
    for picture in report.all_pictures():
        files[f"{picture.name}.svg"] = picture.svg
        files[f"{picture.name}.csv"] = picture.csv
    return files


def _tags(report: Report, settings: Mapping[str, str]) -> dict[str, str]:
    tags = {
        "aggregate_of": ",".join(chapter.dataset for chapter in report.chapters),
        **settings,
        "n_runs": str(sum(len(chapter.selection.cells) for chapter in report.chapters)),
    }
    return {f"engram.{name}": value for name, value in tags.items()}


def _made_by(store: Store) -> dict[str, str]:
    """What this report was made with, and where its runs lie."""
    here = environment()
    versions = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
    page = store.uri.rstrip("/") if is_server(store.uri) else "http://127.0.0.1:5000"
    return {
        "Made at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "Commit of the report's code": here["commit"] or "installed package",
        "Python": f"{here['python']} on {here['platform']}",
        "Versions": versions,
        "MLflow UI": ui_command(store.uri),
        "A run's page": f"{page}/#/experiments/{store.experiment_id}/runs/<run id>",
    }


def _short(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} data sets"


def _selected(selection: Selection) -> dict[str, Any]:
    """Which runs stand in the table, as what, why the others don't, and what to bear in mind of either."""
    return {
        "selected": {run.run_id: "/".join(key).rstrip("/") for key, run in selection.cells.items()},
        "left_out": {run.run_id: reason for run, reason in selection.left_out},
        "remarks": [f"{run.run_id} {text}" for run, text in selection.remarks],
        "changed": [
            f"{taken.run_id} in place of {run.run_id}, {what} changed: {results}"
            for run, taken, what, results in selection.changed
        ],
    }


def main() -> None:
    hydra_command(aggregate, config_name="aggregate")


if __name__ == "__main__":
    main()
