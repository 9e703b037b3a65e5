"""Findings that need more than one answer: BM25 under both tie rules, sets that disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import CORAL, TIES_NEWEST
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparisons import ALPHA as LEVEL
from engram_hydra.report.comparisons import BETTER, NOT_SHOWN, WORSE, Comparison
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.families import BM25
from engram_hydra.report.finding_words import on, with_ends
from engram_hydra.report.names import row_name
from engram_hydra.report.pair_tests import p_text
from engram_hydra.report.statements import Place
from engram_hydra.report.verdict_families import BY_INTERVAL
from engram_hydra.report.verdicts import Verdict


def against_bm25(chapter: Chapter | None, place: Place) -> str:
    """Coral against BM25 with its ties oldest and newest, and what the two together decide."""
    rows = {"oldest": row_name(BM25), "newest": row_name(BM25._replace(variant=TIES_NEWEST))}
    compared = chapter.compared if chapter else ()
    found = {
        ties: one
        for ties, label in rows.items()
        for one in compared
        if (one.metric, one.row, one.against) == (place.metric, row_name(CORAL), label)
        and isinstance(one.difference, Estimate)
    }
    if not found:
        return f"How Coral does against BM25 {on(place)} is not known: its runs are not all there."
    told = [f"with its ties {ties} {_told(one)}" for ties, one in found.items()]
    told += [f"with its ties {ties} not run" for ties in rows if ties not in found]
    outcome = next(iter(found.values())).outcome
    return f"Coral against BM25 {on(place)}: {'; '.join(told)}. Both rules together: {outcome}."


def _told(one: Comparison) -> str:
    if not isinstance(one.difference, Estimate) or one.p_holm is None:
        return one.outcome
    shown = one.p_holm < LEVEL and not one.difference.low <= 0 <= one.difference.high
    word = (BETTER if one.difference.value > 0 else WORSE) if shown else NOT_SHOWN
    return f"{with_ends(one.difference)} points, {word} (Holm p {p_text(one.p_holm)})"


def _difference(verdict: Verdict) -> str:
    """The numbers in brackets, where the statement is on a difference."""
    n = verdict.numbers
    if "difference" not in n:
        return ""
    difference = Estimate(n["difference"], n["ci_low"], n["ci_high"], int(n["n"]))
    by = ", by the unadjusted interval" if BY_INTERVAL in " ".join(verdict.remarks) else ""
    return f" with a difference of {with_ends(difference)} points{by}"


def disagreeing(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The statements that one row supports and another refutes, with both; nothing if there is none."""
    told = []
    for id_ in dict.fromkeys(verdict.id for verdict in verdicts):
        rows: dict[str, list[str]] = {decide.SUPPORTED: [], decide.REFUTED: []}
        for verdict in verdicts:
            if verdict.id == id_ and verdict.outcome in rows:
                rows[verdict.outcome].append(f"{on(verdict)}{_difference(verdict)}")
        if all(rows.values()):
            told.append(
                f"{id_} is "
                + " and ".join(f"{word} {', '.join(places)}" for word, places in rows.items())
            )
    if told:
        yield f"The rows do not agree: {'; '.join(told)}."
