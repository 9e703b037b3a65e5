"""The verdicts as people read them, and as lines of a CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from engram_hydra.report import document
from engram_hydra.report.document import Block, Heading, Paragraph
from engram_hydra.report.estimates import Estimate, Spread
from engram_hydra.report.section import Entry, Section
from engram_hydra.report.statements import Statements
from engram_hydra.report.verdicts import SECONDARY, Verdict
from engram_hydra.report.when_stated import when_stated


def verdict_section(verdicts: Sequence[Verdict], statements: Statements) -> Section:
    """The section ``verdicts``; its file has a line for each outcome and each number behind it."""
    return Section("verdicts", verdict_blocks(verdicts, statements), verdict_entries(verdicts))


def verdict_blocks(verdicts: Sequence[Verdict], statements: Statements) -> list[Block]:
    """The primary verdicts, then the secondary ones by row; a row without any runs in one sentence."""
    blocks: list[Block] = [
        Heading("Verdicts", 2),
        Paragraph(
            "The statements, decided from the runs by rule. Differences are in points, "
            "paired by question, and low and high the ends of their "
            f"{statements.confidence:g}% interval; a margin is {statements.margin:g} points. A p says "
            "how rarely chance alone would give such a result if what it speaks against were true; it "
            f"stands only where the rule asks for one. Those of {', '.join(statements.family)} are "
            "adjusted together (Holm). All questions of a FactConsolidation set share one context, so "
            f"what is found holds for this context. {statements.detectability}"
        ),
        Paragraph(when_stated(verdicts)),
    ]
    for (dataset, metric, role), group in groupby(
        verdicts, key=lambda v: (v.dataset, v.metric, v.role)
    ):
        found = list(group)
        blocks.append(Heading(f"{role.capitalize()}: {dataset}, {metric}", 3))
        if role == SECONDARY and not any(verdict.runs for verdict in found):
            ids = ", ".join(verdict.id for verdict in found)
            blocks.append(Paragraph(f"{ids}: {found[0].word}. {found[0].why}"))
        else:
            blocks += [_block(verdict) for verdict in found]
    return blocks


def verdict_entries(verdicts: Sequence[Verdict]) -> list[Entry]:
    """For each verdict its outcome, with why and remarks as notes, and then its numbers."""
    entries = []
    for verdict in verdicts:
        keys = {
            "statement": verdict.id,
            "dataset": verdict.dataset,
            "metric": verdict.metric,
            "role": verdict.role,
        }
        spread = Spread(verdict.seeds)
        notes = [verdict.why, *verdict.remarks]
        entries.append(Entry({**keys, "what": "outcome"}, verdict.word, spread, notes))
        numbers = dict(verdict.numbers)
        n = int(numbers.pop("n", 0))
        if "difference" in numbers:
            value, low, high = (numbers.pop(name) for name in ("difference", "ci_low", "ci_high"))
            difference = Estimate(value, low, high, n)
            entries.append(Entry({**keys, "what": "difference"}, difference, spread))
        entries += [
            Entry(
                {**keys, "what": name},
                value,
                notes=[f"against {verdict.p_against}"] if name in ("p", "p_holm") else [],
            )
            for name, value in numbers.items()
        ]
    return entries


def _block(verdict: Verdict) -> Block:
    return document.Verdict(
        verdict.id, f"{verdict.statement}.", verdict.word, verdict.why, verdict.remarks
    )
