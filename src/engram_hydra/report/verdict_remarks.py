"""What stands beside a verdict and changes none: marks beside its word, and remarks below it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from engram_hydra.report import decisions as decide
from engram_hydra.report.contrasts import Contrast
from engram_hydra.report.estimates import Cell, points
from engram_hydra.report.findings import DENSE, NEEDS, TIDE, Findings
from engram_hydra.stats import identical_bound

DEPENDS_ON_TIDE = "depends on Tide"
BY_CONSTRUCTION = "by construction"
SATURATED = "saturated"

_ANCHORS: dict[str, tuple[Cell, ...]] = {"H2": (TIDE,), "M2": (DENSE, TIDE)}  # others: Dense
_SAY_LITTLE = ("H2", "H3b", "H3c", "M1", "M2")  # supported, they say that there is no difference
_BY_MARGIN = ("H2", "H3b", "H3c")  # those whose p is of a difference as large as the margin
_WORSE = {  # what it means where the whole interval lies below 0
    "H1": "Coral is worse than Dense",
    "H2": "Coral is worse than Tide",
    "H3b": "without calcification Coral is better",
    "H3c": "without the immune response Coral is better",
    "M1": "Coral is worse than Dense",
    "M2": "Coral is worse than Tide",
    "M3": "heirs cost less than calcification",
    "M4": "Coral is worse than Dense",
}
_ONLY_TESTED = (
    "tested is only that Coral does not beat Dense; not tested is the reason given, for an earlier result "
    "of the same comparison in which Coral was three points ahead (the first round's plus three)"
)


def marks(id_: str, findings: Findings) -> tuple[str, ...]:
    """What stands in brackets beside the outcome, so that nobody quotes it without."""
    outcome = findings.outcome(id_)
    if outcome == decide.NOT_RUN:
        return tuple(filter(None, [findings.evidence.why_missing(NEEDS[id_])]))
    if outcome == decide.NOT_APPLICABLE:
        return ()
    found = []
    if id_ == "H2" and _elsewhere(findings):
        found.append(DEPENDS_ON_TIDE)
    if id_ == "H3c":
        found.append(BY_CONSTRUCTION)
    if any(map(findings.evidence.saturated, _anchors(id_))):
        found.append(SATURATED)
    return tuple(found)


def remarks(id_: str, secondary: bool, findings: Findings) -> Iterator[str]:
    """What to bear in mind of a verdict, a sentence each."""
    outcome = findings.outcome(id_)
    if id_ == "H3c":
        yield (
            "by construction: without the immune response Coral equals Dense, so the cost is the whole gain"
        )
    if id_ == "M1":
        yield _ONLY_TESTED
    if outcome == decide.NOT_RUN:
        return
    gap = findings.contrasts["H1" if id_ == "M4" else id_]
    if id_ in _WORSE and gap.estimate.high < 0:
        yield f"the whole interval lies below 0: {_WORSE[id_]}"
    for anchor in _anchors(id_):
        if saturated := findings.evidence.saturated(anchor):
            yield saturated
    if contrast := findings.contrasts.get(id_):
        yield from _on_difference(id_, outcome, contrast, findings)
    if id_ in findings.stated.family or id_ in ("M1", "M2"):
        yield from _on_family(secondary, findings)
    if id_ == "H2":
        yield _on_tide(findings)


def _anchors(id_: str) -> tuple[Cell, ...]:
    return _ANCHORS.get(id_, (DENSE,))


def _on_difference(id_: str, outcome: str, contrast: Contrast, findings: Findings) -> Iterator[str]:
    estimate = contrast.estimate
    if contrast.identical:
        n, margin = estimate.n, findings.stated.margin
        bound = (
            f"identical on {n} questions; true rate of difference below {identical_bound(n):.3f}"
        )
        by_margin = f"; p is the chance of that at a true rate of {margin:g}%"
        yield bound + (by_margin if id_ in _BY_MARGIN else "")
    no_difference = estimate.low <= 0 <= estimate.high or outcome == decide.UNDECIDED
    if no_difference or (id_ in _SAY_LITTLE and outcome == decide.SUPPORTED):
        if not math.isfinite(contrast.smallest):
            yield "a single question can't show any difference"
            return
        above = (
            ""
            if contrast.smallest <= findings.stated.margin_share
            else f", more than the margin: n = {estimate.n} is too small to show a difference of "
            f"{findings.stated.margin:g} points either way"
        )
        yield f"smallest detectable difference {100 * contrast.smallest:.1f} points{above}"


def _on_family(secondary: bool, findings: Findings) -> Iterator[str]:
    if uncomputed := findings.uncomputed():
        verb = "count" if len(uncomputed) > 1 else "counts"
        yield f"p of {', '.join(uncomputed)} not computed for want of runs: {verb} as 1 under Holm"
    if secondary:
        yield "secondary: Holm over the same four on this row"


def _elsewhere(findings: Findings) -> dict[float, str]:
    """H2's outcomes along Tide's curve that are not the one as shipped, by w."""
    ignored = (findings.outcome("H2"), decide.NOT_RUN)
    return {w: outcome for w, outcome in findings.along_tide.items() if outcome not in ignored}


def _on_tide(findings: Findings) -> str:
    """H2 at every w that was run, with the difference."""
    told, absent = [], []
    for w, contrast in findings.over_tide.items():
        if contrast is None:
            absent.append(f"{w:g}")
            continue
        is_ = {"": " (as shipped)"}.get(findings.stated.tide_curve[w], "")
        is_ = " (which is Dense)" if w == 0 else is_
        told.append(f"w = {w:g}{is_} {points(contrast.estimate)}, {findings.along_tide[w]}")
    not_run = f"; not run at w = {', '.join(absent)}" if absent else ""
    start = DEPENDS_ON_TIDE if _elsewhere(findings) else "is the same"
    how = "'s weight of recency w" if _elsewhere(findings) else " along Tide's weight of recency w"
    return f"{start}{how}: Coral - Tide at {'; '.join(told)}{not_run}"
