"""What earned the gain, and what each part is to the whole, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import NO_CALC, NO_HEIRS, NO_IMMUNE, standing_rows
from engram_hydra.report.ablation_tests import Tests, ablation_tests
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparisons import BETTER, IDENTICAL, NOT_SHOWN, WORSE, Comparison
from engram_hydra.report.estimates import Estimate, seed_list
from engram_hydra.report.estimator import ON_COMMON_SEEDS, SEEDS
from engram_hydra.report.finding_words import negative, with_ends
from engram_hydra.report.names import row_name
from engram_hydra.report.part_role import is_equivalent, role_note
from engram_hydra.report.section import Section

Effects = Mapping[tuple[str, str], Estimate]  # by part and effect

_OFF = {"heirs": row_name(NO_HEIRS), "calcification": row_name(NO_CALC)}


def earned(h1: str, chapter: Chapter, metric: str) -> Iterator[str]:
    """Which part has how much of the gain, where H1's outcome says that there is one."""
    where = f"on {chapter.dataset} ({metric})"
    if h1 == decide.NOT_RUN:
        return
    if h1 != decide.SUPPORTED:
        yield f"That Coral gains over Dense {where} is {h1}, so there is no gain to credit to a part."
        return
    effects = _effects(chapter, metric)
    shares = {part: value for (part, effect), value in effects.items() if effect == "share"}
    if not shares:
        yield f"Which part earned the gain {where} is not known: not every combination was run."
        return
    ranked = sorted(shares, key=lambda part: -shares[part].value)
    told = " and ".join(f"{part} {with_ends(shares[part])}" for part in ranked)
    gain = f"{100 * effects['whole', 'gain'].value:.1f}"
    some = _some_seeds(chapter, metric)
    fair = f"of the gain of {gain} points{some} {where} the fair shares (Shapley) are {told}"
    either = _either(effects, ablation_tests(chapter.compared), metric)
    yield f"{either}; {fair}." if either else f"{fair[0].upper()}{fair[1:]}."


def _either(effects: Effects, tests: Tests, metric: str) -> str:
    """That two parts stand in for each other, where each gains alone and they add up to less."""
    alone = {part: effects[part, "alone"] for part in _OFF if (part, "alone") in effects}
    interaction = next((e for (_, effect), e in effects.items() if effect == "interaction"), None)
    if len(alone) < 2 or interaction is None or interaction.high >= 0:
        return ""
    if any(estimate.low <= 0 for estimate in alone.values()):
        return ""
    other, best = sorted(alone, key=lambda part: alone[part].value)
    both = f"{100 * effects['whole', 'gain'].value:.1f}"
    against = f"{both} against {100 * alone[best].value:.1f} points"
    told = ", ".join(f"{part} {with_ends(value)}" for part, value in alone.items())
    return (
        f"Either part alone brings the gain ({told}); "
        f"{_both(tests.get((metric, _OFF[other])), best)} ({against}; interaction "
        f"{with_ends(interaction)})"
    )


def _both(without: Comparison | None, best: str) -> str:
    """How the whole compares with its best part alone, which is the whole without the other."""
    words = {BETTER: "more than", WORSE: "less than"}
    word = words.get(without.outcome, "") if without else ""
    if without and not word and is_equivalent(without):
        word = "as much as"
    if word:
        return f"both together bring {word} {best} alone"
    return f"that both together bring more or less than {best} alone is not shown"


def parts(chapter: Chapter, metric: str) -> Iterator[str]:
    """Which parts the whole needs, which are redundant or harmful, and which change nothing."""
    effects, tests = _effects(chapter, metric), ablation_tests(chapter.compared)
    said = []
    for part, label in _OFF.items():
        test, alone = tests.get((metric, label)), effects.get((part, "alone"))
        if test and alone and (note := role_note(alone, test)):
            said.append(f"{part}: {note}{_on_common_seeds(test)}")
    said += _others(metric, tests)
    if said:
        yield f"Part by part on {chapter.dataset} ({metric}): {'; '.join(said)}."


def _others(metric: str, tests: Tests) -> Iterator[str]:
    """Coral's standing ablations besides the parts that the attribution tells of."""
    told = (NO_HEIRS, NO_CALC, NO_IMMUNE)
    standing = {
        label: tests[metric, label]
        for cell, label in standing_rows().items()
        if cell.method == "coral" and cell not in told and (metric, label) in tests
    }
    for outcome, words in ((WORSE, "better"), (BETTER, "worse"), (NOT_SHOWN, "")):
        for label, test in standing.items():
            if not isinstance(test.difference, Estimate) or test.outcome != outcome:
                continue
            change = negative(test.difference)
            label += _on_common_seeds(test)
            among = f"found afterwards among {test.family_size} ablations"
            if words:
                yield f"{words} than as shipped: {label} {with_ends(change)}, {among}"
            elif not change.low <= 0 <= change.high:
                may = "better" if change.value > 0 else "worse"
                yield (
                    f"may be {may} than as shipped: {label} {with_ends(change)}, not shown after "
                    f"Holm, {among}"
                )
    same = [
        f"{label}{_on_common_seeds(test)}"
        for label, test in standing.items()
        if test.outcome == IDENTICAL
    ]
    if same:
        yield f"exactly as shipped on these questions: {', '.join(same)}"


def _on_common_seeds(test: Comparison) -> str:
    """`` (seeds 0-2,4 only)`` where the two rows have not the same seeds; else empty."""
    notes = [note for note in test.notes if note.startswith(ON_COMMON_SEEDS)]
    return f" (seeds {notes[0].removeprefix(ON_COMMON_SEEDS)})" if notes else ""


def _some_seeds(chapter: Chapter, metric: str) -> str:
    """`` (seeds 0-2,4 only)`` where the attribution has not all seeds; else empty."""
    seeds = {
        entry.spread.seeds
        for section in chapter.sections.values()
        if isinstance(section, Section) and section.name == "attribution"
        for entry in section.entries
        if entry.keys["metric"] == metric and entry.keys["part"] == "whole"
    }
    return "".join(f" (seeds {some} only)" for some in seeds - {"", "det.", seed_list(SEEDS)})


def _effects(chapter: Chapter, metric: str) -> Effects:
    """Coral's effects by part and effect; empty where they were not computed."""
    return {
        (entry.keys["part"], entry.keys["effect"]): entry.value
        for section in chapter.sections.values()
        if isinstance(section, Section) and section.name == "attribution"
        for entry in section.entries
        if entry.keys["metric"] == metric
        and entry.more["method"] == "coral"
        and isinstance(entry.value, Estimate)
    }
