"""Paired tests on the same questions, and Holm's correction over a family of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engram_hydra.errors import DataError
from engram_hydra.stats.checks import Floats, finite
from engram_hydra.stats.draws import RESAMPLES, blocks, signs

_ROUNDING = 1e-10  # of the sum of absolute differences: sums this near are the same sum


def mcnemar(a: Floats, b: Floats) -> float:
    """The exact two-sided p of McNemar's test, for two deterministic runs of a 0/1 metric.

    ``a`` and ``b`` have shape (n,), one 0 or 1 per question, in the same order of questions. It is
    the sign test on the questions where they differ; 1 if there are none.

    Source: McNemar (1947), Psychometrika 12:153-157; the binomial test is scipy's.

    Raises DataError if the shapes differ, are empty, or a value is neither 0 nor 1.
    """
    if a.shape != b.shape or a.ndim != 1 or a.size == 0 or not np.isin([a, b], (0, 1)).all():
        raise DataError(
            f"No McNemar test of values of shapes {a.shape} and {b.shape}: give a 0 or a 1 for each "
            "of the same questions, at least one."
        )
    wins, losses = int((a > b).sum()), int((a < b).sum())
    if wins + losses == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue)


def sign_flip(differences: Floats, *, seed: int, flips: int = RESAMPLES) -> Floats:
    """The two-sided p of the sign-flip test of each row of ``differences``, shape (rows, n).

    Under the null hypothesis a question's (seed-mean) difference is as likely to have the other
    sign. p is (1 + flips whose sum is at least as far from 0) / (1 + flips), so never 0, and 1 where
    all differences are 0. Every row sees the same flips. Returns shape (rows,).

    Source: Fisher (1935), The Design of Experiments, section 21; the added one: Phipson & Smyth
    (2010), Stat. Appl. Genet. Mol. Biol. 9(1):39.

    Raises DataError if ``differences`` is empty or holds a NaN or an infinity.
    """
    n = finite(differences, 2, "sign-flip test").shape[1]
    slack = _ROUNDING * np.abs(differences).sum(axis=1)
    observed = (np.abs(differences.sum(axis=1)) - slack)[:, np.newaxis]
    count = np.zeros(len(differences), dtype=np.int64)
    for start, stop in blocks(n, flips):
        sums = differences @ signs(n, seed, start, stop).T.astype(np.float64)
        count += (np.abs(sums) >= observed).sum(axis=1)
    p: Floats = (1 + count) / (1 + flips)
    return p


def share_p(count: int, resamples: int = RESAMPLES) -> float:
    """The p of a one-sided statement, from the ``count`` of resamples on its wrong side; never 0.

    Raises DataError if ``count`` is not from 0 to ``resamples``.
    """
    if resamples < 1 or not 0 <= count <= resamples:
        raise DataError(
            f"No p for {count} of {resamples} resamples on the wrong side: give a count from 0 to "
            "the number of resamples, at least one."
        )
    return (1 + count) / (1 + resamples)


def holm(p: Sequence[float] | Floats) -> Floats:
    """Holm's adjusted p values of one family, shape (m,), in the order given; at most 1.

    Source: Holm (1979), Scand. J. Statist. 6:65-70.

    Raises DataError if a p is not from 0 to 1.
    """
    raw = np.asarray(p, dtype=np.float64)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        raise DataError(
            f"No Holm correction of {raw.tolist()}: give a list of p, each from 0 to 1."
        )
    # statsmodels' own collects garbage on every call, which takes a tenth of a second.
    order = np.argsort(raw)
    stepped = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted
