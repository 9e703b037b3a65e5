"""How the intervals, tests and families of the report were computed, in one paragraph."""

from __future__ import annotations

from engram_hydra.report.comparisons import ALPHA
from engram_hydra.report.document import Paragraph
from engram_hydra.report.estimates import BOOTSTRAP_SEED
from engram_hydra.report.statements import Statements
from engram_hydra.stats import RESAMPLES


def methods(statements: Statements) -> Paragraph:
    """For a paper's methods section; the figures are those that the code computes with."""
    margin, narrow = f"{statements.margin:g}", f"{statements.equivalence_confidence:g}%"
    family = ", ".join(statements.family)
    return Paragraph(
        f"Intervals: {statements.confidence:g}%, Wilson's for one run of zeros and ones, or seeds that "
        "agree on every question; else percentile bootstrap over questions of their means over the "
        f"seeds ({RESAMPLES:,} resamples, seed {BOOTSTRAP_SEED}), so they are conditional on the seeds; "
        "differences are paired by question. No interval is adjusted for their number. Tests: exact "
        "McNemar for two deterministic runs of zeros and ones, else sign flips of the differences by "
        f"question ({RESAMPLES:,} flips); both two-sided. Those of a statement with a margin or a share "
        "take the bootstrap resamples on its wrong side. Families, Holm in each, level "
        f"{ALPHA:g}: {family} by row; per metric and data set, all methods against the anchors; each "
        f"method against its ablations, one part off. Equivalence: the {narrow} interval within {margin} "
        "points of 0 on both sides. Where none of n questions differs, resampling has no spread: the p of "
        f"a statement with the margin is then at least the exact chance of that at a true rate of "
        f"{margin}%, {1 - statements.margin_share:g} to the power n, which is stricter than the "
        f"resamples' 1 / {RESAMPLES + 1:,}; H1, M1 and M2, decided by intervals, take 3 / n for their "
        "ends. Ties in score: the older item first, and BM25 with the "
        "newer first too; what the two do not agree on is undecided (ties). The smallest detectable "
        "difference is at 80% power, 2.8 sd / sqrt(n), for zeros and ones never below 6 / n."
    )
