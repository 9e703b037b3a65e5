"""Across context lengths: each metric by length, and the pre-declared pooling of the lengths."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from engram_hydra.errors import DataError
from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report.ablation_table import CORAL, row_labels
from engram_hydra.report.comparisons import ANCHORS
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import (
    BOOTSTRAP_SEED,
    NOT_RUN,
    Cell,
    Estimate,
    fraction,
    points,
)
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section, grouped
from engram_hydra.stats import percentile_interval, stratified_bootstrap_means

LENGTHS = ("6k", "32k", "64k", "262k")  # of the context, in tokens; the longest is last
SERIES = ("fc_sh", "fc_mh")
POOLED = ("answer_in_top_1", "answer_in_top_10")


def length_section(estimators: Mapping[str, Estimator]) -> Section | str:
    """Each headline metric of each row at every length that was run, series by series.

    In its place how to get the runs, where no series has two lengths.
    """
    blocks: list[Block] = [
        Heading("By context length", 1),
        Paragraph(
            "Fractions with 95% intervals. The lengths of a series are nested or nearly so: they are "
            "not independent replications."
        ),
    ]
    entries: list[Entry] = []
    for series in SERIES:
        found = {
            length: estimators[f"{series}_{length}"]
            for length in LENGTHS
            if f"{series}_{length}" in estimators and estimators[f"{series}_{length}"].cells
        }
        if len(found) < 2:
            continue
        labels = _labels(list(found.values()))
        for metric in HEADLINES:
            if not any(estimator.logs(metric) for estimator in found.values()):
                continue
            rows = [
                [label, *(fraction(_value(e, cell, metric)) for e in found.values())]
                for cell, label in labels.items()
            ]
            blocks += [Heading(f"{series}, {metric}", 2), Grid(("row", *found), rows)]
            entries += [
                Entry(
                    {"series": series, "length": length, "metric": metric, "row": label},
                    _value(estimator, cell, metric),
                )
                for length, estimator in found.items()
                for cell, label in labels.items()
            ]
    return Section("lengths", blocks, entries) if entries else _how(LENGTHS[:2])


def _labels(estimators: Sequence[Estimator]) -> dict[Cell, str]:
    """The rows that any of them has run, in their order."""
    labels = {cell: label for e in estimators for cell, label in row_labels(e).items()}
    return {c: label for c, label in labels.items() if any(c in e.cells for e in estimators)}


def _value(estimator: Estimator, cell: Cell, metric: str) -> Estimate | str:
    value, _, _ = estimator.of(cell, metric)
    return value


def pooled_section(estimators: Mapping[str, Estimator]) -> Section | str:
    """Coral against each anchor over all four lengths, each distinct question once, at its longest.

    Distinct is what has another text or another gold answer. Questions are resampled within their
    length. In its place how to get the runs, where no series has all four lengths.

    Raises DataError where runs do not carry their questions, as older ones, or can't be paired.
    """
    blocks: list[Block] = [
        Heading("The four lengths pooled", 1),
        Paragraph(
            "The secondary that was declared before running: each distinct question once, at its "
            "longest length, stratified by length. Coral minus the anchor in points, with 95% "
            "intervals that are conditional on the contexts."
        ),
    ]
    entries: list[Entry] = []
    missing: list[str] = []
    for series in SERIES:
        names = [f"{series}_{length}" for length in LENGTHS]
        absent = [name for name in names if name not in estimators or not estimators[name].cells]
        if absent:
            missing += absent
            continue
        strata = [estimators[name] for name in names]
        kept = _kept(strata)
        sizes = ", ".join(
            f"{len(ids)} at {length.upper()}" for ids, length in zip(kept, LENGTHS, strict=True)
        )
        blocks += [
            Heading(series, 2),
            Paragraph(f"Distinct questions: {sizes}, {sum(map(len, kept))} in all."),
        ]
        rows, notes = [], {}
        for metric in POOLED:
            for anchor in ANCHORS:
                estimate, remarks = _pooled(strata, kept, metric, anchor)
                label = f"{metric}, Coral - {row_labels(strata[0])[anchor]}"
                n = str(estimate.n) if isinstance(estimate, Estimate) else ""
                rows.append((label, points(estimate), n))
                notes[label] = remarks
                keys = {"series": series, "metric": metric, "against": anchor.method}
                entries.append(Entry(keys, estimate, notes=remarks))
        blocks.append(Grid(("difference", "points [95%]", "n"), rows))
        if any(notes.values()):
            blocks.append(Bullets(grouped(notes)))
    return Section("pooled", blocks, entries) if entries else f"missing: {', '.join(missing)}"


def _kept(strata: Sequence[Estimator]) -> list[list[str]]:
    """By length the ids of the questions that count there: those that no longer length has too."""
    questions = [_questions(estimator) for estimator in strata]
    seen: set[Hashable] = set()
    kept: list[list[str]] = []
    for of_length in reversed(questions):
        kept.append(sorted(i for i, question in of_length.items() if question not in seen))
        seen |= set(of_length.values())
    return kept[::-1]


def _questions(estimator: Estimator) -> dict[str, Hashable]:
    run = next(run for runs in estimator.cells.values() for run in runs.values())
    try:
        return {
            row["question_id"]: (row["question"], tuple(row["gold"])) for row in estimator.rows(run)
        }
    except KeyError as error:
        raise DataError(
            f"Run {run.run_id} does not carry its questions, as runs of an older version: run it "
            "again."
        ) from error


def _pooled(
    strata: Sequence[Estimator], kept: Sequence[Sequence[str]], metric: str, anchor: Cell
) -> tuple[Estimate | str, list[str]]:
    columns: list[Any] = []
    notes: list[str] = []
    for length, estimator, ids in zip(LENGTHS, strata, kept, strict=True):
        values, remarks = estimator.paired([CORAL, anchor], metric)
        if isinstance(values, str):
            return NOT_RUN, [f"not run at {length.upper()}"]
        notes += remarks
        chosen = np.isin(estimator.question_ids(CORAL, metric), ids)
        if chosen.any():
            columns.append((values[0] - values[1])[None, chosen])
    pooled = np.hstack(columns)[0]
    low, high = percentile_interval(stratified_bootstrap_means(columns, seed=BOOTSTRAP_SEED))
    estimate = Estimate(float(pooled.mean()), float(low[0]), float(high[0]), pooled.size)
    return estimate, list(dict.fromkeys(notes))


def _how(lengths: Sequence[str]) -> str:
    sets = ",".join(f"fc_sh_{length}" for length in lengths)
    return f"python -m engram_hydra +experiment=anchors dataset={sets}, and +experiment=ablations"
