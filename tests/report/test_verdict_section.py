"""The verdicts as a document and as a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace

from engram_hydra.report import document
from engram_hydra.report.cells import Run
from engram_hydra.report.document import Heading, Paragraph, to_markdown, to_text
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.statements import load_statements
from engram_hydra.report.verdict_section import verdict_blocks, verdict_section
from engram_hydra.report.verdicts import Verdict, verdicts

STATED = load_statements()
H1 = Verdict(
    "H1",
    "Coral beats Dense",
    "supported",
    (),
    "fc_sh_6k",
    "answer_in_top_1",
    "primary",
    "Coral - Dense +3.0 [1.0,5.0] points, n = 100: low > 0.",
    ("saturated: 3 of 100 questions are left to win above Dense", "not all is well"),
    {"difference": 0.03, "ci_low": 0.01, "ci_high": 0.05, "n": 100.0, "p_holm": 0.004},
    "no difference between Coral and Dense",
    ("a1", "b2"),
    "0-4",
    (),
    (),
)


def test_a_verdict_is_read_with_its_reason_and_remarks() -> None:
    blocks = verdict_blocks([H1], STATED)
    assert blocks[0] == Heading("Verdicts", 2)
    assert blocks[3] == Heading("Primary: fc_sh_6k, answer_in_top_1", 3)
    assert blocks[4] == document.Verdict("H1", f"{H1.statement}.", "supported", H1.why, H1.remarks)
    for text in (to_text(blocks), to_markdown(blocks)):
        for part in ("H1", "Coral beats Dense.", "low > 0.", "not all is well"):
            assert part in text
    assert max(map(len, to_text(blocks).splitlines())) <= 100


def test_a_secondary_row_without_runs_is_one_sentence(
    estimate: Callable[..., Estimator],
) -> None:
    blocks = verdict_blocks(verdicts({}, STATED), STATED)
    assert sum(isinstance(block, document.Verdict) for block in blocks) == 9  # the primary ones
    told = [b.text for b in blocks if isinstance(b, Paragraph) and "not run" in b.text]
    assert len(told) == 3
    assert told[0].startswith(
        "H1, H2, H3a, H3b, H3c, M1, M2, M3, M4: not run. Missing: coral, dense"
    )


def test_marks_stand_beside_the_word() -> None:
    marked = replace(H1, id="H2", marks=("depends on Tide", "saturated"))
    section = verdict_section([marked], STATED)
    assert "H2: supported (depends on Tide, saturated). Coral" in to_text(section.blocks)
    assert section.entries[0].value == "supported (depends on Tide, saturated)"


def test_one_sentence_says_whether_the_statements_came_first() -> None:
    def banner(*found: Verdict) -> str:
        return to_text(verdict_blocks(found, STATED)[2:3]).replace("\n", " ")

    h2 = replace(H1, id="H2", runs=("b2", "c3"))
    assert banner(H1, h2).startswith("Stated before running: all 3 runs behind the verdicts carry")
    changed = replace(h2, other_statements=("c3",))
    said = banner(H1, changed)
    assert (
        "differs from the one that 1 of the 3 runs behind the verdicts carry (H2): compare" in said
    )
    assert "Stated before running" not in said
    every = [replace(one, other_statements=one.runs) for one in (H1, h2)]
    assert "differs from the one that all 3 runs behind the verdicts carry: compare" in banner(
        *every
    )
    said = banner(replace(H1, no_statements=("b2",)), replace(h2, no_statements=("b2",)))
    assert said.startswith("1 of the 3 runs (H1, H2) do not say under which statements")
    assert banner(replace(H1, runs=())).startswith("There are no runs yet")
    for found in ([H1, changed], [H1, h2], []):
        told = to_text(verdict_blocks(found, STATED))
        assert "before any run" not in told


def test_the_file_has_every_outcome_and_number() -> None:
    secondary = replace(H1, id="H2", outcome="not run", role="secondary", numbers={}, runs=())
    section = verdict_section([H1, secondary], STATED)
    rows = list(csv.DictReader(io.StringIO(section.to_csv({"k": 10}))))
    assert [(row["statement"], row["what"], row["value"]) for row in rows] == [
        ("H1", "outcome", "supported"),
        ("H1", "difference", "0.03"),
        ("H1", "p_holm", "0.004"),
        ("H2", "outcome", "not run"),
    ]
    assert (rows[1]["ci_low"], rows[1]["ci_high"], rows[1]["n"]) == ("0.01", "0.05", "100")
    assert rows[0]["notes"] == "; ".join([H1.why, *H1.remarks])
    assert rows[2]["notes"] == "against no difference between Coral and Dense"
    assert dict(section.figures())["verdicts.h1.fc_sh_6k.answer_in_top_1.primary.p_holm"] == 0.004


def test_one_question_gives_finite_figures_only(
    make_run: Callable[..., Run], estimate: Callable[..., Estimator]
) -> None:
    runs = [make_run("dense"), *(make_run("coral", seed=seed) for seed in range(5))]
    one = [make_run("dense", columns={"answer_in_top_1": [1.0]})]
    one += [make_run("coral", seed=s, columns={"answer_in_top_1": [1.0]}) for s in range(5)]
    for made in (runs, one):
        section = verdict_section(verdicts({"fc_sh_6k": estimate(made)}, STATED), STATED)
        figures = dict(section.figures())
        assert figures
        assert all(abs(value) <= 12 for value in figures.values())
