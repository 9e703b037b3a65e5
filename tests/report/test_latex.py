"""The report as LaTeX: escaped, and it compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.document import (
    Bullets,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
)
from engram_hydra.report.latex import SPECIAL, escape, to_latex

NASTY = r"100% of $x_1^2 & #3 {a}\b ~ <script>alert('1')</script> | `q` -- “Zoë” ∑ 東京 ﬁ — \end{document}"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b", r"a\_b"),
        ("50%", r"50\%"),
        ("\\end{document}", r"\textbackslash{}end\{document\}"),
        ("Zoë", "Zoë"),
        ("Dvořák", "Dvorák"),
        ("東", "?"),
        ("a\nb\x00c\u200b", "a bc"),
        ("--", "{-}{-}"),
    ],
)
def test_escaped(text: str, latex: str) -> None:
    assert escape(text) == latex


@given(st.text())
def test_nothing_is_left_that_latex_would_obey(text: str) -> None:
    latex = escape(text)
    for command in sorted(set(SPECIAL.values()), key=len, reverse=True):
        latex = latex.replace(command, "")
    assert not set(latex) & set("\\{}$&#_%~^")
    assert "\n" not in latex


def document() -> list[object]:
    return [
        Heading(f"Report {NASTY}", 1),
        *(Heading("Deep_er", level) for level in (2, 3, 4, 5)),
        Paragraph(NASTY),
        Paragraph("[in brackets]"),
        Bullets([NASTY, "[0.1,0.2]", "* star"]),
        Bullets([]),
        Grid(("row", "mean [95%]", "n"), [(NASTY, "[0.1,0.2]", "3"), ("x" * 200, "*", "")] * 40),
        Verdict("H1", NASTY, "supported", NASTY, [NASTY]),
        Picture("a_b", NASTY, "alt", "<svg/>", ""),
        Drilldown("fc_sh_6k", [], [], []),
    ]


def test_every_block_stands_in_it() -> None:
    text = to_latex(document())  # type: ignore[arg-type]
    assert text.startswith("\\documentclass") and text.endswith("\\end{document}\n")
    assert text.count("\\end{document}") == 1
    assert len(re.findall(r"\\(?:sub)*section\*|\\paragraph\*", text)) == 5
    assert r"\textbf{H1: supported.}" in text
    assert r"a\_b.svg" in text.replace("}", "")
    assert r"fc\_sh\_6k: the page lists all 0 questions" in text
    [table] = re.findall(r"\\midrule\n.*?\\end\{longtable\}", text, re.S)
    assert table.count(r" \\") == 80


def test_it_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        assert "CI" not in os.environ, (
            "pdflatex is required here: install texlive-latex-recommended"
        )
        pytest.skip("there is no pdflatex on this machine")
    (tmp_path / "report.tex").write_text(to_latex(document()), encoding="utf-8")  # type: ignore[arg-type]
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    assert (tmp_path / "report.pdf").stat().st_size > 1000
