"""The grid of the sensitivity check, read from the declared variants."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engram_hydra.conf_dir import conf_dir
from engram_hydra.report.variants import Change, changes


def test_factor() -> None:
    def factor(value: object, shipped: object) -> str:
        return Change("v", "coral", "c", value, shipped).factor

    assert factor(32.0, 64.0) == "half"
    assert factor(6, 3) == "double"
    assert factor(2, 3) == "x0.667"
    assert factor(0.0, 0.2) == "x0"
    assert factor("strip", "keep") == ""


def test_every_constant_of_the_grid_is_there() -> None:
    found = changes({"name": "fc_sh_6k", "serial": "keep"})
    of_coral = {(c.constant, c.factor) for c in found if c.method == "coral"}
    for constant in ("outlier_z", "settling_exponent", "calcified_score", "min_reef_size"):
        assert {(constant, "half"), (constant, "double")} <= of_coral
    assert [c.value for c in found if (c.method, c.constant) == ("tide", "w")] == [
        0,
        0.05,
        0.1,
        0.4,
    ]
    [data] = [c for c in found if not c.method]
    assert data == Change("serial_strip", "", "serial", "strip", "keep")
    # Coral's come first, in the order of their file, and by value.
    assert [c.label for c in found][:2] == ["settling_exponent 32.0", "settling_exponent 128.0"]
    assert [c.method for c in found] == sorted(
        (c.method for c in found), key=["coral", "tide", ""].index
    )


def test_what_is_no_constant_of_these_is_passed_over() -> None:
    names = {change.variant for change in changes({"name": "synthetic", "facts": 450})}
    assert not names & {"bm25_ties_newest", "index_hnsw", "serial_strip"}


def test_a_variant_of_two_values_is_no_single_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(Path(conf_dir()) / "method", tmp_path / "method")
    (tmp_path / "variant").mkdir()
    override = "defaults: [{override /method: tide}]\n"
    for name, values in (("one", "{w: 0.3}"), ("two", "{w: 0.3, half_life: 1.0}")):
        (tmp_path / "variant" / f"{name}.yaml").write_text(f"{override}method: {values}\n")
    monkeypatch.setattr("engram_hydra.report.variants.conf_dir", lambda: str(tmp_path))
    assert [change.variant for change in changes({})] == ["one"]
