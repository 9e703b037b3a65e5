"""Which seeds each standing row needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from omegaconf import DictConfig

from engram_hydra.report.ablation_table import NO_IMMUNE, ORACLE, standing_rows
from engram_hydra.report.cells import DETERMINISTIC
from engram_hydra.report.estimates import Cell
from engram_hydra.report.expected import expected_seeds
from engram_hydra.run_key import seed_of


def test_a_row_is_seeded_just_if_its_runs_are(compose: Callable[..., DictConfig]) -> None:
    expected = expected_seeds(known_conflicts=True)
    assert list(expected) == list(standing_rows())
    for cell, seeds in expected.items():
        variant = [f"variant={cell.variant}"] if cell.variant else []
        cfg = compose(f"method={cell.method}", f"ablation={cell.ablation}", *variant)
        assert (seeds == (DETERMINISTIC,)) == (seed_of(cfg) is None), cell


@pytest.mark.parametrize(
    ("cell", "seeds"),
    [
        (NO_IMMUNE, tuple("01234")),
        (Cell("coral", "no_settling_noise"), (DETERMINISTIC,)),
        (Cell("random"), tuple("01234")),
        (Cell("bm25"), (DETERMINISTIC,)),
    ],
)
def test_the_protocol_s_own_words(cell: Cell, seeds: tuple[str, ...]) -> None:
    assert expected_seeds(known_conflicts=True)[cell] == seeds


def test_an_oracle_is_expected_only_where_there_is_something_to_tell_it() -> None:
    told = expected_seeds(known_conflicts=True)
    assert told.keys() - expected_seeds(known_conflicts=False).keys() == {ORACLE}
