"""What is said of a verdict: why it is so, and what to bear in mind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from engram_hydra.report import decisions as decide
from engram_hydra.report.cells import Run
from engram_hydra.report.contrasts import SUBEM, Contrast
from engram_hydra.report.estimates import Cell, points
from engram_hydra.report.findings import DENSE, NEEDS, TIDE, Findings
from engram_hydra.report.statements import Place, Statement, Statements
from engram_hydra.stats import identical_bound

_NAMES = {
    "H1": "Coral - Dense",
    "H2": "Coral - Tide",
    "H3a": "Cost of heirs - gain/2",
    "H3b": "Cost of calcification",
    "H3c": "Cost of the immune response",
    "M1": "Coral - Dense",
    "M2": "Coral - Tide",
    "M3": "Cost of heirs - cost of calcification",
}
_ANCHORS: dict[str, tuple[Cell, ...]] = {"H2": (TIDE,), "M2": (DENSE, TIDE)}  # others: Dense
_SAY_LITTLE = ("H2", "H3b", "H3c", "M1", "M2")  # supported, they say that there is no difference


def why(stated: Statement, place: Place, findings: Findings) -> str:
    """One sentence with the numbers behind the outcome, or what is missing and how to get it."""
    outcome = findings.outcome(stated.id)
    if outcome == decide.NOT_RUN:
        return _missing(stated.id, place, findings)
    numbers = _numbers(stated.id, findings)
    if stated.id == "M1":  # it says no more than H1
        return f"{numbers}."
    match outcome:
        case decide.SUPPORTED:
            return f"{numbers}: {stated.supported}."
        case decide.REFUTED:
            return f"{numbers}: {stated.refuted}."
        case decide.NOT_APPLICABLE:
            return f"H1 is {findings.outcome('H1')}, so there is no gain to share out; {numbers}."
    return (
        f"{numbers}: neither what supports it ({stated.supported}) nor what refutes it "
        f"({stated.refuted})."
    )


def remarks(
    stated: Statement,
    secondary: bool,
    findings: Findings,
    statements: Statements,
    runs: Sequence[Run],
) -> Iterator[str]:
    """What stands beside a verdict and changes none."""
    outcome, id_ = findings.outcome(stated.id), stated.id
    if id_ == "H3c":
        yield (
            "by construction: without the immune response Coral equals Dense, so the cost is the whole gain"
        )
    if outcome != decide.NOT_RUN:
        for anchor in _ANCHORS.get(id_, (DENSE,)):
            if saturated := findings.evidence.saturated(anchor):
                yield saturated
        if contrast := findings.contrasts.get(id_):
            yield from _on_difference(id_, outcome, contrast, statements)
        if id_ in statements.family or id_ in ("M1", "M2"):
            yield from _on_family(secondary, findings)
        if id_ == "H2":
            yield _on_tide(findings)
    yield from _on_statements(runs, statements.sha256)


def _missing(id_: str, place: Place, findings: Findings) -> str:
    missing = findings.evidence.missing(NEEDS[id_])
    start = "python -m engram_hydra +experiment="
    if place.metric == SUBEM:
        commands = [f"{start}subem dataset={place.dataset} reader=openai reader.model=…"]
    else:
        experiments = {
            "ablations" if cell.method == "coral" else "anchors": None for cell in missing
        }
        commands = [f"{start}{name} dataset={place.dataset}" for name in experiments]
    return f"Missing: {', '.join(missing.values())}. Run: {'; '.join(commands)}"


def _numbers(id_: str, findings: Findings) -> str:
    n = findings.numbers(id_)
    if id_ == "M4":
        sd = f" (SD {100 * n['sd']:.1f})" if "sd" in n else ""
        return (
            f"The means of the seeds range over {100 * n['range']:.1f} points{sd}, and the gap to Dense "
            f"is {100 * n['gap']:+.1f}, n = {n['n']:.0f}"
        )
    contrast = findings.contrasts[id_]
    parts = [f"{_NAMES[id_]} {points(contrast.estimate)} points"]
    if id_ in ("H3b", "H3c", "M2"):
        low, high = (round(100 * end, 1) + 0.0 for end in contrast.narrow)
        parts.append(f"{findings.stated.equivalence_confidence:g}% [{low:.1f},{high:.1f}]")
    if id_ == "H3a":
        parts.append(f"cost {100 * n['cost']:+.1f}, gain {100 * n['gain']:+.1f}")
    if "p" in n:
        parts.append(p_in_words("p", n["p"]))
    if "p_holm" in n:
        parts.append(p_in_words("Holm p", n["p_holm"]))
    numbers = ", ".join([*parts, f"n = {n['n']:.0f}"])
    return f"H1 is {findings.outcome('H1')}; {numbers}" if id_ in ("M1", "M2") else numbers


def p_in_words(name: str, p: float) -> str:
    """``p = 0.0123``, to four decimals."""
    return f"{name} < 0.0001" if p < 0.0001 else f"{name} = {p:.4f}"


def _on_difference(
    id_: str, outcome: str, contrast: Contrast, statements: Statements
) -> Iterator[str]:
    estimate = contrast.estimate
    if contrast.identical:
        bound = identical_bound(estimate.n)
        yield f"identical on {estimate.n} questions; true rate of difference below {bound:.3f}"
    no_difference = estimate.low <= 0 <= estimate.high or outcome == decide.UNDECIDED
    if no_difference or (id_ in _SAY_LITTLE and outcome == decide.SUPPORTED):
        if not math.isfinite(contrast.smallest):
            yield "a single question can't show any difference"
            return
        above = "" if contrast.smallest <= statements.margin_share else ", more than the margin"
        yield f"smallest detectable difference {100 * contrast.smallest:.1f} points{above}"


def _on_family(secondary: bool, findings: Findings) -> Iterator[str]:
    if uncomputed := findings.uncomputed():
        verb = "count" if len(uncomputed) > 1 else "counts"
        yield f"p of {', '.join(uncomputed)} not computed for want of runs: {verb} as 1 under Holm"
    if secondary:
        yield "secondary: Holm over the same four on this row"


def _on_tide(findings: Findings) -> str:
    shipped, outcomes = findings.outcome("H2"), findings.along_tide()
    absent = [f"{w:g}" for w, outcome in outcomes.items() if outcome == decide.NOT_RUN]
    other = [
        f"{outcome} at w = {w:g}"
        for w, outcome in outcomes.items()
        if outcome not in (shipped, decide.NOT_RUN)
    ]
    not_run = f"; not run at w = {', '.join(absent)}" if absent else ""
    if other:
        return f"depends on Tide: {', '.join(other)}{not_run}"
    same = [f"{w:g}" for w, outcome in outcomes.items() if outcome == shipped]
    return f"the same along Tide's curve, w = {', '.join(same)}{not_run}"


def _on_statements(runs: Sequence[Run], sha256: str) -> Iterator[str]:
    """Whether the runs were made under the statements as they are now."""
    carried = Counter(run.tags.get("engram.statements_sha256", "") for run in runs)
    absent, same = carried.pop("", 0), carried.pop(sha256, 0)
    total = absent + same + carried.total()
    if carried:
        yield f"the statements changed after {carried.total()} of these {total} runs"
    if absent:
        yield f"statements not recorded by {absent} of these {total} runs"
