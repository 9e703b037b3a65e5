"""Attribution: what each part of a method earns, from the runs of every combination of its parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from engram_hydra.errors import ConfigError
from engram_hydra.report.ablation_tests import Tests
from engram_hydra.report.coalitions import Coalitions
from engram_hydra.report.document import Block, Bullets, Detail, Grid, Heading, Paragraph
from engram_hydra.report.estimates import Cell, Estimate, Spread, points
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.names import row_name
from engram_hydra.report.part_role import role_note
from engram_hydra.report.section import Entry, Section

MOST_PARTS = 8


@dataclass(frozen=True)
class Part:
    """What one part earns: fractions of a metric, paired by question."""

    name: str
    cost: Estimate  # what the whole loses without it
    alone: Estimate  # what it gains by itself
    main: Estimate  # what it adds, averaged over the settings of the others
    share: Estimate  # its Shapley value; the shares add up to the gain


@dataclass(frozen=True)
class Attribution:
    """The gain of the whole over the null coalition, and how the parts share it; one metric."""

    metric: str
    gain: Estimate
    parts: tuple[Part, ...]
    interactions: dict[tuple[str, str], Estimate]
    notes: tuple[str, ...]
    seeds: str  # of all combinations, as ``0-4``


def attribute(
    estimator: Estimator, coalitions: Sequence[Cell], parts: Sequence[str], metric: str
) -> Attribution | str:
    """``coalitions`` are the 2^p cells in the order of ``Coalitions``: part i is on where bit i is set.

    A sentence in its place where the metric can't be paired over all of them. Raises DataError where
    their runs saw different questions.
    """
    values, notes = estimator.paired(coalitions, metric)
    if isinstance(values, str):
        return "; ".join(notes) or f"{values}: not every combination logged it"
    effects = Coalitions(values)
    estimates = [
        Part(
            name,
            *map(Estimate.of, (effects.cost(i), effects.alone(i), effects.main_effect(i), share)),
        )
        for i, (name, share) in enumerate(zip(parts, effects.shares(), strict=True))
    ]
    return Attribution(
        metric,
        Estimate.of(effects.gain()),
        tuple(estimates),
        {
            (parts[a], parts[b]): Estimate.of(effect)
            for (a, b), effect in effects.interactions().items()
        },
        tuple(notes),
        estimator.common_seeds(coalitions, metric),
    )


def attribution_section(
    estimator: Estimator,
    metrics: Sequence[str],
    method: str,
    parts: Mapping[str, str],
    tests: Tests,
    aside: Collection[str] = (),
) -> Section | None:
    """``parts`` gives each part the ablation that switches it off. None if no combination was run.

    ``tests`` say what each part is to the whole. What concerns the metrics ``aside`` is folded.

    Dense's run stands for Coral without heirs and calcification, which equals it.

    Raises ConfigError unless there are one to eight parts, each with an ablation of its own.
    """
    if not 1 <= len(parts) <= MOST_PARTS or len({*parts.values()}) < len(parts):
        raise ConfigError(
            f"attribution.parts={','.join(parts)} can't be told apart in runs: give 1 to {MOST_PARTS} "
            "different parts."
        )
    names, off = list(parts), list(parts.values())
    name = "attribution" if method == "coral" else f"attribution_{method}"
    found = {
        frozenset(cell.ablation.split("+")) - {"none"}: cell
        for cell in estimator.cells
        if cell.method == method and not cell.variant and not cell.audit
    }
    wanted = [
        frozenset(off[i] for i in range(len(off)) if not m >> i & 1) for m in range(2 ** len(off))
    ]
    if not any(found.get(coalition) for coalition in wanted[:-1]):
        return None
    note = ""
    dense = Cell("dense")
    if method == "coral" and {"no_heirs", "no_calc"} <= wanted[0] and dense in estimator.cells:
        if wanted[0] not in found:
            note = f"{'+'.join(off)} was not run: Dense, which it equals, stands for it."
        found.setdefault(wanted[0], dense)
    missing = [_ablation(coalition, off) for coalition in wanted if coalition not in found]
    blocks: list[Block] = [
        Heading(f"Attribution: what the parts of {method} earn", 2),
        Paragraph(
            f"From all {len(wanted)} combinations of {', '.join(names)}, paired by question, in points. "
            "Cost: what the whole loses without the part. Alone: what the part gains by itself. Main "
            "effect: what it adds, averaged over the settings of the others. Share: its Shapley value, "
            "with two parts the main effect; the shares add up to the gain of the whole over the null, "
            "where all parts are off."
        ),
    ]
    if missing:
        notes = [f"missing: {', '.join(missing)}"]
        entry = Entry(_keys("", "", ""), "not run", notes=notes, more={"method": method})
        blocks.append(Paragraph(f"Not run: {method} with ablation {', '.join(missing)}."))
        return Section(name, blocks, [entry])
    if note:
        blocks.append(Paragraph(note))
    entries = []
    cells = [found[coalition] for coalition in wanted]
    for metric in metrics:
        result = attribute(estimator, cells, names, metric)
        roles = _roles(result, Cell(method), parts, tests)
        shown = _blocks(metric, result, roles)
        if metric in aside:
            shown = [Detail(f"Attribution of {metric}", shown[1:], [f"{name}.csv"])]
        blocks += shown
        entries += _entries(metric, method, result, roles)
    return Section(name, blocks, entries)


def _ablation(coalition: frozenset[str], off: Sequence[str]) -> str:
    return "+".join(name for name in off if name in coalition) or "none"


def _roles(
    result: Attribution | str, whole: Cell, off: Mapping[str, str], tests: Tests
) -> dict[str, str]:
    """What each part is to the whole, where the whole was tested without it."""
    if isinstance(result, str):
        return {}
    found = {}
    for part in result.parts:
        test = tests.get((result.metric, row_name(whole._replace(ablation=off[part.name]))))
        if test and (note := role_note(part.alone, test)):
            found[part.name] = note
    return found


def _blocks(metric: str, result: Attribution | str, roles: Mapping[str, str]) -> list[Block]:
    if isinstance(result, str):
        return [Heading(metric, 3), Paragraph(f"{result}.")]
    header = ("part", "cost in whole", "alone", "main effect", "share")
    rows = [(p.name, *map(points, (p.cost, p.alone, p.main, p.share))) for p in result.parts]
    rows.append(("whole - null", "", "", "", points(result.gain)))
    rows += [
        (f"{a} x {b}", "", "", points(effect), "") for (a, b), effect in result.interactions.items()
    ]
    notes = [f"{part}: {note}" for part, note in roles.items()]
    notes += result.notes
    blocks: list[Block] = [Heading(f"{metric}, n = {result.gain.n}", 3), Grid(header, rows)]
    return [*blocks, Bullets(notes)] if notes else blocks


def _entries(
    metric: str, method: str, result: Attribution | str, roles: Mapping[str, str]
) -> list[Entry]:
    def entry(part: str, effect: str, value: Estimate | str, notes: Sequence[str] = ()) -> Entry:
        return Entry(_keys(metric, part, effect), value, notes=notes, more={"method": method})

    if isinstance(result, str):
        return [entry("", "", "n/a", [result])]
    gain = entry("whole", "gain", result.gain, result.notes)
    entries = [replace(gain, spread=Spread(result.seeds))]
    for part in result.parts:
        why = roles.get(part.name)
        entries += [
            entry(part.name, "cost", part.cost),
            entry(part.name, "alone", part.alone, [why] if why else []),
            entry(part.name, "main effect", part.main),
            entry(part.name, "share", part.share),
        ]
    return entries + [
        entry(f"{a} x {b}", "interaction", effect) for (a, b), effect in result.interactions.items()
    ]


def _keys(metric: str, part: str, effect: str) -> dict[str, str]:
    return {"metric": metric, "part": part, "effect": effect}
