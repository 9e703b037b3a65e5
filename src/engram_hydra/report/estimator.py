"""A metric of one cell, and contrasts of several, with intervals over the same questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram_hydra.errors import DataError
from engram_hydra.report.cells import DETERMINISTIC, Run, Selection
from engram_hydra.report.estimates import (
    NOT_APPLICABLE,
    NOT_RUN,
    Cell,
    Estimate,
    Spread,
    seed_list,
)

SEEDS = ("0", "1", "2", "3", "4")
ON_COMMON_SEEDS = "difference on the common seeds "
_DIGITS = 12  # of a difference: 0.6 - 0.4 and 0.2 are the same


class Estimator:
    """Estimates over a selection of runs; loads the questions of each run at most once."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.cells: dict[Cell, dict[str, Run]] = {}
        for key, run in selection.cells.items():
            cell = Cell(key.method, key.ablation, key.variant, key.audit)
            self.cells.setdefault(cell, {})[key.seed] = run
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def rows(self, run: Run) -> list[dict[str, Any]]:
        """The run's per-question rows, loaded once."""
        if run.run_id not in self._rows:
            self._rows[run.run_id] = run.per_question()
        return self._rows[run.run_id]

    def logs(self, metric: str, *, audit: bool = False) -> bool:
        """Whether any run logged the metric: an audit run, or one of the others."""
        return any(
            metric in run.metrics
            for cell, runs in self.cells.items()
            if bool(cell.audit) == audit
            for run in runs.values()
        )

    def of(self, cell: Cell, metric: str) -> tuple[Estimate | str, Spread, list[str]]:
        """The cell's estimate (or ``not run`` or ``n/a``), its spread over seeds, and notes.

        One run, or several that agree on each question, stand with the logged interval; a mean over
        seeds with a bootstrap interval of the per-question means, conditional on the seeds.

        Raises DataError if a number is missing or none, or if the seeds saw different questions.
        """
        runs, notes = self._runs(cell, metric)
        if not runs:
            return (NOT_APPLICABLE if cell in self.cells else NOT_RUN), Spread(), notes
        means = {seed: _logged(run, metric) for seed, run in runs.items()}
        _, values = self._by_question(runs, metric)
        if set(values) <= {0.0, 1.0} or len(runs) == 1:
            run = next(iter(runs.values()))
            low, high = _logged(run, f"{metric}_ci_low"), _logged(run, f"{metric}_ci_high")
            estimate = Estimate(fmean(means.values()), low, high, values.size)
        else:
            estimate = Estimate.of(values)
        return estimate, Spread.of(means), notes

    def contrast(
        self, weights: Mapping[Cell, float], metric: str
    ) -> tuple[Estimate | str, list[str]]:
        """Mean of a weighted sum of cells, paired by question, on the seeds all have; and notes.

        ``{a: 1, b: -1}`` is the difference a − b. Raises DataError as ``paired`` does.
        """
        values, notes = self.paired(list(weights), metric)
        if isinstance(values, str):
            return values, notes
        sums = np.round(np.array(list(weights.values())) @ values, _DIGITS) + 0.0  # of -0.0 a 0
        if not sums.any():
            n = sums.size
            notes.append(
                f"identical on {n} questions; true rate of difference below {min(3 / n, 1):.3f}"
            )
        return Estimate.of(sums), notes

    def paired(
        self, cells: Sequence[Cell], metric: str
    ) -> tuple[NDArray[np.float64] | str, list[str]]:
        """Seed means by question, shape (cells, questions), on the seeds all cells have; and notes.

        A deterministic cell stands for every seed: its one run meets the others' seed means. Where
        there is nothing to pair, ``not run`` or ``n/a`` in place of the numbers.

        Raises DataError if two of the runs saw different questions.
        """
        runs = [self._runs(cell, metric)[0] for cell in cells]
        if not all(runs):
            known = all(cell in self.cells for cell in cells)
            return (NOT_APPLICABLE if known else NOT_RUN), []
        notes = []
        seeds = [set(of_cell) for of_cell in runs if DETERMINISTIC not in of_cell]
        if any(some != seeds[0] for some in seeds):
            common = set.intersection(*seeds)
            if not common:
                mismatch = " against ".join(dict.fromkeys(map(seed_list, seeds)))
                return NOT_APPLICABLE, [f"not paired: no common seed (seeds {mismatch})"]
            runs = [
                {s: run for s, run in of_cell.items() if s in {*common, DETERMINISTIC}}
                for of_cell in runs
            ]
            notes.append(f"{ON_COMMON_SEEDS}{seed_list(common)} only")
        columns = [self._by_question(of_cell, metric) for of_cell in runs]
        first, *others = [next(iter(of_cell.values())) for of_cell in runs]
        for run, (ids, _) in zip(others, columns[1:], strict=True):
            _same_questions(columns[0][0], ids, first, run, metric)
        return np.array([values for _, values in columns]), notes

    def common_seeds(self, cells: Sequence[Cell], metric: str) -> str:
        """The seeds that ``paired`` takes of the cells: ``0-4``, or ``det.`` where none has seeds."""
        seeds = [set(self._runs(cell, metric)[0]) - {DETERMINISTIC} for cell in cells]
        stochastic = [of_cell for of_cell in seeds if of_cell]
        return seed_list(set.intersection(*stochastic) if stochastic else {DETERMINISTIC})

    def runs(self, cell: Cell, metric: str) -> dict[str, Run]:
        """The runs behind the cell's estimate, by seed; empty where none logged the metric."""
        return self._runs(cell, metric)[0]

    def by_seed(self, cell: Cell, metric: str) -> dict[str, NDArray[np.float64]]:
        """The values of each run behind the cell's estimate, in the order of the question ids."""
        columns = {seed: self._column(run, metric) for seed, run in self.runs(cell, metric).items()}
        return {
            seed: np.array([column[id_] for id_ in sorted(column)])
            for seed, column in columns.items()
        }

    def question_ids(self, cell: Cell, metric: str) -> list[str]:
        """The ids of the questions that have the metric, in the order of ``paired``'s columns."""
        return self._by_question(self.runs(cell, metric), metric)[0]

    def _runs(self, cell: Cell, metric: str) -> tuple[dict[str, Run], list[str]]:
        """The cell's runs that logged the metric, by seed, and notes on those that are not there."""
        every = self.cells.get(cell, {})
        runs = {seed: run for seed, run in sorted(every.items()) if metric in run.metrics}
        notes = []
        if len(runs) < len(every):
            notes.append(f"{metric} not logged on seed {seed_list(set(every) - set(runs))}")
        if DETERMINISTIC in runs and len(runs) > 1:
            notes.append(f"deterministic run {runs.pop(DETERMINISTIC).run_id[:8]} left aside")
        missing = set(SEEDS) - set(every)
        if runs and DETERMINISTIC not in runs and missing:
            notes.append(f"seed {seed_list(missing)} not run")
        return runs, notes

    def _by_question(
        self, runs: Mapping[str, Run], metric: str
    ) -> tuple[list[str], NDArray[np.float64]]:
        """Question ids, sorted, and each question's mean over the runs."""
        first, *others = runs.values()
        columns = [self._column(run, metric) for run in runs.values()]
        ids = sorted(columns[0])
        for run, column in zip(others, columns[1:], strict=True):
            _same_questions(ids, sorted(column), first, run, metric)
        return ids, np.array([[column[id_] for id_ in ids] for column in columns]).mean(axis=0)

    def _column(self, run: Run, metric: str) -> dict[str, float]:
        """The metric of each question that has it; it must give the mean that was logged."""
        rows = [row for row in self.rows(run) if metric in row["metrics"]]
        column = {str(row["question_id"]): float(row["metrics"][metric]) for row in rows}
        mean = fmean(column.values()) if column else math.nan
        if len(column) < len(rows) or not math.isclose(mean, _logged(run, metric), abs_tol=1e-9):
            raise DataError(
                f"The per-question file of run {run.run_id} gives {mean} for {metric} over "
                f"{len(rows)} rows, not what the run logged: the file is damaged, so do the run again "
                "with existing=rerun."
            )
        return column


def _logged(run: Run, name: str) -> float:
    value = run.metrics.get(name, math.nan)
    if not math.isfinite(value):
        raise DataError(
            f"Run {run.run_id} has no finite {name} (found {value}): delete it or run it again."
        )
    return value


def _same_questions(a: list[str], b: list[str], run_a: Run, run_b: Run, metric: str) -> None:
    if a != b:
        odd = sorted(set(a) ^ set(b))
        older, newer = sorted((run_a, run_b), key=lambda run: run.started)
        raise DataError(
            f"Runs {older.run_id} (the older) and {newer.run_id} (the newer) can't be paired on {metric}: "
            f"{len(odd)} questions stand in one of them only ({odd[0]} first), so do the wrong one again "
            "with existing=rerun."
        )
