"""Statistics of questions: intervals, paired tests, families, and what could have been seen.

Everything is a pure function of numbers. Rows are comparisons, metrics or cells on the same n
questions; questions are the unit, and several seeds of a question enter as their mean.
"""

from __future__ import annotations

from engram_hydra.stats.bootstrap import (
    bootstrap_mean,
    bootstrap_means,
    percentile_interval,
    stratified_bootstrap_means,
)
from engram_hydra.stats.detectable import identical_bound, is_saturated, smallest_detectable
from engram_hydra.stats.draws import RESAMPLES
from engram_hydra.stats.paired import holm, mcnemar, share_p, sign_flip
from engram_hydra.stats.proportion import wilson

__all__ = [
    "RESAMPLES",
    "bootstrap_mean",
    "bootstrap_means",
    "holm",
    "identical_bound",
    "is_saturated",
    "mcnemar",
    "percentile_interval",
    "share_p",
    "sign_flip",
    "smallest_detectable",
    "stratified_bootstrap_means",
    "wilson",
]
