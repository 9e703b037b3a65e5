"""Retrieval curves: the share of questions with something relevant among the first k, for every k."""

from __future__ import annotations

from statistics import fmean

import numpy as np

from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator

Curve = list[tuple[int, Estimate]]


def curve(estimator: Estimator, cell: Cell, k: int) -> Curve:
    """The share at every cut from 1 to ``k``.

    At the cuts that are logged it is ``answer_in_top``, or ``recall_any`` where the data name their
    gold items, with the interval that the table has. Each question counts with its mean over the
    seeds. Empty where the cell was not run or its runs have no gold items beside their questions, as
    older ones.
    """
    ranks = _first_ranks(estimator, cell)
    if not ranks:
        return []
    return [
        (cut, Estimate.of_share(np.array([fmean(r <= cut for r in of) for of in ranks])))
        for cut in range(1, k + 1)
    ]


def _first_ranks(estimator: Estimator, cell: Cell) -> list[list[float]]:
    """By question, in the order of their ids, each run's rank of the first relevant item, or infinity."""
    by_question: dict[str, list[float]] = {}
    for run in estimator.cells.get(cell, {}).values():
        for row in estimator.rows(run):
            if "gold_items" not in row:
                return []
            relevant = set(row["gold_items"])
            ranks = (n for n, item in enumerate(row["items"], start=1) if item in relevant)
            by_question.setdefault(str(row["question_id"]), []).append(next(ranks, np.inf))
    return [by_question[id_] for id_ in sorted(by_question)]
