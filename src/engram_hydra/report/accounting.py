"""What a table expected, found, took and ignored, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engram_hydra.report.ablation_table import standing_rows
from engram_hydra.report.cells import (
    BAD_SEED,
    DIRTY,
    INCOMPLETE,
    OTHER_DATA,
    OTHER_METHOD,
    CellKey,
    Selection,
    is_dirty,
    key_of,
)
from engram_hydra.report.document import Block, Bullets, Heading
from engram_hydra.report.estimates import Cell, seed_list

SHOWN_IDS = 3
OLDER_REPEATS = "older repeats"  # of a run that stands in the table
FOR_DIRTY = "No commit holds the code of a dirty tree: commit and run again, or set dirty=take."
MENDED_BY_A_RERUN = (INCOMPLETE, DIRTY, OTHER_DATA, OTHER_METHOD, BAD_SEED)


@dataclass(frozen=True)
class Accounting:
    """The runs of one data set: ``found`` is what was taken and what was ignored, together.

    ``expected`` counts the runs that the standing rows need; ``missing`` has the seeds that they lack,
    by the row's name. ``ignored`` has run ids by reason, a superseded run's with the id of the newer.
    ``unshown`` are runs taken that stand in no row, by variant. ``remarks`` are on runs taken,
    and ``changed`` has those ignored that gave other results for a cell, by what they differ in.
    ``problems`` are what a report that must be whole may not have, each a sentence.
    """

    dataset: str
    expected: int
    missing: Mapping[str, Sequence[str]]
    found: int
    taken: int
    dirty: Sequence[str]
    ignored: Mapping[str, Sequence[str]]
    unshown: Mapping[str, Sequence[str]]
    remarks: Sequence[str]
    changed: Mapping[str, Sequence[str]]
    problems: Sequence[str]


def account(
    dataset: str,
    selection: Selection,
    expected: Mapping[Cell, Sequence[str]],
    shown_variants: Collection[str],
) -> Accounting:
    """Hold a selection against the seeds ``expected`` of each standing cell.

    ``shown_variants`` are the declared variants that stand in a row or a section. A run that was
    ignored for what a rerun mends is a problem unless another run fills its cell.
    """
    missing = _missing(selection, expected)
    ignored: dict[str, list[str]] = defaultdict(list)
    stuck: dict[str, list[str]] = defaultdict(list)
    for run, reason in selection.left_out:
        kind, _, newer = reason.partition(" by ")
        kind = OLDER_REPEATS if newer else kind
        ignored[kind].append(run.run_id[:8] + (f" superseded by {newer[:8]}" if newer else ""))
        if kind in MENDED_BY_A_RERUN and key_of(run) not in selection.cells:
            stuck[kind].append(run.run_id[:8])
    unshown: dict[str, list[str]] = defaultdict(list)
    for key, run in selection.cells.items():
        if key.variant and key.variant not in shown_variants:
            unshown[key.variant].append(run.run_id[:8])
    changed: dict[str, list[str]] = defaultdict(list)
    for run, taken, what, results in selection.changed:
        changed[what].append(f"{taken.run_id[:8]} in place of {run.run_id[:8]}: {results}")
    remarks = [f"{run.run_id} {text}" for run, text in selection.remarks]
    problems = [f"{row}, seed {seed_list(seeds)}, not run" for row, seeds in missing.items()]
    problems += [f"{reason}: {_some(ids)}" for reason, ids in sorted(stuck.items())]
    return Accounting(
        dataset,
        sum(map(len, expected.values())),
        missing,
        len(selection.cells) + len(selection.left_out),
        len(selection.cells),
        [run.run_id[:8] for run in selection.cells.values() if is_dirty(run)],
        dict(sorted(ignored.items())),
        dict(sorted(unshown.items())),
        remarks,
        dict(sorted(changed.items())),
        [f"{dataset}: {problem}" for problem in (*problems, *remarks)],
    )


def accounting_blocks(told: Accounting) -> list[Block]:
    """The account in a few lines; of many ids the first few."""
    lacking = sum(map(len, told.missing.values()))
    ignored = sum(map(len, told.ignored.values()))
    items = [
        f"Expected: {told.expected} runs for the standing rows, of which"
        f" {told.expected - lacking} are there and {lacking} missing"
        + (f" ({_lacking(told.missing)})." if lacking else "."),
        f"Found: {told.found} runs on this data set; taken {told.taken}, ignored {ignored}.",
    ]
    items += [
        f"Ignored, {reason}: {len(ids)} ({_some(ids)})" for reason, ids in told.ignored.items()
    ]
    if DIRTY in told.ignored:
        items.append(FOR_DIRTY)
    if told.dirty:
        items.append(
            f"Taken from a dirty tree, whose code no commit holds: {len(told.dirty)}"
            f" ({_some(told.dirty)})"
        )
    items += [
        f"Taken, variant {variant}, in no row here: {len(ids)} ({_some(ids)})"
        for variant, ids in told.unshown.items()
    ]
    items += [f"Run {remark}" for remark in told.remarks]
    items += [
        f"Other results for a cell than the run taken, where {what} changed: {len(texts)}"
        f" ({_some(texts, '; ')})"
        for what, texts in told.changed.items()
    ]
    return [Heading("Runs: expected, found, taken, ignored", 2), Bullets(items)]


def _missing(
    selection: Selection, expected: Mapping[Cell, Sequence[str]]
) -> dict[str, Sequence[str]]:
    labels = standing_rows()
    missing: dict[str, Sequence[str]] = {}
    for cell, seeds in expected.items():
        lacking = [seed for seed in seeds if _key(cell, seed) not in selection.cells]
        if lacking:
            missing[labels[cell]] = lacking
    return missing


def _key(cell: Cell, seed: str) -> CellKey:
    return CellKey(cell.method, cell.ablation, cell.variant, seed, cell.audit)


def _lacking(missing: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{row}: {seed_list(seeds)}" for row, seeds in missing.items())


def _some(ids: Sequence[str], between: str = ", ") -> str:
    """The first few; runs.json has them all."""
    more = len(ids) - SHOWN_IDS
    return between.join(ids[:SHOWN_IDS]) + (f" and {more} more, see runs.json" if more > 0 else "")
