"""The main findings: a few plain sentences that can be quoted, computed from verdicts and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram_hydra.report import decisions as decide
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.finding_words import ends, on, points
from engram_hydra.report.part_findings import earned, parts
from engram_hydra.report.place_findings import against_bm25, disagreeing
from engram_hydra.report.statements import Place, Statements
from engram_hydra.report.verdict_remarks import DEPENDS_ON_TIDE
from engram_hydra.report.verdicts import PRIMARY, Verdict
from engram_hydra.report.when_stated import stated_later


def main_findings(
    chapters: Sequence[Chapter], verdicts: Sequence[Verdict], statements: Statements
) -> list[str]:
    """A few sentences: against Dense, what earned it, which parts do not, Tide, BM25, what is open.

    They are of the primary row; the last ones also name what came out otherwise on the others.
    Intervals are 95% and unadjusted; what is called shown, needed or harmful is so after Holm.
    """
    place = statements.primary
    stated = {verdict.id: verdict for verdict in verdicts if verdict.role == PRIMARY}
    chapter = next((one for one in chapters if one.dataset == place.dataset), None)
    found = [_against_dense(stated["H1"], place, statements.margin)]
    if chapter:
        found += earned(stated["H1"].outcome, chapter, place.metric)
        found += parts(chapter, place.metric)
    found += [_against_tide(stated["H2"], place, statements), against_bm25(chapter, place)]
    return [*found, *disagreeing(verdicts), _open(stated, verdicts)]


def _against_dense(h1: Verdict, place: Place, margin: float) -> str:
    where = f"on {place.dataset} ({place.metric}"
    if h1.outcome == decide.NOT_RUN:
        return f"Whether Coral as a whole beats Dense {where}) is not known: {_lacking(h1)}."
    where = f"{where}, n = {h1.numbers['n']:.0f})"
    value = h1.numbers["difference"]
    size = f"{100 * abs(value):.1f} points ({_interval(h1)})"
    if h1.outcome == decide.SUPPORTED:
        return f"Coral as a whole beats Dense by {size} {where}."
    if h1.numbers["ci_high"] < 0:
        return f"Coral as a whole is worse than Dense by {size} {where}."
    signed = f"{points(value)} points ({_interval(h1)})"
    if h1.outcome == decide.REFUTED:
        by = "" if h1.numbers["ci_high"] <= 0 else f" by as much as {margin:g} points"
        return f"Coral as a whole does not beat Dense{by}: the difference is {signed} {where}."
    return f"Whether Coral as a whole beats Dense is undecided: the difference is {signed} {where}."


def _against_tide(h2: Verdict, place: Place, statements: Statements) -> str:
    if h2.outcome == decide.NOT_RUN:
        return f"How Coral does against Tide {on(place)} is not known: {_lacking(h2)}."
    n, margin = h2.numbers, statements.margin_share
    tie = -margin < n["narrow_low"] and n["narrow_high"] < margin
    if n["ci_low"] > 0:
        start = "Coral beats Tide"
    elif n["ci_high"] < 0:
        start = "Coral is worse than Tide"
    elif h2.outcome != decide.SUPPORTED:
        start = "Whether Coral beats Tide is undecided"
    elif tie:
        start = "Coral ties Tide"
    else:
        start = "Coral does not beat Tide, and whether it ties it or is worse is undecided"
    said = (
        f"{start}: the difference is {points(n['difference'])} points ({_interval(h2)}) {on(place)}"
    )
    if tie:
        said += f", within {statements.margin:g} points of 0"
    if DEPENDS_ON_TIDE in h2.marks:
        how = next(text for text in h2.remarks if text.startswith(DEPENDS_ON_TIDE))
        said += f"; H2 {how}"
    return f"{said}."


def _lacking(verdict: Verdict) -> str:
    """What a verdict that is not run lacks, without the command for it."""
    start = verdict.why.partition(". Run: ")[0].rstrip(".")
    return start.replace("Missing: ", "missing is ", 1)


def _open(stated: Mapping[str, Verdict], verdicts: Sequence[Verdict]) -> str:
    """Which statements are undecided or not run, and H1 on the other rows."""
    ids = {
        outcome: [id_ for id_, verdict in stated.items() if verdict.outcome == outcome]
        for outcome in (decide.UNDECIDED, decide.NOT_APPLICABLE)
    }
    for id_, verdict in stated.items():
        if verdict.outcome == decide.NOT_RUN:
            ids.setdefault(verdict.word, []).append(id_)
    said = [f"{outcome}: {', '.join(of)}" for outcome, of in ids.items() if of]
    here = "; ".join(said) or "all is decided"
    elsewhere = [
        f"{on(verdict)} "
        + (
            f"{verdict.outcome}, {points(verdict.numbers['difference'])} points ({_interval(verdict)})"
            if verdict.numbers
            else verdict.word
        )
        for verdict in verdicts
        if verdict.id == "H1" and verdict.role != PRIMARY
    ]
    also = f" Whether Coral beats Dense elsewhere: {'; '.join(elsewhere)}." if elsewhere else ""
    start = "Of the statements, which are as they are now and not as they were before all runs,"
    if not stated_later(verdicts):
        start = "Of what was stated,"
    return f"{start} {here} {on(stated['H1'])}.{also}"


def _interval(verdict: Verdict) -> str:
    n = verdict.numbers
    return f"95% interval {ends(Estimate(n['difference'], n['ci_low'], n['ci_high'], int(n['n'])))}"
