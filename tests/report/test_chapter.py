"""The report as people and tools read it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engram_hydra.report.ablation_table import ablation_tables
from engram_hydra.report.cells import Run, select
from engram_hydra.report.chapter import Chapter, chapter_blocks
from engram_hydra.report.document import Block, Detail, Heading, Paragraph, to_markdown, to_text
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import SEEDS, Estimator
from engram_hydra.report.published import beside, load_published
from engram_hydra.report.section import Section
from engram_hydra.report.tidy import to_csv

EXPECTED = {Cell("coral"): SEEDS, Cell("dense"): ("deterministic",)}
PUBLISHED = Path(__file__).parents[2] / "conf" / "published"


def chapter(
    runs: list[Run],
    dataset: str = "fc_sh_6k",
    k: int = 10,
    sections: dict[str, Section | str] | None = None,
) -> Chapter:
    chosen = select(
        runs, dataset=dataset, data_sha256=None, k=k, reader="newest", embedder="minilm"
    )
    figures = beside(load_published(PUBLISHED), dataset)
    tables = ablation_tables(Estimator(chosen))
    sections = {"Audit": "python -m audit", **(sections or {})}
    return Chapter(
        dataset, k, "newest", "minilm", chosen, tables, figures, sections, {"shown"}, EXPECTED
    )


@pytest.fixture(scope="module")
def example(make_run: Callable[..., Run]) -> Chapter:
    both = {"answer_in_top_1": [1, 0] * 15, "subem": [1] * 30}
    runs = [make_run(seed=seed, columns=both) for seed in range(5)]
    runs += [make_run("coral", "no_heirs", seed, columns=both) for seed in (0, 1, 3, 4)]
    runs += [make_run("coral", "no_settling_noise", columns=both)]
    runs += [make_run("tide", columns=both, variant="tide_w_0", run_id="variant-of-tide")]
    runs += [make_run("a_user's_method_with_quite_a_long_name", columns=both)]
    runs += [make_run("dense", complete="false", run_id="0123456789abcdef")]
    runs += [make_run("bm25", started=1, run_id="newer-run-of-bm25", columns=both)]
    runs += [make_run("bm25", started=0, run_id="older-run-of-bm25", columns=both)]
    return chapter(runs)


def test_text_fits_a_terminal(example: Chapter) -> None:
    text = to_text(chapter_blocks(example))
    assert max(map(len, text.split("\n"))) <= 100
    # Wilson of 15 of 30 is [0.3315, 0.6685].
    assert "BM25, ties oldest" in text
    line = next(line for line in text.split("\n") if line.startswith("BM25, ties oldest"))
    assert line.split() == ["BM25,", "ties", "oldest", "0.500", "[0.332,0.668]", "30", "det."]


def test_markdown_has_a_table_for_each_metric(example: Chapter) -> None:
    text = to_markdown(chapter_blocks(example))
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [
        "# fc_sh_6k",
        "## answer_in_top_1",
        "## Runs: expected, found, taken, ignored",
    ]
    [line] = [line for line in text.split("\n") if line.startswith("| no heirs")][:1]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "no heirs",
        "0.500 [0.332,0.668]",  # the seeds agree, so it is that of each
        "30",
        "0-1,3-4",
        "0.000",
        "0.500-0.500",
        "+0.000 [0.000,0.000]",
        "",  # not tested here
    ]
    assert "- no heirs: seed 2 not run\n" in text
    assert "- no heirs: difference on the common seeds 0-1,3-4 only\n" in text
    meaning = "Share of questions whose first item contains the answer."
    assert text.split("## answer_in_top_1\n\n")[1].startswith(meaning)
    assert "| Tide" not in text  # nor any other row that was not run
    folded = "subem, resolved by the reader newest: decides nothing about a memory: in report.html"
    assert folded in text
    assert "share one context" in text


def test_only_a_reader_that_resolves_conflicts_is_folded(make_run: Callable[..., Run]) -> None:
    runs = [make_run("dense", columns={"answer_in_top_1": [1, 0] * 15, "subem": [1] * 30})]
    details = [b for b in chapter_blocks(chapter(runs)) if isinstance(b, Detail)]
    assert "resolves conflicts by itself" in to_text(details[0].blocks)
    assert "Dense" in to_text(details[0].blocks)
    model = to_markdown(chapter_blocks(replace(chapter(runs), reader="openai")))
    assert "## subem, reader openai\n" in model
    assert "resolve" not in model


def test_few_questions_are_a_sentence_and_a_line_for_equal_rows(
    make_run: Callable[..., Run],
) -> None:
    def blocks(n: int) -> list[Block]:
        same = [
            make_run(name, columns={"recall_any_at_5": [1.0] * n}) for name in ("dense", "tide")
        ]
        other = make_run("bm25", columns={"recall_any_at_5": [0.0] * n})
        return chapter_blocks(chapter([*same, other], "fc_sh_6k"))

    few = to_markdown(blocks(10))
    assert "These are 10 questions: no difference below 60 points could be shown" in few
    lines = [line for line in few.split("\n") if "[0.722,1.000]" in line or "[0.000,0.278]" in line]
    assert [line.split("|")[1].strip() for line in lines] == ["Tide; Dense", "BM25, ties oldest"]
    assert "## recall_any_at_5" not in few
    folded = next(block for block in blocks(10) if isinstance(block, Detail))
    assert "recall_any_at_5" in to_text(folded.blocks)
    assert "These are 3 questions: no difference could be shown" in to_markdown(blocks(3))
    assert "## recall_any_at_5" in to_markdown(blocks(30))


def test_what_is_missing_is_said(example: Chapter) -> None:
    text = to_markdown(chapter_blocks(example))
    left_out, not_run = text.split("## Runs: expected, found, taken, ignored")[1].split("\n\n")[1:]
    assert left_out.strip().split("\n") == [
        "- Expected: 6 runs for the standing rows, of which 5 are there and 1 missing "
        "(Dense: det.).",
        "- Found: 15 runs on this data set; taken 13, ignored 2.",
        "- Ignored, incomplete: 1 (01234567)",
        "- Ignored, older repeats: 1 (older-ru superseded by newer-ru)",
        "- Taken, variant tide_w_0, in no row here: 1 (variant-)",
    ]
    assert not_run.strip() == (
        "Not run: no calcification; no immune response; no feeding; no resistance; fixed threshold; "
        "heirs alone; calcification alone; Tide; BM25, ties newest; random ranking; oracle "
        "displacement; heirs only. Ignored (incomplete): Dense. No runs here for: Audit. "
        "To get them: python -m audit."
    )


def test_at_most_three_ids_are_shown_for_a_reason(make_run: Callable[..., Run]) -> None:
    def listed(count: int) -> str:
        runs = [make_run("dense", complete="false", run_id=f"run{n}") for n in range(count)]
        return to_markdown(chapter_blocks(chapter(runs)))

    assert "- Ignored, incomplete: 3 (run0, run1, run2)\n" in listed(3)
    assert "- Ignored, incomplete: 5 (run0, run1, run2 and 2 more, see runs.json)\n" in listed(5)


def test_several_versions_of_the_code_are_said(make_run: Callable[..., Run]) -> None:
    def text(*code: str) -> str:
        runs = [make_run(seed=n, code_sha256=version) for n, version in enumerate(code)]
        return to_markdown(chapter_blocks(chapter(runs)))

    assert "versions of the code" not in text("c" * 64, "c" * 64)
    said = (
        "These runs come from 2 versions of the code (cccccccccccc, dddddddddddd): run them again"
    )
    assert said in text("d" * 64, "c" * 64)


def test_a_row_with_a_value_counts_as_run(make_run: Callable[..., Run]) -> None:
    text = to_markdown(chapter_blocks(chapter([make_run("coral", "no_heirs")])))
    not_run = text.split("Not run: ")[1].split("; ")
    assert "Coral (as shipped)" in not_run
    assert "no heirs" not in not_run


def test_csv(example: Chapter) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv([example]))))
    measured = [line for line in lines if line["source"] == "measured"]
    assert len(measured) == 2 * 18
    heirs = next(line for line in measured if line["row"] == "no heirs")
    assert (heirs["value"], heirs["n"], heirs["seeds"]) == ("0.5", "30", "0-1,3-4")
    assert (heirs["contrast"], heirs["contrast_is"]) == ("0.0", "full - no_heirs")
    tide = next(line for line in measured if line["row"] == "Tide")
    assert (tide["value"], tide["ci_low"], tide["n"], tide["contrast"]) == ("not run", "", "", "")
    cited = [line for line in lines if line["source"] != "measured"]
    assert {(line["row"], line["value"], line["unit"]) for line in cited} == {
        ("GPT-4o", "92.0", "percent"),
        ("o4-mini", "100.0", "percent"),
    }
    assert all(line["reader"] and line["k"] and not line["ci_low"] for line in cited)


def test_sections_stand_between_tables_and_published_figures(make_run: Callable[..., Run]) -> None:
    section = Section("mine", [Heading("A section", 2), Paragraph("Of mine.")], [])
    runs = [make_run(columns={"answer_in_top_1": [1, 0] * 15}), make_run("tide", variant="shown")]
    text = to_markdown(chapter_blocks(chapter(runs, sections={"Mine": section})))
    assert text.index("## answer_in_top_1") < text.index("## A section") < text.index("Published")
    assert "Mine: not run" not in text
    assert "Ignored" not in text


def test_changed_data_do_not_pass_for_the_data(make_run: Callable[..., Run]) -> None:
    runs = [make_run("dense"), make_run("tide", variant="strip", data_sha256="b" * 64)]
    chosen = select(
        runs,
        dataset="fc_sh_6k",
        data_sha256=None,
        k=10,
        reader="newest",
        embedder="minilm",
        data_variants={"strip"},
    )
    tables = ablation_tables(Estimator(chosen))
    text = to_text(
        chapter_blocks(Chapter("fc_sh_6k", 10, "newest", "minilm", chosen, tables, [], {}, {}, {}))
    )
    assert f"data {'a' * 12}. Fractions" in text


def test_nothing_was_run() -> None:
    empty = chapter([], "synthetic")
    assert "No complete run fits this selection." in to_text(chapter_blocks(empty))
    assert to_csv([empty]).count("\n") == 1
