"""The methods paragraph gives the figures that are computed with."""

from __future__ import annotations

from dataclasses import replace

from engram_hydra.report.methods import methods
from engram_hydra.report.report import Report, summary
from engram_hydra.report.statements import load_statements
from engram_hydra.report.terminal import terminal_blocks
from engram_hydra.report.verdicts import verdicts
from engram_hydra.stats import RESAMPLES

STATED = load_statements()


def test_its_figures_are_those_of_the_code() -> None:
    text = methods(STATED).text
    assert f"{RESAMPLES:,} resamples" in text
    assert "H1, H2, H3a, H3b by row" in text
    assert "the 90% interval within 5 points" in text
    assert "0.95 to the power n" in text
    other = methods(replace(STATED, margin=4.0, equivalence_confidence=80.0)).text
    assert "the 80% interval within 4 points" in other
    assert "0.96 to the power n" in other


def test_it_stands_in_the_document_and_not_in_the_terminal() -> None:
    report = Report([], verdicts({}, STATED), STATED, {}, [], {})
    assert methods(STATED) in summary(report)
    assert methods(STATED) not in terminal_blocks(report)
