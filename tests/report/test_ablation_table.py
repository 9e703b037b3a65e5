"""The ablation table from made-up runs, every expected figure worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.report.ablation_table import Row, ablation_tables
from engram_hydra.report.cells import Run, select
from engram_hydra.report.estimates import Estimate, seed_list
from engram_hydra.report.estimator import Estimator

M = "answer_in_top_1"
Make = Callable[..., Run]


def rows(runs: list[Run], metric: str = M) -> dict[str, Row]:
    selection = select(
        runs, dataset="fc_sh_6k", data_sha256=None, k=10, reader="newest", embedder="minilm"
    )
    [table] = [table for table in ablation_tables(Estimator(selection)) if table.metric == metric]
    return {row.label: row for row in table.rows}


def full(make_run: Make) -> list[Run]:
    """Three questions, two seeds: means 2/3 and 1/3, per question 1, 1/2, 0."""
    return [
        make_run(seed=0, columns={M: [1, 1, 0]}),
        make_run(seed=1, columns={M: [1, 0, 0]}),
    ]


def test_order_of_rows(make_run: Make) -> None:
    runs = [
        make_run("zeta"),
        make_run("alpha", "no_sauce"),
        make_run("alpha"),
        make_run("coral", "no_calc+no_heirs"),
        make_run("bm25", variant="bm25_ties_newest"),
        make_run("tide", variant="tide_w_0"),
    ]
    assert list(rows(runs)) == [
        "Coral (as shipped)",
        "no heirs",
        "no calcification",
        "no immune response",
        "no feeding",
        "no resistance",
        "fixed threshold",
        "no settling noise",
        "heirs alone",
        "calcification alone",
        "Tide",
        "Dense",
        "BM25, ties oldest",
        "BM25, ties newest",
        "random ranking",
        "oracle displacement",
        "heirs only",
        "neither heirs nor calcification",
        "alpha",
        "alpha, no sauce",
        "zeta",
    ]
    table = rows(runs)
    assert isinstance(table["BM25, ties newest"].value, Estimate)
    assert table["BM25, ties oldest"].value == table["Tide"].value == "not run"


def test_mean_over_seeds(make_run: Make) -> None:
    row = rows(full(make_run))["Coral (as shipped)"]
    assert isinstance(row.value, Estimate)
    assert row.value.value == pytest.approx(1 / 2)
    # Resampled means of (1, 1/2, 0) have P(0) = P(1) = 1/27 > 2.5%, so the interval is all of it.
    assert (row.value.low, row.value.high, row.value.n) == (0, 1, 3)
    assert row.spread.seeds == "0-1"
    assert row.spread.sd == pytest.approx((1 / 3) / math.sqrt(2))
    assert (row.spread.low, row.spread.high) == pytest.approx((1 / 3, 2 / 3))
    assert row.notes == ("seed 2-4 not run",)


def test_cost_on_the_same_seeds(make_run: Make) -> None:
    ablated = [
        make_run("coral", "no_heirs", 0, columns={M: [1, 0, 0]}),
        make_run("coral", "no_heirs", 1, columns={M: [0, 0, 0]}),
    ]
    row = rows(full(make_run) + ablated)["no heirs"]
    # Differences 1/2, 1/2, 0: a resample is all zeros with P = 1/27 and all halves with P = 8/27.
    assert row.contrast == Estimate(pytest.approx(1 / 3), 0, 0.5, 3)  # type: ignore[arg-type]
    assert row.contrast_is == "full - no_heirs"


def test_only_common_seeds_are_paired(make_run: Make) -> None:
    ablated = [
        make_run("coral", "no_heirs", 1, columns={M: [0, 0, 0]}),
        make_run("coral", "no_heirs", 2, columns={M: [1, 1, 1]}),
    ]
    row = rows(full(make_run) + ablated)["no heirs"]
    assert isinstance(row.contrast, Estimate)
    assert row.contrast.value == pytest.approx(1 / 3)  # seed 1 alone: (1, 0, 0) - (0, 0, 0)
    assert row.notes == ("seed 0,3-4 not run", "difference on the common seeds 1 only")


def test_no_common_seed(make_run: Make) -> None:
    row = rows([*full(make_run), make_run("coral", "no_heirs", 4, columns={M: [0, 0, 0]})])[
        "no heirs"
    ]
    assert row.contrast == "n/a"
    assert "not paired: no common seed (seeds 0-1 against 4)" in row.notes


def test_deterministic_ablation_meets_the_seed_means(make_run: Make) -> None:
    ablated = make_run("coral", "no_settling_noise", columns={M: [1, 1, 1]})
    row = rows([*full(make_run), ablated])["no settling noise"]
    # 1, 1/2, 0 against 1, 1, 1: differences 0, -1/2, -1.
    assert row.contrast == Estimate(pytest.approx(-1 / 2), -1, 0, 3)  # type: ignore[arg-type]
    assert row.spread.seeds == "det."
    assert row.notes == ()


def test_what_was_not_run(make_run: Make) -> None:
    table = rows(full(make_run))
    for label in ("no heirs", "heirs alone"):
        assert table[label].contrast == "not run"
    assert table["no heirs"].value == "not run"
    assert table["no heirs"].notes == ()
    assert table["heirs alone"].value == "n/a"
    assert table["heirs alone"].notes == ("no_calc not run", "no_immune not run")
    ablated_only = rows([make_run("coral", "no_heirs", columns={M: [1, 0]})])["no heirs"]
    assert ablated_only.contrast == "not run"
    assert ablated_only.notes == ("full not run",)


def test_one_run_stands_with_its_logged_interval(make_run: Make) -> None:
    logged = {M: 0.44, f"{M}_ci_low": 0.35, f"{M}_ci_high": 0.54, f"{M}_n": 100.0}
    columns = {M: [1.0] * 44 + [0.0] * 56}
    runs = [
        make_run("dense", logged=logged, columns=columns),
        make_run("random", seed=3, logged=logged, columns=columns),
    ]
    table = rows(runs)
    for label, seeds, notes in (
        ("Dense", "det.", ()),
        ("random ranking", "3", ("seed 0-2,4 not run",)),
    ):
        assert table[label].value == Estimate(0.44, 0.35, 0.54, 100)
        assert table[label].spread.seeds == seeds
        assert table[label].spread.sd is None
        assert table[label].notes == notes


def test_a_single_run_too_is_held_to_its_per_question_file(make_run: Make) -> None:
    run = make_run("dense")
    with pytest.raises(DataError, match=r"dense.* gives 0\.5 for answer_in_top_1"):
        rows([replace(run, metrics={**run.metrics, M: 0.6})])


def test_seeds_that_agree_on_every_question_keep_the_logged_interval(make_run: Make) -> None:
    """Ones alone resampled are ones alone, as if three questions left no doubt."""
    row = rows([make_run(seed=seed, columns={M: [1, 1, 1]}) for seed in range(2)])
    # Wilson of 3 of 3: the lower end is n / (n + z²).
    low = 3 / (3 + 1.959963984540054**2)
    expected = Estimate(1.0, pytest.approx(low), 1.0, 3)  # type: ignore[arg-type]
    assert row["Coral (as shipped)"].value == expected


def test_no_difference_at_all_is_no_proof_of_none(make_run: Make) -> None:
    columns = {M: [1.0] * 60 + [0.0] * 40}
    runs = [make_run(seed=0, columns=columns), make_run("coral", "no_heirs", 0, columns=columns)]
    row = rows(runs)["no heirs"]
    assert row.contrast == Estimate(0, 0, 0, 100)
    # The rule of three: 0 of 100 leaves a rate of up to 3% at 95%.
    assert "identical on 100 questions; true rate of difference below 0.030" in row.notes
    changed = make_run("coral", "no_heirs", 0, columns={M: [1.0] * 59 + [0.0] * 41})
    assert not any("identical" in note for note in rows([runs[0], changed])["no heirs"].notes)


def test_gains_alone(make_run: Make) -> None:
    """Each part does the whole work alone, so neither is missed."""
    good, bad = [1.0] * 9 + [0.0], [0.0] * 10
    runs = [
        make_run("coral", ablation, seed, columns={M: bad if ablation == "no_immune" else good})
        for ablation in ("none", "no_heirs", "no_calc", "no_immune")
        for seed in range(5)
    ]
    table = rows(runs)
    for label, formula in (
        ("heirs alone", "no_calc - no_immune"),
        ("calcification alone", "no_heirs - no_immune"),
    ):
        row = table[label]
        assert isinstance(row.contrast, Estimate)
        assert row.contrast.value == pytest.approx(0.9)
        assert row.contrast_is == formula
    assert table["no heirs"].contrast == Estimate(0, 0, 0, 10)
    assert any("this is Dense" in note for note in table["no immune response"].notes)


def test_a_part_that_is_missed_is_not_redundant(make_run: Make) -> None:
    good, bad = [1.0] * 9 + [0.0], [0.0] * 10
    columns = {"none": good, "no_calc": good, "no_heirs": bad, "no_immune": bad}
    runs = [make_run("coral", name, columns={M: values}) for name, values in columns.items()]
    table = rows(runs)
    assert table["heirs alone"].notes == ()
    assert not any("redundant" in note for note in table["calcification alone"].notes)


def test_a_part_that_harms_the_whole_is_not_redundant(make_run: Make) -> None:
    good, bad = [1.0] * 18 + [0.0] * 2, [0.0] * 20
    some = [1.0] * 9 + [0.0] * 11
    columns = {"none": some, "no_calc": good, "no_heirs": good, "no_immune": bad}
    table = rows([make_run("coral", name, columns={M: values}) for name, values in columns.items()])
    cost = table["no heirs"].contrast
    assert isinstance(cost, Estimate)
    assert cost.high < 0
    assert not any("redundant" in note for row in table.values() for note in row.notes)


def test_questions_must_match(make_run: Make) -> None:
    other = {"ids": ["q0", "q1", "x9"], "columns": {M: [0, 0, 0]}}
    with pytest.raises(DataError, match=r"can't be paired .*q2 first"):
        rows([*full(make_run), make_run("coral", "no_heirs", 0, **other)])
    with pytest.raises(
        DataError, match=r"coral\.none\.0 \(the older\) and coral\.none\.2 \(the newer\)"
    ):
        rows([*full(make_run), make_run("coral", "none", 2, **other)])


def test_questions_are_paired_by_id_not_by_line(make_run: Make) -> None:
    ablated = [
        make_run("coral", "no_heirs", 0, ids=["q2", "q1", "q0"], columns={M: [0, 1, 1]}),
        make_run("coral", "no_heirs", 1, ids=["q2", "q1", "q0"], columns={M: [0, 0, 1]}),
    ]
    assert rows(full(make_run) + ablated)["no heirs"].contrast == Estimate(0, 0, 0, 3)


def test_bad_numbers_are_refused(make_run: Make) -> None:
    nan = {M: math.nan, f"{M}_ci_low": 0.0, f"{M}_ci_high": 1.0, f"{M}_n": 2.0}
    with pytest.raises(DataError, match=r"Run dense.* has no finite answer_in_top_1 "):
        rows([make_run("dense", logged=nan)])
    with pytest.raises(DataError, match="no finite answer_in_top_1_ci_low"):
        rows([make_run("dense", logged={M: 0.5})])
    damaged = [make_run(seed=0), make_run(seed=1, columns={M: [math.nan, 0]}, logged={M: 0.5})]
    with pytest.raises(DataError, match="per-question file"):
        rows(damaged)


def test_a_file_that_disagrees_with_the_log_is_refused(make_run: Make) -> None:
    runs = full(make_run)
    runs[1] = replace(runs[1], metrics={**runs[1].metrics, M: 0.9})
    with pytest.raises(DataError, match=r"coral\.none\.1 gives 0\.333"):
        rows(runs)


def test_a_question_that_stands_twice_is_refused(make_run: Make) -> None:
    twice = make_run(seed=1, ids=["q0", "q0", "q1"], columns={M: [1, 1, 1]})
    with pytest.raises(DataError, match="per-question file"):
        rows([make_run(seed=0), twice])


def test_a_metric_that_one_run_lacks(make_run: Make) -> None:
    both = {M: [1, 0], "subem": [1, 1]}
    runs = [make_run(seed=0, columns=both), make_run(seed=1), make_run("dense")]
    table = rows(runs, "subem")
    assert table["Dense"].value == "n/a"
    assert table["Dense"].notes == ("subem not logged on seed det.",)
    assert table["Coral (as shipped)"].spread.seeds == "0"
    assert "subem not logged on seed 1" in table["Coral (as shipped)"].notes


def test_a_metric_defined_on_some_questions_only(make_run: Make) -> None:
    """Rows whose questions lack the metric are not zeros: n and the mean leave them out."""

    def rows_of(values: dict[str, float]) -> list[dict[str, object]]:
        ids = ("q0", "q1", "q2")
        return [
            {"question_id": i, "kind": "x", "metrics": {M: values[i]} if i in values else {}}
            for i in ids
        ]

    runs = [
        replace(
            make_run(seed=seed, columns={M: [1.0, float(seed)]}),
            per_question=lambda seed=seed: rows_of({"q0": 1.0, "q2": float(seed)}),
        )
        for seed in (0, 1)
    ]
    value = rows(runs)["Coral (as shipped)"].value
    assert isinstance(value, Estimate)
    assert (value.value, value.n) == (0.75, 2)


def test_what_ceiling_and_control_have_over_coral(make_run: Make) -> None:
    runs = [
        *full(make_run),  # per question 1, 1/2, 0
        *[make_run("oracle_immune", seed=seed, columns={M: [1, 1, 1]}) for seed in (0, 1)],
        make_run("heirs_only", columns={M: [0, 0, 0]}),
    ]
    table = rows(runs)
    oracle, heirs = table["oracle displacement"], table["heirs only"]
    assert oracle.contrast == Estimate(pytest.approx(0.5), 0, 1, 3)  # type: ignore[arg-type]
    assert oracle.contrast_is == "oracle_immune - coral"
    assert heirs.contrast == Estimate(pytest.approx(-0.5), -1, 0, 3)  # type: ignore[arg-type]
    assert heirs.contrast_is == "heirs_only - coral"


def test_another_index_has_rows_with_a_dense_twin(make_run: Make) -> None:
    hnsw = {"variant": "index_hnsw", "index": "hnsw"}
    coral = [
        make_run(seed=s, columns={M: [1, 1], "index_recall_at_10": [1, 0.5]}, **hnsw)
        for s in (0, 1)
    ]
    plain = [make_run("dense", columns={M: [1, 1]})]
    assert not any("hnsw" in label for label in rows(plain))

    alone = rows([*plain, *coral])
    assert list(alone)[-2:] == ["Coral, index hnsw", "Dense, index hnsw"]
    assert alone["Dense, index hnsw"].value == alone["Coral, index hnsw"].contrast == "not run"
    assert "full not run" in alone["Coral, index hnsw"].notes

    twins = [make_run("dense", seed=s, columns={M: [1, 0]}, **hnsw) for s in (0, 1)]
    mine = make_run("mine", "no_x", columns={M: [0, 0]}, **hnsw)
    exact = make_run("mine", "no_x", columns={M: [1, 0]})
    whole = [make_run(seed=s, columns={M: [0, 1]}) for s in (0, 1)]
    table = rows([*plain, *coral, *twins, mine, exact, *whole])
    row = table["Coral, index hnsw"]
    assert row.contrast == Estimate(0.5, 0, 1, 2)
    assert table["Dense, index hnsw"].contrast == Estimate(-0.5, -1, 0, 2)
    # The mean of 1 and 0.5 over questions; both seeds say so.
    assert "index_recall_at_10 0.750 [0.500,1.000]" in row.notes
    assert list(table)[-3:] == [*list(alone)[-2:], "mine, no x, index hnsw"]
    assert table["mine, no x, index hnsw"].contrast == Estimate(-0.5, -1, 0, 2)
    assert isinstance(table["Dense"].value, Estimate)


@given(st.sets(st.integers(0, 30), min_size=1))
def test_seed_list_can_be_read_back(seeds: set[int]) -> None:
    spans = [list(map(int, span.split("-"))) for span in seed_list(map(str, seeds)).split(",")]
    assert {n for span in spans for n in range(span[0], span[-1] + 1)} == seeds
    assert all(a[-1] + 1 < b[0] for a, b in pairwise(spans))


def test_a_peer_stands_under_its_full_name_where_it_was_run(make_run: Make) -> None:
    name = "Mem0, raw mode, no LLM"
    assert name not in rows(full(make_run))
    by_label = rows([*full(make_run), make_run("mem0", columns={M: [1, 1, 0]})])
    assert isinstance(by_label[name].value, Estimate)
    assert "mem0" not in by_label


def test_mem0_is_said_to_equal_dense_only_where_it_does(make_run: Make) -> None:
    def notes(*values: float) -> tuple[str, ...]:
        runs = [make_run("dense", columns={M: [1, 0]}), make_run("mem0", columns={M: values})]
        return rows(runs)["Mem0, raw mode, no LLM"].notes

    [note] = notes(1, 0)
    assert note.startswith("equals Dense on all 2 questions")
    assert notes(0, 1) == ()  # the same mean, other questions
    assert rows([make_run("mem0", columns={M: [1, 0]})])["Mem0, raw mode, no LLM"].notes == ()


def test_the_parts_of_a_users_method_stand_alone_where_that_was_run(make_run: Make) -> None:
    runs = [
        make_run("mine", "none", columns={M: [1, 1, 1, 0]}),
        make_run("mine", "no_old_age", columns={M: [1, 1, 0, 0]}),
        make_run("mine", "no_ptr", columns={M: [1, 1, 1, 0]}),
    ]
    assert not any(label.endswith("alone") for label in rows(runs) if label.startswith("mine"))
    runs.append(make_run("mine", "no_old_age+no_ptr", columns={M: [1, 0, 0, 0]}))
    table = rows(runs)
    alone = {
        label: row for label, row in table.items() if label.startswith("mine") and "alone" in label
    }
    assert list(alone) == ["mine, old age alone", "mine, ptr alone"]
    assert [row.contrast.value for row in alone.values()] == [0.5, 0.25]  # type: ignore[union-attr]
    assert alone["mine, ptr alone"].contrast_is == "no_old_age - no_old_age+no_ptr"
