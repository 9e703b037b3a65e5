"""Which runs stand in a table, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engram_hydra.errors import ConfigError
from engram_hydra.report.cells import BAD_SEED, UNTOLD, CellKey, Run, Selection, select

OTHER_SHA = "b" * 64


def chosen(runs: list[Run], **changes: Any) -> Selection:
    wanted = {"dataset": "fc_sh_6k", "data_sha256": None, "k": 10, "reader": "newest"}
    return select(runs, **{**wanted, "embedder": "minilm", **changes})


def test_newest_complete_run_of_a_cell(make_run: Callable[..., Run]) -> None:
    runs = [
        make_run(seed=0, run_id="old", started=1),
        make_run(seed=0, run_id="new", started=3),
        make_run(seed=0, run_id="killed", started=4, complete=""),
        make_run(seed=1, run_id="other-seed", started=2),
        make_run(ablation="no_heirs", seed=0, run_id="ablation"),
        make_run(seed=0, run_id="variant", variant="curve"),
    ]
    for order in (runs, runs[::-1]):
        selection = chosen(order)
        assert {key: run.run_id for key, run in selection.cells.items()} == {
            CellKey("coral", "none", "", "0"): "new",
            CellKey("coral", "none", "", "1"): "other-seed",
            CellKey("coral", "no_heirs", "", "0"): "ablation",
            CellKey("coral", "none", "curve", "0"): "variant",
        }
        reasons = {run.run_id: reason for run, reason in selection.left_out}
        assert reasons == {"old": "superseded by new", "killed": "incomplete"}


@pytest.mark.parametrize(
    ("tags", "reason"),
    [
        ({"complete": "false"}, "incomplete"),
        ({"exploratory": "true"}, "exploratory"),
        ({"audit": "true"}, "audit without a rule"),
        *(({"seed": seed}, BAD_SEED) for seed in ("one", "", "-1", "²", "1.5", "9" * 5000)),
        ({"k": "5"}, "other k"),
        ({"reader": "none"}, "other reader"),
        ({"embedder": "bge_small"}, "other embedder"),
    ],
)
def test_left_out(make_run: Callable[..., Run], tags: dict[str, str], reason: str) -> None:
    selection = chosen([make_run("dense", run_id="left", **tags), make_run("tide", audit="false")])
    assert [key.method for key in selection.cells] == ["tide"]
    assert [(run.run_id, why) for run, why in selection.left_out] == [("left", reason)]


def test_a_dirty_tree_is_left_out_unless_asked_for(make_run: Callable[..., Run]) -> None:
    """Where it is not known whether the tree was dirty, the run counts as any other."""
    runs = [
        make_run("dense", git_dirty="false", run_id="clean", started=1),
        make_run("dense", git_dirty="true", run_id="dirty", started=2),
        make_run("tide", git_dirty="", run_id="installed"),
        make_run("bm25", run_id="untold"),
    ]
    selection = chosen(runs)
    assert {run.run_id for run in selection.cells.values()} == {"clean", "installed", "untold"}
    assert [(run.run_id, why) for run, why in selection.left_out] == [("dirty", "dirty tree")]
    taken = chosen(runs, take_dirty=True)
    assert {run.run_id for run in taken.cells.values()} == {"dirty", "installed", "untold"}
    assert [(run.run_id, why) for run, why in taken.left_out] == [("clean", "superseded by dirty")]


def test_the_same_run_with_other_results_is_told(make_run: Callable[..., Run]) -> None:
    def remarks(older: list[float], newer: list[float], keys: tuple[str, str]) -> list[str]:
        runs = [
            make_run(
                seed=0,
                run_id=run_id,
                started=started,
                columns={"answer_in_top_1": column, "answer_in_top_10": [1.0, 1.0]},
                also={"write_seconds": float(started)},
                run_key=key,
            )
            for started, (run_id, column, key) in enumerate(
                [("old", older, keys[0]), ("new", newer, keys[1])]
            )
        ]
        for order in (runs, runs[::-1]):
            selection = chosen(order)
            assert [why for _, why in selection.left_out] == ["superseded by new"]
            assert {run.run_id for run, _ in selection.remarks} <= {"new"}
        return [text for _, text in selection.remarks]

    same = ("k", "k")
    [told] = remarks([1.0, 0.0], [1.0, 1.0], same)
    assert told.startswith("differs from old that it supersedes: answer_in_top_1 1, was 0.5")
    assert remarks([1.0, 0.0], [1.0, 0.0], same) == []  # the time to write is another
    assert remarks([1.0, 0.0], [1.0, 1e-12], same) == []
    assert len(remarks([1.0, 0.0], [1.0, 1e-8], same)) == 1
    assert remarks([1.0, 0.0], [1.0, 1.0], ("k", "other")) == []
    assert remarks([1.0, 0.0], [1.0, 1.0], ("", "")) == []


@pytest.mark.parametrize(
    ("tags", "what"),
    [
        ({"code_sha256": "c"}, "code"),
        ({"data_sha256": OTHER_SHA}, "data"),
        ({"method_sha256": "m"}, "constants or own code of the method"),
        ({"code_sha256": "c", "data_sha256": OTHER_SHA}, "code and data"),
        ({}, UNTOLD),
    ],
)
def test_a_changed_result_is_told_with_what_changed(
    make_run: Callable[..., Run], tags: dict[str, str], what: str
) -> None:
    """It is no remark, since the two need not agree; what agrees or stands in no cell is not told."""

    def changed(column: list[float], **also: Any) -> list[tuple[str, str, str, str]]:
        runs = [
            make_run("dense", run_id="new", started=2, run_key="a", data_sha256="a" * 64),
            make_run(
                "dense",
                **{"run_id": "old", "run_key": "b", **tags, **also},
                columns={"answer_in_top_1": column},
            ),
        ]
        selection = chosen(runs, data_sha256="a" * 64)
        assert selection.remarks == [] and len(selection.left_out) == 1
        return [(run.run_id, taken.run_id, *rest) for run, taken, *rest in selection.changed]

    assert changed([1.0, 1.0]) == [("old", "new", what, "answer_in_top_1 0.5, was 1")]
    assert changed([1.0, 0.0]) == []
    assert changed([1.0, 1.0], complete="") == []


def test_a_metric_that_only_one_of_them_logged_is_told(make_run: Callable[..., Run]) -> None:
    more = {"answer_in_top_1": [1.0, 0.0], "answer_in_top_5": [1.0, 1.0]}
    runs = [
        make_run(seed=0, run_id="old", started=1, columns=more, run_key="k"),
        make_run(seed=0, run_id="new", started=2, run_key="k"),
    ]
    [(run, told)] = chosen(runs).remarks
    assert run.run_id == "new"
    assert told == "differs from old that it supersedes: answer_in_top_5 not logged, was 1"


def test_other_data_sets_are_passed_over_in_silence(make_run: Callable[..., Run]) -> None:
    selection = chosen([make_run(dataset="fc_mh_6k", data_sha256=OTHER_SHA)])
    assert selection == Selection({}, [])


def test_a_method_without_vectors_goes_with_any_embedder(make_run: Callable[..., Run]) -> None:
    runs = [make_run("bm25"), make_run("dense"), make_run("dense", embedder="bge_small")]
    for embedder in ("minilm", "bge_small"):
        cells = chosen(runs, embedder=embedder).cells
        assert {key.method for key in cells} == {"bm25", "dense"}
        [dense] = [run for key, run in cells.items() if key.method == "dense"]
        assert dense.tags["engram.embedder"] == embedder


def test_versions_of_the_data_are_never_mixed(make_run: Callable[..., Run]) -> None:
    runs = [make_run("bm25"), make_run("tide", data_sha256=OTHER_SHA)]
    with pytest.raises(ConfigError, match=f"{'a' * 64}, {OTHER_SHA}"):
        chosen(runs)
    selection = chosen(runs, data_sha256=OTHER_SHA)
    assert [key.method for key in selection.cells] == ["tide"]
    assert [reason for _, reason in selection.left_out] == ["other data hash"]


def test_runs_of_one_method_share_its_constants_and_code(make_run: Callable[..., Run]) -> None:
    """The newest decides, whatever its seed and ablation; variants and other methods don't."""
    runs = [
        make_run(seed=0, started=1, method_sha256="old"),
        make_run(ablation="no_heirs", seed=0, started=2, method_sha256="old"),
        make_run(seed=1, started=3, method_sha256="new"),
        make_run(ablation="no_heirs", seed=1, started=4, method_sha256="new"),
        make_run("bm25", started=1, method_sha256="of bm25"),
        make_run("bm25", variant="bm25_ties_newest", run_id="v", started=5, method_sha256="of v"),
        make_run("tide", started=9, complete="false", method_sha256="unfit", run_id="unfit"),
        make_run("tide", started=1, method_sha256="of tide"),
    ]
    for order in (runs, runs[::-1]):
        selection = chosen(order)
        assert {run.run_id for run in selection.cells.values()} == {
            "coral.none.1",
            "coral.no_heirs.1",
            "bm25.none.deterministic",
            "v",
            "tide.none.deterministic",
        }
        reasons = {run.run_id: reason for run, reason in selection.left_out}
        older = "older constants or code of the method"
        assert reasons == {"coral.none.0": older, "coral.no_heirs.0": older, "unfit": "incomplete"}


def test_audit_runs_are_cells_of_their_own(make_run: Callable[..., Run]) -> None:
    """They supersede nothing else, and neither their age nor their data decides for the others."""
    audit = {"audit": "true", "method_sha256": "of the audit"}
    runs = [
        make_run("dense", run_id="plain run", started=1, method_sha256="shipped"),
        make_run("dense", audit_rule="plain", run_id="audit", started=5, **audit),
        make_run("dense", audit_rule="own_score", run_id="pool", started=4, **audit),
        make_run("dense", audit_rule="own_score", run_id="older", started=3, **audit),
        make_run("dense", audit_rule="plain", run_id="x", data_sha256=OTHER_SHA, **audit),
    ]
    for order in (runs, runs[::-1]):
        selection = chosen(order)
        assert {key: run.run_id for key, run in selection.cells.items()} == {
            CellKey("dense", "none", "", "deterministic"): "plain run",
            CellKey("dense", "none", "", "deterministic", "plain"): "audit",
            CellKey("dense", "none", "", "deterministic", "own_score"): "pool",
        }
        assert {run.run_id: reason for run, reason in selection.left_out} == {
            "older": "superseded by pool",
            "x": "other data hash",
        }


def test_a_declared_variant_of_the_data_is_a_version_of_its_own(
    make_run: Callable[..., Run],
) -> None:
    runs = [
        make_run("bm25", run_id="whole"),
        make_run("bm25", variant="strip", run_id="new", started=2, data_sha256=OTHER_SHA),
        make_run("tide", variant="strip", run_id="old", started=1, data_sha256="c" * 64),
        make_run("tide", variant="w", run_id="w", data_sha256=OTHER_SHA),
    ]
    for order in (runs, runs[::-1]):
        selection = chosen(order, data_variants={"strip"})
        assert {run.run_id for run in selection.cells.values()} == {"whole", "new"}
        reasons = {run.run_id: reason for run, reason in selection.left_out}
        assert reasons == dict.fromkeys(("old", "w"), "other data hash")
    alone = chosen(runs[1:3], data_variants={"strip"})
    assert [run.run_id for run in alone.cells.values()] == ["new"]


def test_unfit_runs_raise_no_question_of_versions(make_run: Callable[..., Run]) -> None:
    unfit = [
        make_run("tide", data_sha256=OTHER_SHA, exploratory="true"),
        make_run("tide", data_sha256=OTHER_SHA, complete="false"),
        make_run("bm25", data_sha256=OTHER_SHA, variant="serial_strip"),
    ]
    selection = chosen([make_run("bm25"), *unfit])
    assert [key.method for key in selection.cells] == ["bm25"]
    assert len(selection.left_out) == 3


def test_a_model_stands_for_itself_at_its_endpoint_only(make_run: Callable[..., Run]) -> None:
    model = {"reader": "openai:tiny", "endpoint": "https://a.example/v1"}
    runs = [
        make_run(seed=0, run_id="same", **model),
        make_run(seed=1, run_id="elsewhere", **{**model, "endpoint": "https://b.example/v1"}),
        make_run(seed=2, run_id="rule"),
    ]
    selection = chosen(runs, **model)
    assert [run.run_id for run in selection.cells.values()] == ["same"]
    reasons = {run.run_id: reason for run, reason in selection.left_out}
    assert reasons == {"elsewhere": "other endpoint", "rule": "other reader"}


def test_what_a_run_has_not_goes_with_any(make_run: Callable[..., Run]) -> None:
    runs = [
        make_run("bm25", embedder="none", overflow="none", reader="n/a"),
        make_run("dense", overflow="chunk", reader="n/a"),
        make_run("tide", reader="n/a"),
    ]
    selection = chosen(runs, overflow="chunk", reader="openai:tiny", endpoint="https://a.example")
    assert sorted(key.method for key in selection.cells) == ["bm25", "dense"]
    assert [reason for _, reason in selection.left_out] == ["other overflow"]
