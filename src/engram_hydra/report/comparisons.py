"""Paired comparisons in their families, with what ties decide among those with BM25."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.families import families, ties_newest
from engram_hydra.report.pair_tests import Pair, Test, Untested, pair_tests
from engram_hydra.stats import holm, identical_bound, is_saturated, smallest_detectable

ALPHA = 0.05
BETTER, WORSE, IDENTICAL = "better", "worse", "identical"
NOT_SHOWN, TIES_DECIDE = "not shown", "undecided (ties)"

Outcomes = dict[Pair, tuple[str, float]]  # of each tested pair: its outcome, and Holm's p


@dataclass(frozen=True)
class Comparison:
    """``row`` minus ``against``, paired by question; fractions.

    ``p`` is two-sided, ``p_holm`` adjusted within ``family``, which has ``family_size`` tests.
    ``narrow`` are the ends of the difference's 90% interval.
    ``outcome`` is ``better`` or ``worse`` where the interval excludes 0 and ``p_holm`` is below .05,
    ``identical`` where no question differs, ``undecided (ties)`` where BM25's other tie rule would
    make, undo or turn a better or worse, else ``not shown``. ``detectable`` is the difference that
    would be shown at 80% power.

    A pair with BM25's ties newest is adjusted in the family as it is with all of them in place of
    BM25's ties oldest: it makes no family larger.

    A pair that can't be compared has ``not run`` or ``n/a`` for its difference and its outcome, no p,
    and does not count in its family; its notes say why.
    """

    family: str
    family_size: int
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
    narrow: tuple[float, float] | None = None


def comparisons(
    estimator: Estimator, dataset: str, labels: Mapping[Cell, str], metrics: Sequence[str]
) -> list[Comparison]:
    """The exploratory families of each metric, Holm within each; ``labels`` names the rows.

    Where BM25 was run with its ties newest, every pair with BM25 is followed by the one with these.
    Raises DataError where two runs saw different questions or hold a bad number.
    """
    by_words = families(estimator.cells, labels)
    pairs = [pair for of_family in by_words.values() for pair in of_family]
    found = []
    for metric in metrics:
        tests = pair_tests(estimator, metric, dict.fromkeys([*pairs, *map(ties_newest, pairs)]))
        for words, of_family in by_words.items():
            family = f"{metric} on {dataset}: {words}"
            oldest = _outcomes(tests, of_family)
            newest = _outcomes(tests, map(ties_newest, of_family))
            for pair in of_family:
                other = ties_newest(pair)
                beside = None if other == pair else _word(newest, other)
                names = (family, len(oldest), metric, *_names(labels, pair))
                if isinstance(test := tests[pair], Untested):
                    notes = (*test.notes, *_absent(estimator.cells, labels, pair))
                    found.append(Comparison(*names, test.word, test.word, notes=notes))
                else:
                    found.append(_compared(names, test, oldest[pair], "oldest", beside))
                turned = tests[other]
                if other != pair and isinstance(turned, Test):
                    names = (family, len(newest), metric, *_names(labels, other))
                    beside = _word(oldest, pair)
                    found.append(_compared(names, turned, newest[other], "newest", beside))
    return found


def _names(labels: Mapping[Cell, str], pair: Pair) -> tuple[str, str]:
    a, b = (labels.get(cell, cell.method) for cell in pair)
    return a, b


def _absent(ran: Collection[Cell], labels: Mapping[Cell, str], pair: Pair) -> list[str]:
    names = zip(pair, _names(labels, pair), strict=True)
    return [f"{name} not run" for cell, name in names if cell not in ran]


def _word(outcomes: Outcomes, pair: Pair) -> str:
    """The pair's outcome, empty if it has no test."""
    return outcomes[pair][0] if pair in outcomes else ""


def _outcomes(tests: Mapping[Pair, Test | Untested], family: Iterable[Pair]) -> Outcomes:
    """Those of the family's pairs that have a test."""
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
    names: tuple[str, int, str, str, str],
    test: Test,
    decided: tuple[str, float],
    ties: str,
    beside: str | None,
) -> Comparison:
    """``beside`` is the outcome under BM25's other tie rule, empty if not run, None without BM25."""
    family, size, metric, row, against = names
    outcome, p_holm = decided
    n = test.difference.n
    notes = list(test.notes)
    if outcome == IDENTICAL:
        bound = identical_bound(n)
        notes.append(f"identical on {n} questions; true rate of difference below {bound:.3f}")
    if saturated := is_saturated(test.values[1]):
        notes.append("saturated: fewer than six questions are left to win")
    other = "newest" if ties == "oldest" else "oldest"
    if beside == "":
        notes.append(f"BM25 with ties {other} was not run: whether ties decide is not known")
    elif beside is not None and beside != outcome:
        notes.append(f"ties {ties}: {outcome}; with BM25's ties {other}: {beside}")
        if {outcome, beside} & {BETTER, WORSE}:
            outcome = TIES_DECIDE
    return Comparison(
        family,
        size,
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
        test.narrow,
    )
