"""``python -m engram_hydra.calibrate method=coral``: the constants that a page does not give.

Run once, before any scored run, on generated data that no scored run may see. Every grid point is
tried on every set; the best mean objective wins, ties go to the point nearest the middle of the
grid. The table of all points is the evidence for the constants in ``conf/method/``.
"""

from __future__ import annotations

import csv
import itertools
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from omegaconf import DictConfig, OmegaConf

from engram_hydra.cli import hydra_command
from engram_hydra.config import Synthetic
from engram_hydra.datasets.dataset import Dataset
from engram_hydra.errors import ConfigError
from engram_hydra.memories.coral.archipelago import Archipelago
from engram_hydra.memories.heirs import HeirMemory
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex
from engram_hydra.memories.memory import Memory
from engram_hydra.memories.tide import Tide
from engram_hydra.metrics.retrieval import answer_rank

log = logging.getLogger(__name__)

DIGITS = 6  # of an objective; below them, differences are rounding errors

Point = dict[str, Any]


class Embedded(NamedTuple):
    """One generated set with the vectors of its items and questions."""

    data: Dataset
    vectors: dict[str, NDArray[np.float32]]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.vectors[text] for text in texts])


def immune_f1(memory: HeirMemory, sample: Embedded) -> float:
    """F1 of the displacements against the known (old, new) pairs; 1 where both are none."""
    memory.write(sample.data.items)
    position = memory.position_of
    found = {(position[old], position[new]) for old, new in memory.displacements()}
    known = set(sample.data.histories[0].superseded_by)
    total = len(found) + len(known)
    return 2 * len(found & known) / total if total else 1.0


def top_1(memory: Tide, sample: Embedded) -> float:
    """Share of the single-hop questions whose first item contains the answer."""
    memory.write(sample.data.items)
    text = {item.id: item.text for item in sample.data.items}
    questions = [q for q in sample.data.questions if q.kind == "single_hop"]
    rankings = memory.read([question.text for question in questions], 1)
    return fmean(
        answer_rank([text[ranking[0].id]], question.answers) == 1
        for question, ranking in zip(questions, rankings, strict=True)
    )


OBJECTIVES: Mapping[str, tuple[type[Memory], Any]] = {
    "coral": (Archipelago, immune_f1),
    "heirs_only": (HeirsOnly, immune_f1),
    "tide": (Tide, top_1),
}


def calibrate(cfg: DictConfig) -> None:
    """Try every grid point of every step, write the evidence, and say what to put into ``conf/``."""
    from tqdm import tqdm

    name = cfg.method.name
    _assert_unscored(cfg.calibration.seeds)
    samples = list(_samples(cfg))
    constants: Point = OmegaConf.to_container(cfg.method)  # type: ignore[assignment]
    del constants["_target_"], constants["name"]
    chosen: Point = {}
    with ProcessPoolExecutor(cfg.workers) as pool:
        for number, step in enumerate(cfg.calibration.steps, start=1):
            base = constants | chosen | dict(step.get("set", {}))
            points = list(grid_points(step.grid))
            tried = pool.map(partial(_try, name, base, samples), points, chunksize=4)
            every = 1 if sys.stderr.isatty() else 30
            progress = tqdm(tried, f"{name} step {number}", len(points), mininterval=every)
            scores = [round(score, DIGITS) for score in progress]  # so the table decides as we do
            best = best_point(step.grid, points, scores)
            chosen |= points[best]
            _write(Path(cfg.evidence) / f"{name}_step{number}.csv", points, scores)
            log.info("step %d: objective %.4f at %s", number, scores[best], points[best])
    log.info("put into conf/method/%s.yaml: %s", name, chosen)


def grid_points(grid: Mapping[str, Sequence[Any]]) -> Iterator[Point]:
    """All combinations of the grid's values."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def best_point(
    grid: Mapping[str, Sequence[Any]], points: Sequence[Point], scores: Sequence[float]
) -> int:
    """Index of the best score; of several, the point with the fewest steps from the grid's middle."""

    def steps_from_middle(point: Point) -> float:
        return sum(
            abs(list(values).index(point[name]) - (len(values) - 1) / 2)
            for name, values in grid.items()
        )

    return min(range(len(points)), key=lambda i: (-scores[i], steps_from_middle(points[i]), i))


def _try(name: str, base: Point, samples: Sequence[Embedded], point: Point) -> float:
    """Mean objective of one point over all sets, method seed 0."""
    cls, objective = OBJECTIVES[name]
    scores = []
    for sample in samples:
        arguments = base | point | {"embed": sample.embed}
        if cls.uses_index:
            arguments["index"] = ExactIndex()
        if cls.stochastic:
            arguments["rng"] = np.random.default_rng(0)
        scores.append(objective(cls(**arguments), sample))
    return fmean(scores)


def _samples(cfg: DictConfig) -> Iterator[Embedded]:
    from engram_hydra.datasets.synthetic import generate
    from engram_hydra.embedders.embedder import Embedder

    embedder = Embedder(cfg.embedder, Path(cfg.paths.cache) / "vectors")
    sets = [
        generate(seed=seed, conflict_rate=rate)
        for rate in cfg.calibration.conflict_rates
        for seed in cfg.calibration.seeds
    ]
    embedder.warm([text for data in sets for text in data.texts])
    for data in sets:
        yield Embedded(data, dict(zip(data.texts, embedder(data.texts), strict=True)))


def _assert_unscored(seeds: Sequence[int]) -> None:
    """No scored run may have seen a calibration set: its schema allows lower seeds only."""
    (spec,) = (spec for spec in fields(Synthetic) if spec.name == "seed")
    if min(seeds) <= spec.metadata["le"]:
        raise ConfigError(
            f"calibration.seeds={list(seeds)}: scored runs use generator seeds up to"
            f" {spec.metadata['le']}, so calibrate on higher ones."
        )


def _write(file: Path, points: Sequence[Point], scores: Sequence[float]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow([*points[0], "objective"])
        for point, score in zip(points, scores, strict=True):
            table.writerow([*point.values(), f"{score:.{DIGITS}f}"])


if __name__ == "__main__":
    hydra_command(calibrate, config_name="calibrate")
