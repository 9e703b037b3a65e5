"""A verdict names what the same pair's test says in its exploratory family."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.verdict_families import with_families
from engram_hydra.report.verdicts import Verdict, verdicts
from made_up_cells import BASE, FC, STATED, TOP_1, Make, made, right


def found(
    make_run: Make, estimate: Callable[..., Estimator], **changes: Sequence[float]
) -> dict[str, Verdict]:
    estimator = estimate(made(make_run, {**BASE, **changes}))
    compared = {FC: comparisons(estimator, FC, row_labels(estimator), [TOP_1])}
    decided = with_families(verdicts({FC: estimator}, STATED), compared)
    return {verdict.id: verdict for verdict in decided if verdict.role == "primary"}


def test_both_families_are_named(make_run: Make, estimate: Callable[..., Estimator]) -> None:
    told = found(make_run, estimate)
    assert "after Holm over H1, H2, H3a, H3b p = " in told["H1"].why
    assert told["H1"].remarks[-1] == (
        "among the 3 tests of methods against anchors Coral is better, Holm p <.001 there"
    )
    assert told["H3b"].remarks[-1] == (
        "among the 3 tests of Coral against its ablations identical, Holm p 1.000 there"
    )
    assert not any("Holm p" in remark for remark in told["M1"].remarks)


def test_what_the_interval_alone_decides_is_said(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    """Coral wins five questions over Tide and loses none: the smallest p on five is 1/16."""
    h2 = found(make_run, estimate, tide=right(count=65))["H2"]
    assert h2.outcome == "refuted"
    assert h2.remarks[-1].startswith(
        "decided by the unadjusted interval, by the statement's own rule; among the 3 tests of methods "
        "against anchors not shown, Holm p .0"
    )
    clear = found(make_run, estimate, tide=right(count=50))["H2"]
    assert clear.remarks[-1].startswith(
        "among the 3 tests of methods against anchors Coral is better"
    )
