"""The names of rows."""

from __future__ import annotations

import pytest

from engram_hydra.report.estimates import Cell
from engram_hydra.report.names import row_name


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (Cell("coral"), "Coral (as shipped)"),
        (Cell("coral", "no_calc"), "no calcification"),
        (Cell("coral", "no_calc+no_heirs"), "neither heirs nor calcification"),
        (Cell("coral", "no_heirs+no_calc"), "neither heirs nor calcification"),
        (Cell("coral", "fixed_threshold"), "fixed threshold"),
        (Cell("coral", "fixed_threshold+no_calc"), "fixed threshold, no calcification"),
        (Cell("bm25", variant="bm25_ties_newest"), "BM25, ties newest"),
        (Cell("mine", "no_first_step"), "mine, no first step"),
        (Cell("mine", "no_b+no_a"), "mine, neither a nor b"),
        (Cell("heirs_only", variant="w"), "heirs only, w"),
        (Cell("dense", audit="plain"), "Dense, plain"),
    ],
)
def test_names(cell: Cell, name: str) -> None:
    assert row_name(cell) == name
