"""What is said of a verdict: the statement where it is decided, and why it came out so."""

from __future__ import annotations

from engram_hydra.report import decisions as decide
from engram_hydra.report.contrasts import SUBEM
from engram_hydra.report.estimates import points
from engram_hydra.report.findings import NEEDS, Findings
from engram_hydra.report.statements import Place, Statement
from engram_hydra.report.why_missing import overrides

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
_AGAINST = {  # what each p speaks against; statements that are not here go by no p
    "H1": "no difference between Coral and Dense",
    "H2": "Coral leading Tide by {margin:g} points or more",
    "H3a": "heirs costing half of the gain or less",
    "H3b": "calcification costing or winning {margin:g} points or more",
    "H3c": "the immune response costing or winning {margin:g} points or more",
    "M3": "heirs and calcification costing the same",
}
_READ_AS = {  # what a statement on one part off means for the others
    "H3b": "while heirs remain",
    "H3c": "heirs and calcification go with it",
}
_GENERAL = {"H1": "Coral as shipped beats Dense at equal k"}  # where it is not FC single-hop


def said(stated: Statement, place: Place) -> str:
    """The statement as it was made, in brackets what is left of the whole.

    On another data set it is without the name of the first.
    """
    general = stated.text if place.dataset.startswith("fc_sh") else _GENERAL.get(stated.id)
    read_as = f" ({_READ_AS[stated.id]})" if stated.id in _READ_AS else ""
    return f"{general or stated.text}{read_as}"


def against(id_: str, margin: float) -> str:
    """What the statement's p speaks against, in words; empty for one that goes by no p."""
    return _AGAINST.get(id_, "").format(margin=margin)


def why(stated: Statement, place: Place, findings: Findings) -> str:
    """One sentence with the numbers behind the outcome, or what is missing and how to get it."""
    outcome = findings.outcome(stated.id)
    if outcome == decide.NOT_RUN:
        return _missing(stated.id, place, findings)
    if stated.id == "M4":
        return _seeds_against_gap(outcome, findings)
    numbers = _numbers(stated.id, outcome, findings)
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


def _missing(id_: str, place: Place, findings: Findings) -> str:
    missing = findings.evidence.missing(NEEDS[id_])
    if not findings.evidence.selection.chosen:
        return f"{place.dataset} is not among datasets=: this report was not asked for it."
    reader = place.metric != SUBEM and not place.dataset.startswith("longmemeval")
    more = overrides(findings.evidence.selection, reader=reader)
    start = "python -m engram_hydra +experiment="
    if place.metric == SUBEM:
        commands = [f"{start}subem dataset={place.dataset} reader=openai reader.model=…{more}"]
    else:
        experiments = {
            "ablations" if cell.method == "coral" else "anchors": None for cell in missing
        }
        commands = [f"{start}{name} dataset={place.dataset}{more}" for name in experiments]
    return f"Missing: {', '.join(missing.values())}. Run: {'; '.join(commands)}"


def _seeds_against_gap(outcome: str, findings: Findings) -> str:
    n = findings.numbers("M4")
    sd = f" (SD {100 * n['sd']:.1f})" if "sd" in n else ""
    size = f"{abs(100 * n['gap']):.1f} points"
    is_ = (
        f"{size} {'better' if n['gap'] > 0 else 'worse'} than Dense"
        if n["gap"]
        else "level with Dense"
    )
    more = "" if outcome == decide.SUPPORTED else "not "
    return (
        f"The means of the seeds range over {100 * n['range']:.1f} points{sd}, and Coral is {is_}, "
        f"n = {n['n']:.0f}: the range is {more}larger than this gap."
    )


def _numbers(id_: str, outcome: str, findings: Findings) -> str:
    """The difference, and what else the outcome was decided by."""
    n = findings.numbers(id_)
    contrast = findings.contrasts[id_]
    parts = [f"{_NAMES[id_]} {points(contrast.estimate)} points"]
    if id_ in ("H3b", "H3c", "M2"):
        low, high = (round(100 * end, 1) + 0.0 for end in contrast.narrow)
        parts.append(f"{findings.stated.equivalence_confidence:g}% [{low:.1f},{high:.1f}]")
    if id_ == "H3a":
        parts.append(f"cost {100 * n['cost']:+.1f}, gain {100 * n['gain']:+.1f}")
    # Nothing is refuted by its p, and where a statement does not apply there is nothing to test.
    if "p" in n and outcome in (decide.SUPPORTED, decide.UNDECIDED):
        parts.append(f"{_p(n['p'])} against {against(id_, findings.stated.margin)}")
        if "p_holm" in n:
            family = ", ".join(findings.stated.family)
            parts.append(f"after Holm over {family} {_p(n['p_holm'])}")
    numbers = ", ".join([*parts, f"n = {n['n']:.0f}"])
    return f"H1 is {findings.outcome('H1')}; {numbers}" if id_ in ("M1", "M2") else numbers


def _p(p: float) -> str:
    """``p = 0.0123``, to four decimals."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
