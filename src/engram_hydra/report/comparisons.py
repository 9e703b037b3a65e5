"""Paired comparisons in families: rows against anchors, and Coral against its ablations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from engram_hydra.report.ablation_table import CORAL, ORACLE, TIES_NEWEST
from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.document import Block, Bullets, Grid, Heading, Paragraph
from engram_hydra.report.estimates import BOOTSTRAP_SEED, Cell, Estimate, points
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Entry, Section, grouped
from engram_hydra.stats import (
    bootstrap_means,
    holm,
    identical_bound,
    is_saturated,
    mcnemar,
    percentile_interval,
    sign_flip,
    smallest_detectable,
)

ALPHA = 0.05
BM25, DENSE, TIDE = Cell("bm25"), Cell("dense"), Cell("tide")
ANCHORS = (TIDE, DENSE, BM25)
BETTER, WORSE, IDENTICAL = "better", "worse", "identical"
ANCHORED, ABLATED = "rows against anchors", "Coral against its ablations"
NOT_SHOWN, TIES_DECIDE = "not shown", "undecided (ties)"


@dataclass(frozen=True)
class Comparison:
    """``row`` minus ``against``, paired by question; fractions.

    ``p`` is two-sided, ``p_holm`` adjusted within ``family``. ``outcome`` is ``better`` or ``worse``
    where the interval excludes 0 and ``p_holm`` is below .05, ``identical`` where no question differs,
    ``undecided (ties)`` where BM25's other tie rule would change it, else ``not shown``.
    ``detectable`` is the difference that would be shown at 80% power.
    """

    family: str
    metric: str
    row: str
    against: str
    difference: Estimate
    p: float
    p_holm: float
    test: str
    outcome: str
    detectable: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Pair:
    """Two cells with their seed means by question, shape (2, n)."""

    a: Cell
    b: Cell
    values: NDArray[np.float64]
    notes: tuple[str, ...]


def comparisons(
    estimator: Estimator, dataset: str, labels: Mapping[Cell, str], metrics: Sequence[str]
) -> list[Comparison]:
    """Both exploratory families of each metric, Holm within each; pairs that were not run are absent.

    ``labels`` names the rows; oracle, audit runs and variants are in no family, and anchors meet one
    another once. Raises DataError where two runs saw different questions.
    """
    rows = [cell for cell in labels if not (cell.variant or cell.audit or cell == ORACLE)]
    anchored = [
        (row, anchor)
        for row in rows
        for anchor in ANCHORS
        if row not in ANCHORS or ANCHORS.index(row) < ANCHORS.index(anchor)
    ]
    ablated = [(CORAL, row) for row in rows if row.method == CORAL.method and row != CORAL]
    found = []
    for metric in metrics:
        for words, cells in (
            (ANCHORED, anchored),
            (ABLATED, ablated),
        ):
            family = f"{metric} on {dataset}: {words}"
            found += _family(estimator, family, metric, labels, cells)
    return found


def _family(
    estimator: Estimator,
    family: str,
    metric: str,
    labels: Mapping[Cell, str],
    cells: Sequence[tuple[Cell, Cell]],
) -> list[Comparison]:
    found = _compared(estimator, family, metric, labels, cells)
    other = {BM25: BM25._replace(variant=TIES_NEWEST)}
    if not any(BM25 in pair for pair in found):
        return list(found.values())
    swapped = [(other.get(a, a), other.get(b, b)) for a, b in cells]
    newest = _compared(estimator, family, metric, labels, swapped)
    for a, b in [pair for pair in found if BM25 in pair]:
        twin = newest.get((other.get(a, a), other.get(b, b)))
        one = found[a, b]
        if twin is None:
            note = "BM25 with ties newest was not run: whether ties decide is not known"
            found[a, b] = replace(one, notes=(*one.notes, note))
        elif twin.outcome != one.outcome:
            note = f"with BM25's ties newest: {twin.outcome}"
            found[a, b] = replace(one, outcome=TIES_DECIDE, notes=(*one.notes, note))
    return list(found.values())


def _compared(
    estimator: Estimator,
    family: str,
    metric: str,
    labels: Mapping[Cell, str],
    cells: Iterable[tuple[Cell, Cell]],
) -> dict[tuple[Cell, Cell], Comparison]:
    """Every pair that was run, all in one pass of resampling."""
    pairs = [pair for a, b in cells if (pair := _pair(estimator, metric, a, b))]
    if not pairs:
        return {}
    zero_one = not metric.startswith("ndcg")
    differences = np.array([pair.values[0] - pair.values[1] for pair in pairs])
    lows, highs = percentile_interval(bootstrap_means(differences, seed=BOOTSTRAP_SEED))
    flipped = sign_flip(differences, seed=BOOTSTRAP_SEED)
    tested = [
        (mcnemar(*pair.values), "exact McNemar")
        if all(DETERMINISTIC in estimator.runs(cell, metric) for cell in (pair.a, pair.b))
        and np.isin(pair.values, (0, 1)).all()
        else (float(p), "sign-flip")
        for pair, p in zip(pairs, flipped, strict=True)
    ]
    adjusted = holm([p for p, _ in tested])
    found = {}
    for n, pair in enumerate(pairs):
        d = differences[n]
        estimate = Estimate(fmean(d), float(lows[n]), float(highs[n]), d.size)
        p, test = tested[n]
        notes = [*pair.notes, *_by_seed(estimator, pair, metric)]
        if not d.any():
            outcome = IDENTICAL
            bound = identical_bound(d.size)
            notes.append(
                f"identical on {d.size} questions; true rate of difference below {bound:.3f}"
            )
        elif adjusted[n] < ALPHA and not estimate.low <= 0 <= estimate.high:
            outcome = BETTER if estimate.value > 0 else WORSE
        else:
            outcome = NOT_SHOWN
        if is_saturated(pair.values[1]):
            notes.append("saturated: fewer than six questions are left to win")
        found[pair.a, pair.b] = Comparison(
            family,
            metric,
            labels.get(pair.a, pair.a.method),
            labels.get(pair.b, pair.b.method),
            estimate,
            p,
            float(adjusted[n]),
            test,
            outcome,
            smallest_detectable(d, zero_one=zero_one),
            tuple(notes),
        )
    return found


def _pair(estimator: Estimator, metric: str, a: Cell, b: Cell) -> _Pair | None:
    values, notes = estimator.paired([a, b], metric)
    return None if isinstance(values, str) else _Pair(a, b, values, tuple(notes))


def _by_seed(estimator: Estimator, pair: _Pair, metric: str) -> list[str]:
    """McNemar's test of each seed, as a description: seeds are no questions."""
    a, b = (estimator.by_seed(cell, metric) for cell in (pair.a, pair.b))
    seeds = sorted({*a, *b} - {DETERMINISTIC})
    columns = [
        (x.get(seed, x.get(DETERMINISTIC)), y.get(seed, y.get(DETERMINISTIC)))
        for x, y in [(a, b)]
        for seed in seeds
    ]
    both = [(x, y) for x, y in columns if x is not None and y is not None]
    if len(both) < 2 or not all(np.isin(same, (0, 1)).all() for same in both):
        return []
    ps = [mcnemar(x, y) for x, y in both]
    return [f"McNemar's p of each seed: {min(ps):.3f} to {max(ps):.3f}"] if min(ps) < 1 else []


def comparison_section(found: Sequence[Comparison]) -> Section | None:
    """A grid for each family, and every number behind it; None where no pair was run."""
    if not found:
        return None
    blocks: list[Block] = [
        Heading("Paired comparisons", 2),
        Paragraph(
            "Row minus the other, in points, on the same questions, with unadjusted 95% intervals. "
            "Holm's p is adjusted within its family, which the heading names and counts. Better or "
            "worse needs both: an interval without 0 and Holm's p below .05. Least: the smallest "
            "difference that these questions would show at 80% power. Exploratory: the verdicts above "
            "decide what was stated before running."
        ),
    ]
    for family in dict.fromkeys(one.family for one in found):
        members = [one for one in found if one.family == family]
        notes = {f"{one.row} - {one.against}": one.notes for one in members if one.notes}
        blocks += [
            Heading(f"{family}, {len(members)} tests", 3),
            Grid(
                ("row - other", "points [95%]", "p", "Holm p", "outcome", "least"),
                [
                    (
                        f"{one.row} - {one.against}",
                        points(one.difference),
                        _p(one.p),
                        _p(one.p_holm),
                        one.outcome,
                        f"{100 * one.detectable:.1f}",
                    )
                    for one in members
                ],
            ),
        ]
        if notes:
            blocks.append(Bullets(grouped(notes)))
    entries = [
        Entry(
            {"family": one.family, "metric": one.metric, "row": one.row, "against": one.against},
            one.difference,
            notes=one.notes,
            more={
                "test": one.test,
                "p": one.p,
                "p_holm": one.p_holm,
                "outcome": one.outcome,
                "detectable": one.detectable,
            },
        )
        for one in found
    ]
    return Section("comparisons", blocks, entries)


def _p(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
