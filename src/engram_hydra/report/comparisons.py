"""Paired comparisons in families: rows against anchors, and Coral against its ablations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engram_hydra.report.ablation_table import CORAL, ORACLE, TIES_NEWEST
from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.pair_tests import Pair, Test, Untested, pair_tests
from engram_hydra.stats import holm, identical_bound, is_saturated, smallest_detectable

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
    ``undecided (ties)`` where BM25's other tie rule would make, undo or turn a better or worse, else
    ``not shown``. ``detectable`` is the difference that would be shown at 80% power.

    A pair that can't be compared has ``not run`` or ``n/a`` for its difference and its outcome, no p,
    and does not count in its family; its notes say why.
    """

    family: str
    metric: str
    row: str
    against: str
    difference: Estimate | str
    outcome: str
    p: float | None = None
    p_holm: float | None = None
    test: str = ""
    detectable: float | None = None
    saturated: bool = False
    seeds: str = ""
    notes: tuple[str, ...] = ()


def comparisons(
    estimator: Estimator, dataset: str, labels: Mapping[Cell, str], metrics: Sequence[str]
) -> list[Comparison]:
    """Both exploratory families of each metric, Holm within each.

    ``labels`` names the rows; oracle, audit runs and variants are in no family, and anchors meet one
    another once. A pair of which neither side was run is absent. Raises DataError where two runs saw
    different questions or hold a bad number.
    """
    rows = [cell for cell in labels if not (cell.variant or cell.audit or cell == ORACLE)]
    anchored = [
        (row, anchor)
        for row in rows
        for anchor in ANCHORS
        if row not in ANCHORS or ANCHORS.index(row) < ANCHORS.index(anchor)
    ]
    ablated = [(CORAL, row) for row in rows if row.method == CORAL.method and row != CORAL]
    families = {
        words: [pair for pair in pairs if any(cell in estimator.cells for cell in pair)]
        for words, pairs in ((ANCHORED, anchored), (ABLATED, ablated))
    }
    every = [pair for pairs in families.values() for pair in pairs]
    found = []
    for metric in metrics:
        tests = pair_tests(estimator, metric, dict.fromkeys([*every, *map(_newest, every)]))
        for words, pairs in families.items():
            oldest = _outcomes(tests, pairs)
            newest = _outcomes(tests, map(_newest, pairs))
            for a, b in pairs:
                names = (
                    f"{metric} on {dataset}: {words}",
                    metric,
                    _name(labels, a),
                    _name(labels, b),
                )
                test = tests[a, b]
                if isinstance(test, Untested):
                    absent = [c for c in (a, b) if c not in estimator.cells]
                    notes = (*test.notes, *(f"{_name(labels, c)} not run" for c in absent))
                    one = Comparison(*names, test.word, test.word, notes=notes)
                else:
                    other = newest.get(_newest((a, b)), ("", 1.0))[0] if BM25 in (a, b) else None
                    one = _compared(names, test, *oldest[a, b], other)
                found.append(one)
    return found


def _newest(pair: Pair) -> Pair:
    """The pair with BM25's other tie rule in BM25's place."""
    a, b = (cell._replace(variant=TIES_NEWEST) if cell == BM25 else cell for cell in pair)
    return a, b


def _name(labels: Mapping[Cell, str], cell: Cell) -> str:
    return labels.get(cell, cell.method)


def _outcomes(
    tests: Mapping[Pair, Test | Untested], family: Iterable[Pair]
) -> dict[Pair, tuple[str, float]]:
    """Outcome and Holm's p of each pair of the family that has a test."""
    members = {pair: test for pair in family if isinstance(test := tests[pair], Test)}
    adjusted = holm([test.p for test in members.values()])
    return {
        pair: (_outcome(test, float(p)), float(p))
        for (pair, test), p in zip(members.items(), adjusted, strict=True)
    }


def _outcome(test: Test, p_holm: float) -> str:
    if not test.differences.any():
        return IDENTICAL
    if p_holm < ALPHA and not test.difference.low <= 0 <= test.difference.high:
        return BETTER if test.difference.value > 0 else WORSE
    return NOT_SHOWN


def _compared(
    names: tuple[str, str, str, str], test: Test, outcome: str, p_holm: float, newest: str | None
) -> Comparison:
    """``newest`` is the outcome under BM25's other tie rule, empty if not run, None without BM25."""
    family, metric, row, against = names
    n = test.difference.n
    notes = list(test.notes)
    if outcome == IDENTICAL:
        bound = identical_bound(n)
        notes.append(f"identical on {n} questions; true rate of difference below {bound:.3f}")
    if saturated := is_saturated(test.values[1]):
        notes.append("saturated: fewer than six questions are left to win")
    if newest == "":
        notes.append("BM25 with ties newest was not run: whether ties decide is not known")
    elif newest is not None and newest != outcome:
        notes.append(f"ties oldest: {outcome}; with BM25's ties newest: {newest}")
        if {outcome, newest} & {BETTER, WORSE}:
            outcome = TIES_DECIDE
    return Comparison(
        family,
        metric,
        row,
        against,
        test.difference,
        outcome,
        test.p,
        p_holm,
        test.name,
        smallest_detectable(test.differences, zero_one=not metric.startswith("ndcg")),
        saturated,
        test.seeds,
        tuple(notes),
    )
