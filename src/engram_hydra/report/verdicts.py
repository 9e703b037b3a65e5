"""Verdicts: each statement decided from the runs, in words and with the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import CORAL
from engram_hydra.report.cells import Run
from engram_hydra.report.contrasts import Evidence
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.findings import NEEDS, TIDE, Findings
from engram_hydra.report.statements import Place, Statement, Statements
from engram_hydra.report.verdict_remarks import marks, remarks
from engram_hydra.report.verdict_words import against, said, why

PRIMARY = "primary"
SECONDARY = "secondary"


@dataclass(frozen=True)
class Verdict:
    """A statement decided on one data set and metric.

    ``outcome`` is supported, refuted, undecided, not applicable or not run; ``marks`` belong beside
    it: depends on Tide, by construction, saturated; of one not run, why there are no runs. ``role`` is
    primary or secondary. ``numbers`` are fractions by name (``difference``, ``ci_low``, ``p_holm``,
    ``n`` …), ``p_against`` what the p speak against, and ``runs`` the MLflow ids of the runs they come
    from, with ``seeds`` as ``0-4`` or ``det.``; those in ``other_statements`` were made under another
    file of statements, those in ``no_statements`` do not say under which.
    """

    id: str
    statement: str
    outcome: str
    marks: tuple[str, ...]
    dataset: str
    metric: str
    role: str
    why: str
    remarks: tuple[str, ...]
    numbers: Mapping[str, float]
    p_against: str
    runs: tuple[str, ...]
    seeds: str
    other_statements: tuple[str, ...]
    no_statements: tuple[str, ...]

    @property
    def word(self) -> str:
        """The outcome with its marks: ``supported (depends on Tide)``; of one not run, they say more."""
        if self.outcome == decide.NOT_RUN and self.marks:
            return ", ".join(self.marks)
        return f"{self.outcome} ({', '.join(self.marks)})" if self.marks else self.outcome


def verdicts(estimators: Mapping[str, Estimator], statements: Statements) -> list[Verdict]:
    """Every statement on its primary row, then on the secondary ones, then M4 on whatever else was run.

    ``estimators`` are by data set; one of which there are no runs may be absent. On a secondary row
    the p values are adjusted over the same four statements on that row.

    Raises DataError if runs that must be paired saw different questions or hold a bad number.
    """
    found = []
    for place, ids in _places(estimators, statements):
        evidence = Evidence(estimators.get(place.dataset), place.metric, statements)
        findings = Findings(evidence, statements)
        role = PRIMARY if place == statements.primary else SECONDARY
        found += [
            _verdict(stated, place, role, findings, statements)
            for stated in statements.statements
            if stated.id in ids
        ]
    return found


def _places(
    estimators: Mapping[str, Estimator], statements: Statements
) -> Iterator[tuple[Place, tuple[str, ...]]]:
    """Where to decide which statements."""
    declared = [statements.primary, *statements.secondary]
    yield from ((place, tuple(NEEDS)) for place in declared)
    yield from ((place, ("H1",)) for place in statements.with_model_reader)
    for dataset in statements.sets:
        if dataset not in estimators:
            continue
        for metric in HEADLINES:
            place = Place(dataset, metric)
            evidence = Evidence(estimators[dataset], metric, statements)
            if place not in declared and evidence.runs([CORAL]):
                yield place, ("M4",)


def _verdict(
    stated: Statement, place: Place, role: str, findings: Findings, statements: Statements
) -> Verdict:
    evidence = findings.evidence
    cells = list(NEEDS[stated.id])
    if stated.id == "H2":
        curve = (TIDE._replace(variant=variant) for variant in statements.tide_curve.values())
        cells += [cell for cell in curve if cell not in cells and evidence.has(cell)]
    runs = evidence.runs(cells)
    numbers = findings.numbers(stated.id)
    return Verdict(
        stated.id,
        said(stated, place),
        findings.outcome(stated.id),
        marks(stated.id, findings),
        place.dataset,
        place.metric,
        role,
        why(stated, place, findings),
        tuple(remarks(stated.id, role == SECONDARY, findings)),
        numbers,
        against(stated.id, statements.margin) if "p" in numbers else "",
        tuple(run.run_id for run in runs),
        evidence.seeds(cells),
        tuple(run.run_id for run in runs if _sha256(run) not in ("", statements.sha256)),
        tuple(run.run_id for run in runs if not _sha256(run)),
    )


def _sha256(run: Run) -> str:
    """Of the statements as they were when the run was made."""
    return run.tags.get("engram.statements_sha256", "")
