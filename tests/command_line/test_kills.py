"""A sweep that is killed at any instant is, once it is through, as if nothing had happened."""

from __future__ import annotations

import pytest

from killed_sweep import MOMENTS, kill_at, kill_at_random, same, undisturbed
from workspace import Workspace


@pytest.mark.parametrize(
    "kills", [5, pytest.param(30, marks=pytest.mark.soak)], ids=["five", "thirty"]
)
def test_a_killed_sweep_loses_nothing(tmp_path, kills):
    whole, killed = (_workspace(tmp_path / name) for name in ("whole", "killed"))
    seconds = undisturbed(whole)
    for moment in MOMENTS:
        kill_at(killed, moment)
    after = kill_at_random(killed, kills - len(MOMENTS), seconds, seed=kills)
    print(f"killed at {len(MOMENTS)} moments and after", *(f"{one:.1f}" for one in after), "s")
    undisturbed(killed)
    same(killed, whole)


def _workspace(folder):
    """With a cache of vectors of its own."""
    folder.mkdir()
    return Workspace(folder, folder / "cache")
