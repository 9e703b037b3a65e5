"""A verdict beside the same comparison in its exploratory family: one pair, two families, two p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import CORAL, NO_CALC, NO_IMMUNE
from engram_hydra.report.comparisons import BETTER, NOT_SHOWN, Comparison
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.findings import DENSE, TIDE
from engram_hydra.report.names import row_name
from engram_hydra.report.pair_tests import p_text
from engram_hydra.report.verdicts import Verdict

BY_INTERVAL = "decided by the unadjusted interval"

_AGAINST = {
    "H1": row_name(DENSE),
    "H2": row_name(TIDE),
    "H3b": row_name(NO_CALC),
    "H3c": row_name(NO_IMMUNE),
}


def with_families(
    verdicts: Sequence[Verdict], compared: Mapping[str, Sequence[Comparison]]
) -> list[Verdict]:
    """The verdicts, each with what the same pair's test says among its family's; by data set."""
    return [
        replace(verdict, remarks=(*verdict.remarks, *_remark(verdict, compared)))
        for verdict in verdicts
    ]


def _remark(verdict: Verdict, compared: Mapping[str, Sequence[Comparison]]) -> list[str]:
    if verdict.id not in _AGAINST or verdict.outcome in (decide.NOT_RUN, decide.NOT_APPLICABLE):
        return []
    for one in compared.get(verdict.dataset, ()):
        names = (one.metric, one.row, one.against)
        if names != (verdict.metric, row_name(CORAL), _AGAINST[verdict.id]):
            continue
        if isinstance(one.difference, Estimate) and one.p_holm is not None:
            return [_said(verdict, one, one.p_holm)]
    return []


def _said(verdict: Verdict, one: Comparison, p_holm: float) -> str:
    words = one.family.split(": ", 1)[-1]
    outcome = f"Coral is {one.outcome}" if one.outcome == BETTER else one.outcome
    told = f"among the {one.family_size} tests of {words} {outcome}, Holm p {p_text(p_holm)} there"
    if one.outcome == NOT_SHOWN and verdict.id != "H1" and verdict.outcome == decide.REFUTED:
        return f"{BY_INTERVAL}, by the statement's own rule; {told}"
    return told
