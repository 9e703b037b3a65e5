"""What the runs on one data set say of every statement: differences, tests and outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from engram_hydra.report import decisions as decide
from engram_hydra.report.ablation_table import CORAL, NO_CALC, NO_HEIRS, NO_IMMUNE
from engram_hydra.report.contrasts import Contrast, Evidence
from engram_hydra.report.estimates import Cell
from engram_hydra.report.statements import Statements
from engram_hydra.stats import holm, identical_bound

DENSE = Cell("dense")
TIDE = Cell("tide")
NEEDS: dict[str, tuple[Cell, ...]] = {
    "H1": (CORAL, DENSE),
    "H2": (CORAL, TIDE),
    "H3a": (CORAL, NO_HEIRS, DENSE),
    "H3b": (CORAL, NO_CALC, DENSE),
    "H3c": (CORAL, NO_IMMUNE, DENSE),
    "M1": (CORAL, DENSE),
    "M2": (CORAL, DENSE, TIDE),
    "M3": (CORAL, NO_HEIRS, NO_CALC),
    "M4": (CORAL, DENSE),
}
"""The cells that must be there, with all their seeds."""

_GAIN, _OVER_TIDE = {CORAL: 1.0, DENSE: -1.0}, {CORAL: 1.0, TIDE: -1.0}
_WEIGHTS: dict[str, dict[Cell, float]] = {
    "H1": _GAIN,
    "H2": _OVER_TIDE,
    "H3a": {CORAL: 0.5, NO_HEIRS: -1.0, DENSE: 0.5},  # (Coral − no_heirs) − (Coral − Dense) / 2
    "H3b": {CORAL: 1.0, NO_CALC: -1.0},
    "H3c": {CORAL: 1.0, NO_IMMUNE: -1.0},
    "M1": _GAIN,
    "M2": _OVER_TIDE,
    "M3": {NO_CALC: 1.0, NO_HEIRS: -1.0},  # (Coral − no_heirs) − (Coral − no_calc)
}


class Findings:
    """The statements on one data set and metric.

    ``contrasts`` are by id, those whose runs are all there; ``p`` are the probabilities they go by
    and ``p_holm`` those of the family adjusted, where one that can't be computed counts as 1.
    """

    def __init__(self, evidence: Evidence, statements: Statements) -> None:
        self.evidence = evidence
        self.stated = statements
        self._margin, self._alpha = statements.margin_share, statements.alpha
        by_weights: dict[tuple[tuple[Cell, float], ...], Contrast | None] = {}
        self.contrasts: dict[str, Contrast] = {}
        for id_, weights in _WEIGHTS.items():
            key = tuple(weights.items())
            if key not in by_weights:
                by_weights[key] = evidence.contrast(weights)
            if found := by_weights[key]:
                self.contrasts[id_] = found
        self.p = {id_: self._p(id_, contrast) for id_, contrast in self.contrasts.items()}
        self.p_holm = self._holm(self.p)

    def outcome(self, id_: str) -> str:
        """The verdict in a word; ``not run`` comes before ``not applicable``."""
        if self.evidence.missing(NEEDS[id_]):
            return decide.NOT_RUN
        if id_ == "M4":
            return decide.m4(*self.range_and_gap())
        contrast = self.contrasts[id_]
        low, high, narrow = contrast.estimate.low, contrast.estimate.high, contrast.narrow
        margin, alpha = self._margin, self._alpha
        if contrast.identical and id_ in ("H1", "M2"):  # held against the margin by interval alone
            bound = identical_bound(contrast.estimate.n)
            low, high, narrow = -bound, bound, (-bound, bound)
        match id_:
            case "H1":
                return decide.h1(low, high, self.p_holm["H1"], margin, alpha)
            case "H2":
                return decide.h2(low, high, self.p_holm["H2"], margin, alpha)
            case "M1":
                return decide.m1(self.outcome("H1"))
            case "M2":
                return decide.m2(self.outcome("H1"), low, high, narrow, margin)
            case "M3":
                return decide.m3(low, high, self.p["M3"], alpha)
        if self.outcome("H1") != decide.SUPPORTED:
            return decide.NOT_APPLICABLE
        if id_ == "H3a":
            return decide.h3a(low, high, self.p_holm["H3a"], alpha)
        return decide.h3b(low, narrow, self.p_holm.get(id_, self.p[id_]), margin, alpha)

    @cached_property
    def over_tide(self) -> dict[float, Contrast | None]:
        """Coral minus Tide at each w of Tide's curve; None where its variant was not run."""
        return {
            w: self.evidence.contrast({CORAL: 1.0, TIDE._replace(variant=variant): -1.0})
            for w, variant in self.stated.tide_curve.items()
        }

    @cached_property
    def along_tide(self) -> dict[float, str]:
        """H2's outcome at each w of Tide's curve; ``not run`` where its variant was not."""
        outcomes = {}
        for w, contrast in self.over_tide.items():
            if contrast is None:
                outcomes[w] = decide.NOT_RUN
                continue
            p = self._holm({**self.p, "H2": self._p("H2", contrast)})["H2"]
            estimate = contrast.estimate
            outcomes[w] = decide.h2(estimate.low, estimate.high, p, self._margin, self._alpha)
        return outcomes

    def range_and_gap(self) -> tuple[float, float]:
        """The range of Coral's means over the seeds, and its mean difference to Dense."""
        spread = self.evidence.spread(CORAL)
        low, high = spread.low or 0.0, spread.high or 0.0
        return high - low, self.contrasts["H1"].estimate.value

    def uncomputed(self) -> list[str]:
        """The ids of the family whose p counts as 1, since their runs are not all there."""
        return [id_ for id_ in self.stated.family if id_ not in self.p]

    def numbers(self, id_: str) -> dict[str, float]:
        """What stands behind a verdict, as fractions by name; empty without its runs."""
        if self.evidence.missing(NEEDS[id_]):
            return {}
        if id_ == "M4":
            spread = self.evidence.spread(CORAL)
            range_, gap = self.range_and_gap()
            ends = {"sd": spread.sd, "seed_min": spread.low, "seed_max": spread.high}
            there = {name: value for name, value in ends.items() if value is not None}
            n = self.contrasts["H1"].estimate.n
            return {"range": range_, "gap": gap, **there, "n": float(n)}
        contrast = self.contrasts[id_]
        numbers = {
            "difference": contrast.estimate.value,
            "ci_low": contrast.estimate.low,
            "ci_high": contrast.estimate.high,
            "narrow_low": contrast.narrow[0],
            "narrow_high": contrast.narrow[1],
            "n": float(contrast.estimate.n),
        }
        if math.isfinite(contrast.smallest):
            numbers["smallest_detectable"] = contrast.smallest
        if id_ not in ("M1", "M2"):  # they are decided by H1 and intervals
            numbers["p"] = self.p[id_]
        if id_ in self.p_holm:
            numbers["p_holm"] = self.p_holm[id_]
        if id_ == "H3a":
            numbers["gain"] = gain = self.contrasts["H1"].estimate.value
            numbers["cost"] = contrast.estimate.value + gain / 2
        return numbers

    def _p(self, id_: str, contrast: Contrast) -> float:
        margin = self._margin
        least = decide.p_identical(contrast.estimate.n, margin) if contrast.identical else 0.0
        match id_:
            case "H2":
                return max(decide.p_not_above(contrast.means, margin), least)
            case "H3a":
                return decide.p_above_zero(contrast.means)
            case "H3b" | "H3c":
                return max(decide.p_within(contrast.means, margin), least)
        return contrast.p

    def _holm(self, p: Mapping[str, float]) -> dict[str, float]:
        family = self.stated.family
        adjusted = holm([p.get(id_, 1.0) for id_ in family])
        return dict(zip(family, map(float, adjusted), strict=True))
