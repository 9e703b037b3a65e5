"""A metric of one cell, and the paired difference of two, with intervals over the same questions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_hydra.errors import DataError
from engram_hydra.report.cells import DETERMINISTIC, Run, Selection
from engram_hydra.stats import bootstrap_mean

NOT_RUN = "not run"
NOT_APPLICABLE = "n/a"
SEEDS = ("0", "1", "2", "3", "4")
BOOTSTRAP_SEED = 0


class Cell(NamedTuple):
    """The runs that differ in nothing but their seed."""

    method: str
    ablation: str = "none"
    variant: str = ""


@dataclass(frozen=True)
class Estimate:
    """A mean over ``n`` questions with its 95% interval; fractions, or a difference of two."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Spread:
    """Over which seeds a mean was taken, and how far they differ (None with fewer than two).

    ``seeds`` reads ``0-4``, ``0-1,3`` or ``det.``; ``sd`` has ddof = 1.
    """

    seeds: str = ""
    sd: float | None = None
    low: float | None = None
    high: float | None = None


class Estimator:
    """Estimates over a selection of runs; loads the questions of each run at most once."""

    def __init__(self, selection: Selection) -> None:
        self.cells: dict[Cell, dict[str, Run]] = {}
        for key, run in selection.cells.items():
            cell = Cell(key.method, key.ablation, key.variant)
            self.cells.setdefault(cell, {})[key.seed] = run
        self._rows: dict[str, list[dict[str, Any]]] = {}

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
        run = next(iter(runs.values()))
        if set(values) <= {0.0, 1.0} or len(runs) == 1:
            low, high = _logged(run, f"{metric}_ci_low"), _logged(run, f"{metric}_ci_high")
        else:
            low, high = bootstrap_mean(values, seed=BOOTSTRAP_SEED)
        spread = Spread(seed_list(runs))
        if len(runs) > 1:
            spread = Spread(
                seed_list(runs), stdev(means.values()), min(means.values()), max(means.values())
            )
        return Estimate(fmean(means.values()), low, high, values.size), spread, notes

    def difference(self, a: Cell, b: Cell, metric: str) -> tuple[Estimate | str, list[str]]:
        """Mean of ``a`` − ``b`` paired by question, on the seeds both have; and notes.

        A deterministic cell stands for every seed: its one run meets the other's seed means.

        Raises DataError if the two saw different questions.
        """
        of_a, of_b = self._runs(a, metric)[0], self._runs(b, metric)[0]
        if not of_a or not of_b:
            known = all(cell in self.cells for cell in (a, b))
            return (NOT_APPLICABLE if known else NOT_RUN), []
        notes = []
        if DETERMINISTIC not in of_a and DETERMINISTIC not in of_b and set(of_a) != set(of_b):
            common = set(of_a) & set(of_b)
            if not common:
                mismatch = f"seeds {seed_list(of_a)} against {seed_list(of_b)}"
                return NOT_APPLICABLE, [f"not paired: no common seed ({mismatch})"]
            of_a = {seed: run for seed, run in of_a.items() if seed in common}
            of_b = {seed: run for seed, run in of_b.items() if seed in common}
            notes.append(f"difference on the common seeds {seed_list(common)} only")
        ids_a, values_a = self._by_question(of_a, metric)
        ids_b, values_b = self._by_question(of_b, metric)
        _same_questions(ids_a, ids_b, next(iter(of_a.values())), next(iter(of_b.values())), metric)
        differences = values_a - values_b
        if not differences.any():
            n = differences.size
            notes.append(
                f"identical on {n} questions; true rate of difference below {min(3 / n, 1):.3f}"
            )
        low, high = bootstrap_mean(differences, seed=BOOTSTRAP_SEED)
        return Estimate(fmean(differences), low, high, differences.size), notes

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
        if run.run_id not in self._rows:
            self._rows[run.run_id] = run.per_question()
        rows = [row for row in self._rows[run.run_id] if metric in row["metrics"]]
        column = {str(row["question_id"]): float(row["metrics"][metric]) for row in rows}
        mean = fmean(column.values()) if column else math.nan
        if len(column) < len(rows) or not math.isclose(mean, _logged(run, metric), abs_tol=1e-9):
            raise DataError(
                f"The per-question file of run {run.run_id} gives {mean} for {metric} over "
                f"{len(rows)} rows, not what the run logged: the file is damaged, so run it again."
            )
        return column


def seed_list(seeds: Iterable[str]) -> str:
    """``det.``, or the seeds in order with runs of neighbours joined: ``0-2,4``."""
    if DETERMINISTIC in (seeds := list(seeds)):
        return "det."
    spans: list[list[int]] = []
    for seed in sorted(map(int, seeds)):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ",".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)


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
        raise DataError(
            f"Runs {run_a.run_id} and {run_b.run_id} can't be paired on {metric}: {len(odd)} "
            f"questions stand in one of them only ({odd[0]} first), so run the older one again."
        )
