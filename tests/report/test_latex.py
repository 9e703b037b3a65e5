"""A document as LaTeX: its structure, and that pdflatex sets it whatever the text."""

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
    Block,
    Bullets,
    Detail,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Verdict,
)
from engram_hydra.report.latex import to_fragment, to_latex

ODD = (
    r"\input{x} \end{document} $x_1^2$ & 100% #1 {} ~ ^ | <script>alert('1')</script>",
    "[a] *b -- --- ``c'' ?` !` \"d\" ,, << >>",
    "naïve Zoë Łódź Straße œuvre ĳ ǆ ǭ ñ ç ğ ő ĵ á́ −1 × … ∅ “x” ‘y’ – —",
    "漢字 кириллица עברית \U0001f600 \u200d\u202e \ufb01 e\u0301\u0302",
    "\x00\x07\x1b\x7f\x85 \ud800 tab\there\nnew\n\nparagraph \u2028 \xa0",
    "a_very_long_name_" * 40,
    "",
    " ",
)


def document(texts: list[str]) -> list[Block]:
    """Every text in every place that a document has for one."""
    blocks: list[Block] = [Bullets([]), Grid(("only",), []), Grid(("a", "b"), [])]
    for n, text in enumerate(texts):
        blocks += [
            Heading(text, n % 5 + 1),
            Paragraph(text),
            Bullets([text, text]),
            Grid((text, text, "n"), [(text, "-1.5", text), ("[x]", text, "*"), ("*", text, "")]),
            Verdict(text, text, text, text, [text]),
            Picture(text, text, text, text, text),
            Drilldown(text, [text], [text], []),
            Detail(text, [Paragraph(text)], [text]),
        ]
    return blocks


def compiled(source: str, folder: Path) -> str:
    """pdflatex's log, of two passes that must succeed."""
    if shutil.which("pdflatex") is None:
        if os.environ.get("CI"):
            pytest.fail("pdflatex is missing: install texlive-latex-recommended")
        pytest.skip("needs pdflatex: install texlive-latex-recommended")
    (folder / "report.tex").write_text(source, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    for _ in range(2):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace"
        )
        assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "report.log").read_text(encoding="utf-8", errors="replace")


def test_structure() -> None:
    blocks = [
        Heading("All of it", 1),
        Paragraph("100% of it."),
        Bullets(["one", "[two]"]),
        Grid(("row", "mean", "range"), [("no_heirs", "-0.25 [-0.5,0.1]", "0.1-0.2")]),
        Verdict("H1", "Coral beats Dense", "undecided (ties)", "It says so.", ["n is 20"]),
        Picture("costs", "Cost by method.", "Dots", "<svg/>", "row\n"),
        Drilldown("fc_6k", ["hit"], ["a"], [{"id": "q1"}, {"id": "q2"}]),
    ]
    text = to_latex(blocks)
    assert text.startswith("% Needs texlive")
    body = text.split("\\begin{document}\n\n")[1]
    assert body == (
        "\\section*{All of it}\n\n"
        "100\\% of it.\n\n"
        "\\begin{itemize}\n  \\item one\n  \\item {[}two{]}\n\\end{itemize}\n\n"
        "{\\footnotesize\\setlength{\\tabcolsep}{4pt}\n"
        "\\begin{longtable}{@{}lrr@{}}\n"
        "\\toprule \\textbf{row} & \\textbf{mean} & \\textbf{range} \\\\ \\midrule \\endhead\n"
        "\\bottomrule \\endlastfoot\n"
        "no\\_heirs & $-$0.25 {[}$-$0.5,0.1{]} & 0.1-{}0.2 \\\\\n"
        "\\end{longtable}}\n\n"
        "\\textbf{H1: undecided (ties).} Coral beats Dense. It says so.\n"
        "\\begin{itemize}\n  \\item n is 20\n\\end{itemize}\n\n"
        "Cost by method. See costs.svg, its data in costs.csv.\n\n"
        "The 2 questions of fc\\_6k stand one by one in report.html.\n"
        "\\end{document}\n"
    )


def test_a_fragment_names_the_packages_that_the_whole_loads() -> None:
    blocks = [Grid(("a", "b"), [("c", "1")])]
    first, rest = to_fragment(blocks).split("\n", 1)
    assert first.removeprefix("% ") in to_latex(blocks)
    assert rest.strip() in to_latex(blocks)
    assert "documentclass" not in rest


def test_a_long_row_name_wraps_and_numbers_do_not() -> None:
    def columns(*cells: str) -> str:
        text = to_fragment([Grid(["x"] * len(cells), [cells])])
        [line] = [line for line in text.split("\n") if line.startswith("\\begin{longtable}")]
        return line

    assert columns("name", "0.5", "1") == "\\begin{longtable}{@{}lrr@{}}"
    assert re.fullmatch(
        r"\\begin\{longtable\}\{@\{\}>\{\\raggedright\\arraybackslash\}p\{0\.\d+\\linewidth\}rr@\{\}\}",
        columns("m" * 300, "0.248 [0.100,0.392]", "100"),
    )
    shares = re.findall(r"p\{(0\.\d+)", columns(*["m" * 300] * 5))
    assert len(shares) == 5
    assert sum(map(float, shares)) < 1


def test_odd_text_is_set_and_no_sign_is_lost(tmp_path: Path) -> None:
    log = compiled(to_latex(document(list(ODD))), tmp_path)
    assert "Missing character" not in log
    assert not re.findall(r"^! ", log, re.MULTILINE)


def test_any_text_is_set(tmp_path: Path) -> None:
    """Texts that hypothesis thought of, in one document: a pass over each would take minutes."""
    texts: list[str] = []

    @given(st.text(max_size=60))
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    assert "Missing character" not in compiled(to_latex(document(texts)), tmp_path)


def test_a_fragment_goes_into_a_paper(tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(to_fragment([Grid(("row", "n"), [("a_b", "1")])]))
    paper = (
        "\\documentclass{article}\n\\usepackage{array,booktabs,longtable}\n"
        "\\begin{document}\nBefore.\n\\input{table}\nAfter.\n\\end{document}\n"
    )
    compiled(paper, tmp_path)
