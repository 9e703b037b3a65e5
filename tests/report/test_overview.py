"""The table of all rows over all data sets."""

from __future__ import annotations

from collections.abc import Callable

from engram_hydra.report.ablation_table import ablation_tables
from engram_hydra.report.cells import Run
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.document import Detail, to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.overview import overview_section, standing_row

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
METRICS = ("current_above_stale_at_10", "answer_in_top_1", "answer_in_top_10", "subem")


def chapter(estimate: Estimate_, runs: list[Run], dataset: str = "fc_sh_6k") -> Chapter:
    estimator = estimate(runs, dataset=dataset)
    tables = ablation_tables(estimator)
    return Chapter(dataset, 10, "newest", "minilm", estimator.selection, tables, [], {}, set(), {})


def test_every_row_stands_with_each_metric(make_run: Make, estimate: Estimate_) -> None:
    columns = {metric: [1.0, 0.0, 0.0] * 10 for metric in METRICS}
    runs = [make_run("dense", columns=columns), make_run("coral", "no_calc", 0, columns=columns)]
    runs += [make_run("coral", "no_immune", 0, columns={name: [0.0] * 30 for name in METRICS})]
    section = overview_section([chapter(estimate, runs)])
    assert section is not None
    [folded] = [block for block in section.blocks if isinstance(block, Detail)]
    lines = to_text([*section.blocks, *folded.blocks]).split("\n")
    assert max(map(len, lines)) <= 100
    headers = [line.split()[2:] for line in lines if line.startswith("row ")]
    assert headers == [list(METRICS[:3]), ["subem"]]
    assert [line.split() for line in lines if line.startswith("n ")] == [
        ["n", "30", "30", "30"],
        ["n", "30"],
    ]
    dense = [line.split() for line in lines if line.startswith("Dense")][1]
    assert dense[:3] == ["Dense", "det.", "0.333"]
    heirs = [line.split() for line in lines if line.startswith("heirs alone")][1]
    assert heirs[:3] == ["heirs", "alone", "+0.333"]  # no_calc - no_immune
    tide = [line.split() for line in lines if line.startswith("Tide")][1]
    assert tide == ["Tide", "not", "run"]
    found = {
        (e.keys["metric"], e.keys["row"]): e.value
        for e in section.entries
        if isinstance(e.value, Estimate)
    }
    assert found["subem", "Dense"].n == 30
    assert len(found) == 4 * 4  # Dense, two ablations, heirs alone


def test_few_questions_are_no_table_but_a_sentence(make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run("dense", columns={"recall_any_at_5": [1.0] * 10})]
    section = overview_section([chapter(estimate, runs)])
    assert section is not None
    text = to_text(section.blocks)
    assert "These are 10 questions" in text
    assert "0.722" not in text
    assert {entry.keys["row"] for entry in section.entries} >= {"Dense", "Tide"}  # in its CSV


def test_nothing_measured_is_no_table(estimate: Estimate_) -> None:
    assert overview_section([chapter(estimate, [])]) is None
    assert overview_section([]) is None


def test_the_standing_row(make_run: Make, estimate: Estimate_) -> None:
    name, columns = "longmemeval_s_pilot", {"recall_any_at_5": [1.0, 0.0]}
    runs = [make_run("dense", columns=columns, dataset=name)]
    [said] = standing_row([chapter(estimate, runs, name)])
    assert "not run against 0.500 [" in said.text
    assert standing_row([chapter(estimate, [])]) == []
    assert standing_row([chapter(estimate, [], name)]) == []


def test_rows_of_a_coral_that_was_not_run_are_no_wall(make_run: Make, estimate: Estimate_) -> None:
    columns = {"answer_in_top_1": [1.0, 0.0, 0.0] * 10}
    for method, walls in (("mine", 0), ("coral", 1)):
        section = overview_section([chapter(estimate, [make_run(method, columns=columns)])])
        assert section is not None
        lines = to_text(section.blocks).split("\n")
        assert sum(line.startswith("no feeding") for line in lines) == walls
        assert sum(line.startswith("heirs alone") for line in lines) == walls
        assert sum(line.startswith("Tide") for line in lines) == 1
