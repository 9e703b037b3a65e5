"""From the runs of each data set to the report."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig

from engram_hydra.collect import data_options, methods
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import LongMemEval, schema_of
from engram_hydra.datasets.dataset import Dataset
from engram_hydra.datasets.load import load_if_present
from engram_hydra.errors import DataError
from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import (
    HNSW,
    SPLIT_SPACE,
    TIES_NEWEST,
    ablation_tables,
    row_labels,
)
from engram_hydra.report.ablation_tests import ablation_tests, with_tests
from engram_hydra.report.asked_for import check_hashes, check_method
from engram_hydra.report.cells import Run, Selection, select
from engram_hydra.report.chapter import BY_ITSELF, Chapter
from engram_hydra.report.comparison_section import comparison_section
from engram_hydra.report.comparisons import Comparison, comparisons
from engram_hydra.report.contrasts import SUBEM
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.expected import expected_seeds
from engram_hydra.report.lengths import LENGTHS, SERIES, length_section
from engram_hydra.report.pictures import across_pictures, chapter_pictures
from engram_hydra.report.pooled_lengths import pooled_section
from engram_hydra.report.published import PublishedTable, beside, load_published
from engram_hydra.report.questions import drilldown
from engram_hydra.report.report import Report
from engram_hydra.report.sections import sections
from engram_hydra.report.statements import Statements, load_statements
from engram_hydra.report.variants import Change, changes
from engram_hydra.report.verdict_families import with_families
from engram_hydra.report.verdicts import verdicts
from engram_hydra.run_key import NOT_ASKED, reader_label

NO_PAIR = "no two rows of it were run"

log = logging.getLogger(__name__)


def assemble(
    cfg: DictConfig, runs: Mapping[str, Sequence[Run]], made_by: Mapping[str, str]
) -> Report:
    """The report of ``runs``, by data set, as the aggregate's options ``cfg`` select and arrange them.

    ``made_by`` are facts on the report itself, by name. Raises ConfigError for options that can't be
    met, DataError for runs that can't be paired.
    """
    check_hashes(cfg.data_sha256, runs)
    check_method(cfg.attribution.method, methods(), runs)
    published = load_published(Path(conf_dir()) / "published")
    chapters, estimators, compared = [], {}, {}
    for dataset, of_set in runs.items():
        log.info("%s: %d runs", dataset, len(of_set))
        estimator, declared, options = _selected(cfg, dataset, of_set)
        estimators[dataset] = estimator
        labels, metrics = (
            row_labels(estimator),
            [name for name in HEADLINES if estimator.logs(name)],
        )
        compared[dataset] = comparisons(estimator, dataset, labels, metrics)
        chapters.append(
            _chapter(cfg, dataset, estimator, compared[dataset], declared, options, published)
        )
    statements = load_statements()
    estimators = {**_without_runs(cfg, statements), **estimators}
    lengths = length_section(estimators)
    return Report(
        chapters,
        with_families(verdicts(estimators, statements), compared),
        statements,
        {"By context length": lengths, "Lengths pooled": pooled_section(estimators)},
        across_pictures(lengths),
        made_by,
    )


def _without_runs(cfg: DictConfig, statements: Statements) -> dict[str, Estimator]:
    """No runs at all for each data set that a section or a statement would look for."""
    places = (statements.primary, *statements.secondary, *statements.with_model_reader)
    names = {*(place.dataset for place in places), *statements.sets}
    names |= {f"{series}_{length}" for series in SERIES for length in LENGTHS}
    chosen = cfg.datasets is None
    return {
        name: Estimator(replace(_select(cfg, name, []), chosen=chosen)) for name in sorted(names)
    }


def _selected(
    cfg: DictConfig, dataset: str, runs: Sequence[Run]
) -> tuple[Estimator, list[Change], DictConfig | None]:
    """The runs that the options select, the variants declared for the data set, and its options."""
    options = data_options(dataset)
    declared = changes(options or {})
    variants = {change.variant for change in declared if not change.method}
    return Estimator(_select(cfg, dataset, runs, variants)), declared, options


def _select(
    cfg: DictConfig, dataset: str, runs: Sequence[Run], data_variants: Collection[str] = ()
) -> Selection:
    seen = {run.tags.get("engram.data_sha256") for run in runs}
    return select(
        runs,
        dataset=dataset,
        data_sha256=next((sha256 for sha256 in cfg.data_sha256 if sha256 in seen), None),
        k=cfg.k,
        reader=reader_label(cfg.reader),
        embedder=cfg.embedder.name,
        overflow=cfg.embedder.overflow,
        endpoint=cfg.reader.get("base_url", ""),
        data_variants=data_variants,
        take_dirty=cfg.dirty == "take",
    )


def _chapter(
    cfg: DictConfig,
    dataset: str,
    estimator: Estimator,
    compared: Sequence[Comparison],
    declared: Sequence[Change],
    options: DictConfig | None,
    published: Sequence[PublishedTable],
) -> Chapter:
    labels = row_labels(estimator)
    tests = ablation_tests(compared)
    tables = with_tests(ablation_tables(estimator), tests)
    metrics = [table.metric for table in tables]
    aside = {SUBEM} if reader_label(cfg.reader) == BY_ITSELF else set()
    found = {
        "Paired comparisons": comparison_section(compared, aside) or NO_PAIR,
        **sections(cfg, dataset, estimator, declared, tests),
    }
    overflow = cfg.embedder.overflow
    return Chapter(
        dataset,
        cfg.k,
        _reader(cfg, estimator),
        cfg.embedder.name
        if overflow == "truncate"
        else f"{cfg.embedder.name}, overflow {overflow}",
        estimator.selection,
        tables,
        beside(published, dataset),
        found,
        {TIES_NEWEST, SPLIT_SPACE, HNSW, *(change.variant for change in declared)},
        expected_seeds(known_conflicts=_known_conflicts(options)),
        chapter_pictures(estimator, dataset, labels, tables, compared, found, cfg.k),
        drilldown(estimator, dataset, labels, metrics, _texts(cfg, estimator, options)),
        compared,
    )


def _known_conflicts(options: DictConfig | None) -> bool:
    """Whether the data say which facts supersede one another: all of ours but LongMemEval do."""
    return options is not None and not issubclass(schema_of(options), LongMemEval)


def _reader(cfg: DictConfig, estimator: Estimator) -> str:
    """The reader, or that the data set's runs had nothing to answer."""
    runs = estimator.selection.cells.values()
    asked = {run.tags.get("engram.reader") for run in runs} != {NOT_ASKED}
    return reader_label(cfg.reader) if asked else NOT_ASKED


def _texts(cfg: DictConfig, estimator: Estimator, options: DictConfig | None) -> Dataset | None:
    """The data that the runs saw, if it is on this machine: the page shows its texts."""
    seen = {run.tags.get("engram.data_sha256") for run in estimator.selection.cells.values()}
    if options is None or not seen:
        return None
    try:
        data = load_if_present(options, cfg.paths.data)
    except DataError as error:
        log.warning("no texts are shown of %s: %s", options.name, error)
        return None
    return data if data is not None and data.sha256 in seen else None
