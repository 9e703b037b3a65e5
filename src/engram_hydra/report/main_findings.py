"""The main findings: a few plain sentences that can be quoted, computed from verdicts and sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import NO_CALC, NO_HEIRS, NO_IMMUNE, standing_rows
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparisons import BETTER, IDENTICAL, WORSE
from engram_hydra.report.estimates import Estimate, seed_list
from engram_hydra.report.estimator import ON_COMMON_SEEDS, SEEDS
from engram_hydra.report.families import ABLATED
from engram_hydra.report.part_role import (
    HARMFUL,
    HELPFUL_ALONE,
    NEEDED,
    REDUNDANT,
    role_of,
)
from engram_hydra.report.section import Entry, Section
from engram_hydra.report.statements import Place, Statements
from engram_hydra.report.verdict_remarks import DEPENDS_ON_TIDE
from engram_hydra.report.verdicts import PRIMARY, Verdict


def main_findings(
    chapters: Sequence[Chapter], verdicts: Sequence[Verdict], statements: Statements
) -> list[str]:
    """Three to five sentences: against Dense, what earned it, which parts do not, Tide, what is open.

    They are of the primary row; the last also names how H1 came out on the others. Intervals are 95%
    and unadjusted, except that a part besides heirs and calcification is named by its Holm p.
    """
    place = statements.primary
    stated = {verdict.id: verdict for verdict in verdicts if verdict.role == PRIMARY}
    chapter = next((one for one in chapters if one.dataset == place.dataset), None)
    found = [_against_dense(stated["H1"], place, statements.margin)]
    if chapter:
        effects = _attribution(chapter, place.metric)
        found += _earned(stated["H1"], effects, _some_seeds(chapter, place.metric))
        found += _parts(chapter, place.metric)
    return [*found, _against_tide(stated["H2"], statements), _open(stated, verdicts)]


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
    signed = f"{_points(value)} points ({_interval(h1)})"
    if h1.outcome == decide.REFUTED:
        by = "" if h1.numbers["ci_high"] <= 0 else f" by as much as {margin:g} points"
        return f"Coral as a whole does not beat Dense{by}: the difference is {signed} {where}."
    return f"Whether Coral as a whole beats Dense is undecided: the difference is {signed} {where}."


def _against_tide(h2: Verdict, statements: Statements) -> str:
    if h2.outcome == decide.NOT_RUN:
        return f"How Coral does against Tide is not known: {_lacking(h2)}."
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
    said = f"{start}: the difference is {_points(n['difference'])} points ({_interval(h2)})"
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


def _some_seeds(chapter: Chapter, metric: str) -> str:
    """`` (seeds 0-2,4 only)`` where the attribution has not all seeds; else empty."""
    seeds = {
        entry.spread.seeds
        for entry in _entries(chapter, "attribution")
        if entry.keys["metric"] == metric and entry.keys["part"] == "whole"
    }
    return "".join(f" (seeds {some} only)" for some in seeds - {"", "det.", seed_list(SEEDS)})


def _on_common_seeds(entry: Entry) -> str:
    """``0-2,4 only`` where the two rows have not the same seeds; else empty."""
    notes = [note for note in entry.notes if note.startswith(ON_COMMON_SEEDS)]
    return notes[0].removeprefix(ON_COMMON_SEEDS) if notes else ""


def _earned(
    h1: Verdict, effects: Mapping[tuple[str, str], Estimate], some_seeds: str
) -> Iterator[str]:
    """Which part has how much of the gain, where there is one."""
    if h1.outcome == decide.NOT_RUN:
        return
    if h1.outcome != decide.SUPPORTED:
        yield f"That Coral gains over Dense is {h1.outcome}, so there is no gain to credit to a part."
        return
    shares = {part: value for (part, effect), value in effects.items() if effect == "share"}
    if not shares:
        yield "Which part earned the gain is not known: not every combination of its parts was run."
        return
    ranked = sorted(shares, key=lambda part: -shares[part].value)
    told = " and ".join(
        f"{part} {_points(shares[part].value)} ({_ends(shares[part])})" for part in ranked
    )
    clear = [part for part in ranked if shares[part].low > 0]
    start = f"The credit goes to {' and '.join(clear)}" if clear else "No part clearly earned it"
    gain = f"{100 * effects['whole', 'gain'].value:.1f}"
    yield f"{start}: of the gain of {gain} points{some_seeds} the fair shares (Shapley) are {told}."


def _parts(chapter: Chapter, metric: str) -> Iterator[str]:
    """Which parts the whole needs, which are redundant or harmful, and which change nothing."""
    effects, some_seeds = _attribution(chapter, metric), _some_seeds(chapter, metric)
    said = []
    for part in dict.fromkeys(part for part, effect in effects if effect == "cost"):
        alone, cost = effects[part, "alone"], effects[part, "cost"]
        without = f"without it {_points(-cost.value)} points ({_ends(_negative(cost))})"
        role = role_of(alone, cost)
        if role in (NEEDED, REDUNDANT, HELPFUL_ALONE, HARMFUL):
            said.append(f"{part}: {role} (alone {_points(alone.value)}, {without}){some_seeds}")
    by_outcome: dict[str, list[str]] = {}
    for entry in _ablations(chapter, metric):
        if isinstance(entry.value, Estimate):
            label = entry.keys["against"]
            common = _on_common_seeds(entry)
            only = f", seeds {common}" if common else ""
            change = f"{label} ({_points(-entry.value.value)} points{only})"
            outcome = str(entry.more["outcome"])
            same = f"{label} (seeds {common})" if common else label
            by_outcome.setdefault(outcome, []).append(same if outcome == IDENTICAL else change)
    for outcome, words in (
        (WORSE, "better than as shipped:"),
        (BETTER, "worse than as shipped:"),
        (IDENTICAL, "exactly as shipped on these questions:"),
    ):
        if labels := by_outcome.get(outcome):
            said.append(f"{words} {', '.join(labels)}")
    if said:
        yield f"Part by part, {'; '.join(said)}."


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
        f"on {verdict.dataset} ({verdict.metric}) "
        + (
            f"{verdict.outcome}, {_points(verdict.numbers['difference'])} points ({_interval(verdict)})"
            if verdict.numbers
            else verdict.word
        )
        for verdict in verdicts
        if verdict.id == "H1" and verdict.role != PRIMARY
    ]
    also = f" Whether Coral beats Dense elsewhere: {'; '.join(elsewhere)}." if elsewhere else ""
    return f"Of what was stated, {here}.{also}"


def _attribution(chapter: Chapter, metric: str) -> dict[tuple[str, str], Estimate]:
    """Coral's effects by part and effect; empty where they were not computed."""
    return {
        (entry.keys["part"], entry.keys["effect"]): entry.value
        for entry in _entries(chapter, "attribution")
        if entry.keys["metric"] == metric
        and entry.more["method"] == "coral"
        and isinstance(entry.value, Estimate)
    }


def _ablations(chapter: Chapter, metric: str) -> Iterator[Entry]:
    """Coral against its standing ablations, besides the parts that the attribution tells of."""
    told = (NO_HEIRS, NO_CALC, NO_IMMUNE)
    labels = {
        label
        for cell, label in standing_rows().items()
        if cell.method == "coral" and cell not in told
    }
    for entry in _entries(chapter, "comparisons"):
        keys = entry.keys
        if ABLATED in keys["family"] and keys["metric"] == metric and keys["against"] in labels:
            yield entry


def _entries(chapter: Chapter, name: str) -> list[Entry]:
    return [
        entry
        for section in chapter.sections.values()
        if isinstance(section, Section) and section.name == name
        for entry in section.entries
    ]


def _negative(cost: Estimate) -> Estimate:
    return Estimate(-cost.value, -cost.high, -cost.low, cost.n)


def _interval(verdict: Verdict) -> str:
    n = verdict.numbers
    return (
        f"95% interval {_ends(Estimate(n['difference'], n['ci_low'], n['ci_high'], int(n['n'])))}"
    )


def _ends(estimate: Estimate) -> str:
    low, high = (round(100 * end, 1) + 0.0 for end in (estimate.low, estimate.high))
    return f"{low:.1f} to {high:.1f}"


def _points(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:+.1f}"
