"""Which pairs of cells share one adjustment: methods against anchors, a method against its ablations."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engram_hydra.report.ablation_table import CORAL, ORACLE, TIES_NEWEST
from engram_hydra.report.estimates import Cell
from engram_hydra.report.pair_tests import Pair

BM25, DENSE, TIDE = Cell("bm25"), Cell("dense"), Cell("tide")
ANCHORS = (TIDE, DENSE, BM25)
RANDOM = Cell("random")
ANCHORED, ABLATED = "methods against anchors", "against its ablations"
_IN_NONE = (ORACLE, RANDOM)  # a ceiling and a floor, which are no memories to choose between
_BETWEEN_PARTS = "+"  # in the name of an ablation that switches off several


def families(ran: Collection[Cell], labels: Mapping[Cell, str]) -> dict[str, list[Pair]]:
    """The pairs of each exploratory family, by what it is called; ``labels`` names the rows.

    Methods with all their parts meet the anchors, which meet one another once. Each method's
    ablations, one part off, meet their whole in a family of that method alone: what else is in the
    store changes no p in it. Random ranking, oracle, audit runs, variants and ablations of several
    parts (the attribution's) are in no family. A pair of which neither side was ``ran`` is absent,
    and so is a method, other than an anchor, of which nothing was.
    """
    methods = {cell.method for cell in (*ran, *ANCHORS)}
    rows = [
        cell
        for cell in labels
        if cell.method in methods and not (cell.variant or cell.audit or cell in _IN_NONE)
    ]
    pairs: dict[str, list[Pair]] = {
        ANCHORED: [
            (row, anchor)
            for row in rows
            for anchor in ANCHORS
            if row.ablation == "none"
            and (row not in ANCHORS or ANCHORS.index(row) < ANCHORS.index(anchor))
        ]
    }
    for row in rows:
        if is_one_part_off(row):
            whole = Cell(row.method)
            pairs.setdefault(f"{whole_name(labels, whole)} {ABLATED}", []).append((whole, row))
    return {
        words: [pair for pair in of_family if any(cell in ran for cell in pair)]
        for words, of_family in pairs.items()
    }


def is_one_part_off(cell: Cell) -> bool:
    return cell.ablation != "none" and _BETWEEN_PARTS not in cell.ablation


def whole_name(labels: Mapping[Cell, str], whole: Cell) -> str:
    """What a method with all its parts is called beside its ablations."""
    return "Coral" if whole == CORAL else labels.get(whole, whole.method)


def ties_newest(pair: Pair) -> Pair:
    """The pair with BM25's other tie rule in BM25's place."""
    a, b = (cell._replace(variant=TIES_NEWEST) if cell == BM25 else cell for cell in pair)
    return a, b
