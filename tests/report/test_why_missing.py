"""What is not selected or ignored is not called not run, and commands carry the selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engram_hydra.report.ablation_table import cells_of_rows
from engram_hydra.report.cells import Run, Selection, select
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.verdicts import verdicts
from engram_hydra.report.why_missing import how_to_get, overrides, rows_missing, why_missing
from made_up_cells import BASE, FC, STATED, made

Make = Callable[..., Run]
CORAL, DENSE = Cell("coral"), Cell("dense")


def chosen(runs: list[Run], **changes: Any) -> Selection:
    wanted = {"dataset": FC, "data_sha256": None, "k": 10, "reader": "newest"}
    return select(runs, **{**wanted, "embedder": "minilm", **changes})


@pytest.mark.parametrize(
    ("tags", "why"),
    [
        ({"k": "5"}, "ignored: other k"),
        ({"embedder": "bge_small"}, "ignored: other embedder"),
        ({"reader": "none"}, "ignored: other reader"),
        ({"git_dirty": "true"}, "ignored: dirty tree"),
        ({"exploratory": "true"}, ""),
        ({"variant": "tide_w"}, ""),
        ({}, ""),
    ],
)
def test_why_a_cell_has_no_run(make_run: Make, tags: dict[str, str], why: str) -> None:
    selection = chosen([make_run("dense", **tags), make_run(seed=0), make_run(seed=0, k="5")])
    assert why_missing(selection, DENSE) == why
    assert why_missing(selection, CORAL) == ""
    assert why_missing(replace(selection, chosen=False), CORAL) == "not selected"


def test_rows_by_reason(make_run: Make) -> None:
    selection = chosen([make_run("dense", k="5"), make_run("coral", "no_calc", 0, k="5")])
    rows = {**dict.fromkeys(("Tide", "Dense", "heirs alone")), "a row of one's own": ()}
    rows = {label: cells_of_rows().get(label, ()) for label in rows}
    said = rows_missing(rows, selection)
    assert said == "Not run: Tide; a row of one's own. Ignored (other k): Dense; heirs alone."


def test_commands_carry_what_is_not_as_usual() -> None:
    assert overrides(Selection({}, [])) == overrides(chosen([])) == ""
    other = {"k": 5, "embedder": "bge_small", "overflow": "chunk"}
    model = {"reader": "openai:tiny", "endpoint": "http://localhost:1/v1"}
    said = " k=5 embedder=bge_small embedder.overflow=chunk"
    assert overrides(chosen([], **other)) == said
    asked = f"{said} reader=openai reader.model=tiny reader.base_url=http://localhost:1/v1"
    assert overrides(chosen([], **other, **model)) == asked
    assert overrides(chosen([], **other, **model), reader=False) == said


def test_sets_without_runs(make_run: Make) -> None:
    estimators = {
        "a": Estimator(replace(chosen([], k=5), chosen=False)),
        FC: Estimator(chosen([make_run()], k=5)),
        "run": Estimator(chosen([make_run(), make_run(k="5", run_id="other")])),
    }
    assert how_to_get(estimators, ["a", FC, "run", "b", "c"]) == (
        "not selected: a; ignored: fc_sh_6k (other k); not run: b, c "
        "(python -m engram_hydra +experiment=anchors dataset=b,c k=5; likewise +experiment=ablations)"
    )


def test_verdicts_say_why_they_are_not_decided(make_run: Make) -> None:
    def h1(selection: Selection) -> tuple[str, str, str]:
        found = verdicts({FC: Estimator(selection)}, STATED)[0]
        return found.outcome, found.word, found.why

    runs = made(make_run, BASE)
    outcome, word, why = h1(chosen(runs, k=5))
    assert (outcome, word) == ("not run", "ignored: other k")
    assert "coral (ignored: other k), dense (ignored: other k)" in why
    assert "+experiment=anchors dataset=fc_sh_6k k=5" in why
    outcome, word, why = h1(replace(chosen([]), chosen=False))
    assert (outcome, word) == ("not run", "not selected")
    assert why.startswith("fc_sh_6k is not among datasets=") and "+experiment" not in why
    assert h1(chosen([]))[1] == "not run"
    killed = make_run(seed=3, complete="")
    lacking = [run for run in runs if run.run_id != "coral.none.3"]
    assert h1(chosen([*lacking, killed]))[1] == "ignored: incomplete"
    assert h1(chosen(lacking))[1] == "not run"
