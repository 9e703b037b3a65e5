"""The pre-declared secondary: the context lengths pooled, each distinct question once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean

import numpy as np

from engram_hydra.errors import DataError
from engram_hydra.report.ablation_table import CORAL, row_labels
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import BOOTSTRAP_SEED, NOT_RUN, Cell, Estimate, points
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.families import ANCHORS
from engram_hydra.report.lengths import LENGTHS, SERIES, was_run
from engram_hydra.report.pair_tests import p_text
from engram_hydra.report.section import Entry, Section, grouped
from engram_hydra.report.why_missing import how_to_get
from engram_hydra.stats import (
    identical_bound,
    percentile_interval,
    sign_flip,
    smallest_detectable,
    stratified_bootstrap_means,
)

POOLED = ("answer_in_top_1", "answer_in_top_10")
_DIGITS = 12  # of a difference: 0.6 - 0.4 and 0.2 are the same


def pooled_section(estimators: Mapping[str, Estimator]) -> Section | str:
    """Coral against each anchor over all four lengths, each distinct question once, at its longest.

    Distinct is what has another text or other gold answers. Questions are resampled within their
    length. In its place how to get the runs, where no series has all four lengths.

    Raises DataError where runs do not carry their questions, as older ones, or can't be paired.
    """
    blocks: list[Block] = [
        Heading("The four lengths pooled", 1),
        Paragraph(
            "The secondary that was declared before running: each distinct question once, at its "
            "longest length, stratified by length. Coral minus the anchor in points, with 95% "
            "intervals that are conditional on the contexts; p is of a sign-flip test, not adjusted. "
            "Least: the smallest difference that these questions would show at 80% power."
        ),
    ]
    entries: list[Entry] = []
    missing: list[str] = []
    for series in SERIES:
        names = [f"{series}_{length}" for length in LENGTHS]
        absent = [name for name in names if not was_run(estimators, name)]
        if absent:
            missing += absent
            continue
        strata = [estimators[name] for name in names]
        kept = _kept(strata)
        sizes = ", ".join(
            f"{len(ids)} at {length.upper()}" for ids, length in zip(kept, LENGTHS, strict=True)
        )
        rows, notes = [], {}
        for metric in POOLED:
            for anchor in ANCHORS:
                entry, shown = _pooled(series, strata, kept, metric, anchor)
                label = f"{metric}, Coral - {row_labels(strata[0])[anchor]}"
                rows.append((label, *shown))
                notes[label] = entry.notes
                entries.append(entry)
        blocks += [
            Heading(series, 2),
            Paragraph(f"Distinct questions: {sizes}, {sum(map(len, kept))} in all."),
            Grid(("difference", "points [95%]", "n", "p", "least"), rows),
        ]
        if any(notes.values()):
            blocks.append(Bullets(grouped(notes)))
    if not entries:
        return how_to_get(estimators, missing)
    if missing:
        blocks.append(Bullets([f"not pooled: {how_to_get(estimators, missing)}"]))
    return Section("pooled", blocks, entries)


def _kept(strata: Sequence[Estimator]) -> list[set[str]]:
    """By length the ids of the questions that count there: the first of those no longer length has."""
    seen: set[Hashable] = set()
    kept: list[set[str]] = []
    for estimator in reversed(strata):
        ids = set()
        for id_, question in _questions(estimator).items():
            if question not in seen:
                seen.add(question)
                ids.add(id_)
        kept.append(ids)
    return kept[::-1]


def _questions(estimator: Estimator) -> dict[str, Hashable]:
    """Each question's text and gold answers, by its id; Coral's if it was run."""
    runs = estimator.cells.get(CORAL) or next(iter(estimator.cells.values()))
    run = next(iter(runs.values()))
    try:
        return {
            str(row["question_id"]): (row["question"], frozenset(row["gold"]))
            for row in estimator.rows(run)
        }
    except KeyError as error:
        raise DataError(
            f"Run {run.run_id} does not carry its questions, as runs of an older version: run it "
            "again."
        ) from error


def _pooled(
    series: str,
    strata: Sequence[Estimator],
    kept: Sequence[set[str]],
    metric: str,
    anchor: Cell,
) -> tuple[Entry, tuple[str, str, str, str]]:
    """The difference to one anchor, and how it is shown: in points, with n, p and the least."""
    keys = {"series": series, "metric": metric, "against": anchor.method}
    columns, notes, complete = [], [], True
    for length, estimator, ids in zip(LENGTHS, strata, kept, strict=True):
        values, remarks = estimator.paired([CORAL, anchor], metric)
        if isinstance(values, str):
            complete = False
            remarks = [values, *remarks]
        else:
            chosen = [id_ in ids for id_ in estimator.question_ids(CORAL, metric)]
            columns.append(np.round(values[0] - values[1], _DIGITS)[np.newaxis, chosen])
        notes += [f"{length.upper()}: {remark}" for remark in remarks]
    if not complete:
        absent = Entry(keys, NOT_RUN, notes=notes, more=dict.fromkeys(("p", "detectable")))
        return absent, (NOT_RUN, "", "", "")
    columns = [column for column in columns if column.size]
    differences = np.hstack(columns)[0]
    low, high = percentile_interval(stratified_bootstrap_means(columns, seed=BOOTSTRAP_SEED))
    n = differences.size
    estimate = Estimate(fmean(differences), float(low[0]), float(high[0]), n)
    p = float(sign_flip(differences[np.newaxis], seed=BOOTSTRAP_SEED)[0])
    least = smallest_detectable(differences, zero_one=True)
    if not differences.any():
        bound = identical_bound(n)
        notes.append(f"identical on {n} questions; true rate of difference below {bound:.3f}")
    entry = Entry(keys, estimate, notes=notes, more={"p": p, "detectable": least})
    return entry, (points(estimate), str(n), p_text(p), f"{100 * least:.1f}")
