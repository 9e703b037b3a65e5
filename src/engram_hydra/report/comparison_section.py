"""The paired comparisons as people read them, and every number behind them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engram_hydra.report.ablation_table import CORAL
from engram_hydra.report.comparisons import IDENTICAL, Comparison
from engram_hydra.report.document import Block, Bullets, Detail, Grid, Heading, Paragraph
from engram_hydra.report.estimates import NOT_RUN, Estimate, Spread, points
from engram_hydra.report.families import ABLATED, ANCHORED, whole_name
from engram_hydra.report.pair_tests import PER_SEED, p_text
from engram_hydra.report.section import Entry, Section, grouped


def comparison_section(found: Sequence[Comparison], aside: Collection[str] = ()) -> Section | None:
    """A grid for each family, and every number behind it; None where no pair could be compared.

    Families of the metrics ``aside`` are folded.
    """
    if not any(isinstance(one.difference, Estimate) for one in found):
        return None
    blocks: list[Block] = [
        Heading("Paired comparisons", 2),
        Paragraph(
            "Row minus the other, in points, on the same questions, with unadjusted 95% intervals. "
            "Holm's p is adjusted within its family, which the heading names and counts: all methods "
            "with all their parts against the anchors, and each method against its ablations, one part "
            "off; with BM25's ties newest, these stand in the family in place of its ties oldest. Better "
            "or worse needs both: an interval without 0 and Holm's p below .05; undecided (ties) is what "
            "the two tie rules do not agree on. Least: the smallest difference that these questions would "
            "show at 80% power. Exploratory: the verdicts above decide what was stated before running. "
            "Random ranking, oracle, audit runs and ablations of several parts are in no family."
        ),
    ]
    names = dict.fromkeys(one.family for one in found)
    for family in sorted(names, key=lambda name: not name.endswith(ANCHORED)):
        blocks += _family(family, [one for one in found if one.family == family], aside)
    return Section("comparisons", blocks, [_entry(one) for one in found])


def _family(family: str, members: Sequence[Comparison], aside: Collection[str]) -> list[Block]:
    """A family's grid; folded where it decides nothing, as is Coral's, of which verdicts tell.

    Pairs against the same with the same numbers stand in one line. What each seed says by itself
    stands in the CSV only.
    """
    untested: list[Comparison] = []
    lines: dict[tuple[str, ...], list[str]] = {}
    for one in members:
        if isinstance(one.difference, str) or one.p is None or one.p_holm is None:
            untested.append(one)
            continue
        numbers = (p_text(one.p), p_text(one.p_holm), one.outcome, _size(one.detectable))
        lines.setdefault((one.against, points(one.difference), *numbers), []).append(one.row)
    size = members[0].family_size
    tests = "1 test" if size == 1 else f"{size} tests"
    title = f"{family}, {tests}"
    blocks: list[Block] = []
    if lines:
        header = ("row - other", "points [95%]", "p", "Holm p", "outcome", "least")
        rows = [(f"{'; '.join(of)} - {other}", *rest) for (other, *rest), of in lines.items()]
        blocks.append(Grid(header, rows))
    notes = grouped({_pair(one): _told(one) for one in members if one not in untested})
    absent = [note for one in untested if one.outcome == NOT_RUN for note in one.notes]
    if absent:
        notes.append(f"in no test here: {', '.join(dict.fromkeys(absent))}")
    notes += grouped(
        {
            _pair(one): one.notes or ["not compared: one of the two did not log it"]
            for one in untested
            if one.outcome != NOT_RUN
        }
    )
    blocks += [Bullets(notes)] if notes else []
    if family.endswith(f": {whole_name({}, CORAL)} {ABLATED}") or members[0].metric in aside:
        return [Detail(title, blocks, ["comparisons.csv"])]
    return [Heading(title, 3), *blocks]


def _told(one: Comparison) -> list[str]:
    """Its notes, without those on single seeds and what the outcome says already."""
    said = (PER_SEED, "identical on") if one.outcome == IDENTICAL else (PER_SEED,)
    return [note for note in one.notes if not note.startswith(said)]


def _entry(one: Comparison) -> Entry:
    return Entry(
        {"family": one.family, "metric": one.metric, "row": one.row, "against": one.against},
        one.difference,
        Spread(one.seeds),
        one.notes,
        {
            "family_size": one.family_size,
            "test": one.test,
            "p": one.p,
            "p_holm": one.p_holm,
            "outcome": one.outcome,
            "ci90_low": one.narrow and one.narrow[0],
            "ci90_high": one.narrow and one.narrow[1],
            "detectable": one.detectable,
            "saturated": one.saturated,
        },
    )


def _pair(one: Comparison) -> str:
    return f"{one.row} - {one.against}"


def _size(fraction: float | None) -> str:
    """A size of a difference in points, without a sign."""
    return "" if fraction is None else f"{100 * fraction:.1f}"
