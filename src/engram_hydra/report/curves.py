"""Retrieval curves: the share of questions with something relevant among the first k, for every k."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import numpy as np

from engram_hydra.report.estimates import Cell, Estimate
from engram_hydra.report.estimator import Estimator

Curve = list[tuple[int, Estimate]]


def curves(estimator: Estimator, labels: Mapping[Cell, str], k: int) -> dict[str, Curve]:
    """For each cell of ``labels`` that was run, the share at every cut from 1 to ``k``.

    At the cuts that are logged it is ``answer_in_top``, or ``recall_any`` where the data name their
    gold items. Each question counts with its mean over the seeds. A cell whose runs have no gold items
    beside their questions, as older ones, is left out.
    """
    found = {}
    for cell, label in labels.items():
        ranks = _first_ranks(estimator, cell)
        if ranks:
            found[label] = [
                (cut, Estimate.of(np.array([fmean(r <= cut for r in of) for of in ranks])))
                for cut in range(1, k + 1)
            ]
    return found


def _first_ranks(estimator: Estimator, cell: Cell) -> list[list[float]]:
    """By question the rank of the first relevant item in each of the cell's runs, else infinity."""
    by_question: dict[str, list[float]] = {}
    for run in estimator.cells.get(cell, {}).values():
        for row in estimator.rows(run):
            if "gold_items" not in row:
                return []
            relevant = set(row["gold_items"])
            ranks = (n for n, item in enumerate(row["items"], start=1) if item in relevant)
            by_question.setdefault(row["question_id"], []).append(next(ranks, np.inf))
    return list(by_question.values())
