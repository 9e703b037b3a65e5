"""What a terminal shows: results first, short, in 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from engram_hydra.report.ablation_table import ablation_tables, row_labels
from engram_hydra.report.cells import Run
from engram_hydra.report.chapter import Chapter
from engram_hydra.report.comparison_section import comparison_section
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.document import Verdict, to_markdown
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.report import NO_CORAL, Report, summary
from engram_hydra.report.statements import load_statements
from engram_hydra.report.terminal import to_terminal
from engram_hydra.report.verdicts import verdicts

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def report(estimate: Estimate_, sets: Mapping[str, Sequence[Run]]) -> Report:
    found = {name: estimate(runs, dataset=name) for name, runs in sets.items()}
    chapters = [
        Chapter(name, 10, "newest", "minilm", e.selection, ablation_tables(e), [], {}, set(), {})
        for name, e in found.items()
    ]
    statements = load_statements()
    return Report(chapters, verdicts(found, statements), statements, {}, [], {})


def of(make_run: Make, dataset: str, size: int) -> list[Run]:
    columns = {
        name: [1.0, 0.0] * (size // 2)
        for name in ("current_above_stale_at_10", "answer_in_top_1", "answer_in_top_10")
    }
    runs = [
        make_run("coral", ablation, seed, columns=columns, dataset=dataset)
        for ablation in ("none", "no_heirs", "no_calc+no_heirs")
        for seed in range(5)
    ]
    return [*runs, make_run("dense", columns=columns, dataset=dataset)]


def test_one_table_a_set_by_the_metric_that_was_stated(make_run: Make, estimate: Estimate_) -> None:
    sets = {name: of(make_run, name, 40) for name in ("fc_sh_6k", "fc_mh_6k", "synthetic")}
    text = to_terminal(report(estimate, sets))
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert text.index("beats Dense") < text.index("H1 ") < text.index("row ")
    titles = [line for line in lines if ", n = 40" in line and not line.startswith((" ", "-"))]
    assert titles == [
        "fc_sh_6k: answer_in_top_1, n = 40",
        "fc_mh_6k: answer_in_top_10, n = 40",
        "synthetic: current_above_stale_at_10, n = 40",
    ]
    assert len(lines) < 90
    assert "…" not in text


def test_few_questions_and_no_verdicts(make_run: Make, estimate: Estimate_) -> None:
    text = to_terminal(report(estimate, {"synthetic": of(make_run, "synthetic", 10)}))
    assert "These are 10 questions" in text
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert "k = 10, reader newest; 16 runs taken." in text
    assert "; 1 run taken." in to_terminal(
        report(estimate, {"synthetic": [make_run("dense", dataset="synthetic")]})
    )
    assert "H1" not in text  # nothing was stated of these data
    assert "There are no runs yet" in to_terminal(report(estimate, {}))
    assert "No complete run" in to_terminal(report(estimate, {"fc_sh_6k": []}))


def test_it_says_why_this_metric_is_shown(make_run: Make, estimate: Estimate_) -> None:
    sets = {name: of(make_run, name, 40) for name in ("fc_mh_6k", "synthetic")}
    text = " ".join(to_terminal(report(estimate, sets)).split())
    stated, other = text.split("fc_mh_6k: answer_in_top_10")[1].split("synthetic: ")
    assert "Shown is the metric of the statements on this set." in stated
    assert "Shown is the first metric, for nothing was stated of this one." in other


def test_runs_at_another_k_are_one_command_away(make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run(seed=seed, k="5") for seed in range(3)] + [make_run("dense", k="3")]
    text = " ".join(to_terminal(report(estimate, {"fc_sh_6k": runs})).split())
    command = "python -m engram_hydra.aggregate datasets=fc_sh_6k"
    assert f"k=3 has 1 run: {command} k=3. k=5 has 3 runs: {command} k=5." in text
    both = to_terminal(report(estimate, {"fc_sh_6k": [*runs, make_run("dense")]}))
    assert "aggregate datasets" not in both


def test_the_parts_of_a_users_method_stand_with_their_tests(
    make_run: Make, estimate: Estimate_
) -> None:
    halves = {"answer_in_top_1": [1.0, 0.0] * 20}
    runs = [make_run("mine", columns={"answer_in_top_1": [1.0] * 40})]
    runs += [
        make_run("mine", "no_ptr", columns=halves),
        make_run("coral", "no_heirs", columns=halves),
    ]
    estimator = estimate(runs)
    found = comparisons(estimator, "fc_sh_6k", row_labels(estimator), list(halves))
    section = comparison_section(found)
    assert section is not None
    made = report(estimate, {"fc_sh_6k": runs})
    chapters = [replace(made.chapters[0], sections={"Paired comparisons": section})]
    text = to_terminal(replace(made, chapters=chapters))
    assert "- mine - mine, no ptr: +50.0 [35.0,65.0] points, better (Holm p <.001)" in text
    assert text.count("Holm p") == 1
    assert "mine against its ablations, 1 test" in to_markdown(section.blocks)
    assert "| mine - mine, no ptr |" in to_markdown(section.blocks)


def test_a_report_without_coral_names_none_of_its_rows(make_run: Make, estimate: Estimate_) -> None:
    runs = [
        make_run(name, columns={"answer_in_top_1": [1.0, 0.0] * 20}) for name in ("mine", "dense")
    ]
    text = " ".join(to_terminal(report(estimate, {"fc_sh_6k": runs})).split())
    assert "Not run: Coral and all its parts; Tide; " in text
    for absent in ("no heirs", "heirs alone", "Coral (as shipped)", "H1"):
        assert absent not in text
    blocks = summary(report(estimate, {"fc_sh_6k": runs}))
    assert NO_CORAL in to_markdown(blocks)
    assert not any(isinstance(block, Verdict) for block in blocks)
    with_coral = summary(
        report(
            estimate, {"fc_sh_6k": [*runs, make_run(columns={"answer_in_top_1": [1.0, 0.0] * 20})]}
        )
    )
    assert NO_CORAL not in to_markdown(with_coral)
    assert any(isinstance(block, Verdict) for block in with_coral)


def test_what_was_ignored_is_counted(make_run: Make, estimate: Estimate_) -> None:
    runs = of(make_run, "synthetic", 40)
    runs += [make_run("tide", dataset="synthetic", k="5"), make_run("tide", dataset="synthetic")]
    runs += [make_run("bm25", dataset="synthetic", git_dirty="true")]
    text = " ".join(to_terminal(report(estimate, {"synthetic": runs})).split())
    assert "17 runs taken; ignored: dirty tree 1, other k 1. No commit holds the code" in text
