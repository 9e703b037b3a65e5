"""What rows are called: each method, and each method without some of its parts."""

from __future__ import annotations

from engram_hydra.report.estimates import Cell

WHOLE = "none"
_METHODS = {
    "coral": "Coral (as shipped)",
    "tide": "Tide",
    "dense": "Dense",
    "bm25": "BM25, ties oldest",
    "random": "random ranking",
    "oracle_immune": "oracle displacement",
    "heirs_only": "heirs only",
    "mem0": "Mem0, raw mode, no LLM",
}
_VARIANTS = {
    ("bm25", "bm25_ties_newest"): "BM25, ties newest",
    ("bm25", "bm25_split_space"): "BM25, tokens split_space",
    ("coral", "index_hnsw"): "Coral, index hnsw",
    ("dense", "index_hnsw"): "Dense, index hnsw",
}
_PARTS = {
    "no_heirs": "heirs",
    "no_calc": "calcification",
    "no_immune": "immune response",
    "no_feeding": "feeding",
    "no_resistance": "resistance",
    "no_settling_noise": "settling noise",
}
_CORAL = "coral"


def row_name(cell: Cell) -> str:
    """The name of the cell's row: ``no heirs``, ``mine, no pointer``, ``neither heirs nor feeding``.

    Coral's ablations stand without its name, those of any other method with it.
    """
    if name := _VARIANTS.get((cell.method, cell.variant)):
        return name
    method = _METHODS.get(cell.method, cell.method)
    if cell.ablation == WHOLE:
        name = method
    else:
        off = without(cell.ablation)
        name = off if cell.method == _CORAL else f"{method.partition(', ')[0]}, {off}"
    return ", ".join(filter(None, (name, cell.variant, cell.audit)))


def without(ablation: str) -> str:
    """An ablation in words; of several parts ``neither … nor …``."""
    names = ablation.split("+")
    if len(names) == 1:
        return f"no {_part(ablation)}" if ablation.startswith("no_") else ablation.replace("_", " ")
    if all(name.startswith("no_") for name in names):
        return f"neither {' nor '.join(sorted(map(_part, names), key=_order))}"
    return ", ".join(map(without, names))


def _part(name: str) -> str:
    return _PARTS.get(name, name.removeprefix("no_").replace("_", " "))


def _order(part: str) -> tuple[int, str]:
    """Coral's parts in their own order, others by name."""
    known = list(_PARTS.values())
    return (known.index(part) if part in known else len(known), part)
