"""Coral: a memory that grows like a reef, so that new facts displace old ones.

Rebuilt from its description; the original code was not at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.coral.neighbours import (
    ExactNeighbours,
    FoundNeighbours,
    Neighbours,
    Rival,
)
from engram_hydra.memories.coral.polyp import Polyps
from engram_hydra.memories.coral.reef import Centroids, Reef
from engram_hydra.memories.heirs import HeirMemory
from engram_hydra.memories.index import Index
from engram_hydra.memories.memory import Embed, Hit

NEWCOMERS_AT_ONCE = 256


class Archipelago(HeirMemory):
    """Reefs of polyps. Constants and switches are those of ``conf/method/coral.yaml``.

    Writing, for each item: *settle* in a reef drawn by affinity, or found one; the *immune response*
    lets the newcomer displace its nearest living neighbour where that one stands out in the reef;
    the displaced *calcifies* and points to its *heir*; every ``cycle_every`` items a cycle passes,
    and who was not *fed* by reads for long starves. Reading ranks all polyps by cosine, halved for
    the calcified, while heirs answer for their ancestors.
    """

    uses_index: ClassVar[bool] = True
    stochastic: ClassVar[bool] = True

    def __init__(
        self,
        *,
        settling_exponent: float,
        founding_affinity: float,
        min_reef_size: int,
        outlier_z: float,
        resistance: float,
        fixed_cosine: float,
        calcified_score: float,
        mass_split: float,
        maintenance_cost: float,
        lean_cycles: int,
        cycle_every: int | None,
        heirs: bool,
        calcification: bool,
        immune_response: bool,
        feeding: bool,
        resist: bool,
        reef_threshold: bool,
        settling_noise: bool,
        ties: str,
        embed: Embed,
        index: Index,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(
            heirs=heirs,
            calcified_score=calcified_score if calcification else 1.0,
            ties=ties,
            embed=embed,
            index=index,
        )
        self.settling_exponent = settling_exponent
        self.founding_affinity = founding_affinity
        self.min_reef_size = min_reef_size
        self.outlier_z = outlier_z
        self.resistance = resistance if resist else 0.0
        self.fixed_cosine = fixed_cosine
        self.mass_split = mass_split
        self.maintenance_cost = maintenance_cost
        self.lean_cycles = lean_cycles
        self.cycle_every = cycle_every
        self.immune_response = immune_response
        self.feeding = feeding
        self.reef_threshold = reef_threshold
        self.settling_noise = settling_noise
        self.rng = rng

        self.polyps = Polyps()
        self.reefs: list[Reef] = []
        compared = ExactNeighbours if index.exhaustive else FoundNeighbours
        self.neighbours: Neighbours = compared(self.polyps, index)
        self.cycles = 0
        self.maintenance_paid = 0.0
        self.did: Counter[str] = Counter()

    @classmethod
    def is_stochastic(cls, constants: Mapping[str, object]) -> bool:
        return bool(constants.get("settling_noise", True))

    @property
    def living(self) -> NDArray[np.bool_]:
        return self.polyps.living

    @property
    def heir(self) -> NDArray[np.intp]:
        return self.polyps.heir

    # Writing

    def _remember(self, vectors: NDArray[np.float32]) -> None:
        start = self.index.size
        if start == 0:
            self.centroids = Centroids(vectors.shape[1])
        self.polyps.extend(len(vectors))
        draws = self.rng.random(len(vectors)).tolist()
        for offset in range(0, len(vectors), NEWCOMERS_AT_ONCE):
            part = slice(offset, offset + NEWCOMERS_AT_ONCE)
            first, block = start + offset, vectors[part].astype(np.float64)
            rough = self.centroids.roughly(block)
            guess = np.array([*map(self._choose, rough, draws[part])])
            self.neighbours.arrive(first, block, guess)
            for newcomer, (vector, draw) in enumerate(zip(block, draws[part], strict=True), first):
                self._settle(newcomer, vector, draw)
                if self.cycle_every and (newcomer + 1) % self.cycle_every == 0:
                    self._cycle(newcomer + 1)
            self.index.add(vectors[part])

    def _settle(self, newcomer: int, vector: NDArray[np.float64], draw: float) -> None:
        """Find ``newcomer`` its reef, and let the reef answer."""
        affinities = self.centroids.affinities(vector)
        number = self._choose(affinities, draw)
        if number == len(self.reefs):
            self.reefs.append(Reef(number))
            self.centroids.found()
        elif self.settling_noise:
            self.did["strayed"] += bool(affinities[number] < affinities.max())
        reef = self.reefs[number]
        rival = self.neighbours.rival(newcomer, reef)
        displaced = self._displaced(newcomer, reef, rival)
        self.polyps.reef[newcomer] = number
        reef.join(newcomer)
        self.neighbours.settle(newcomer, reef)
        mass = 1.0
        if displaced is not None:
            moved = self.polyps.displace(displaced, newcomer, self.mass_split)
            old_reef = int(self.polyps.reef[displaced])
            (old,) = self.neighbours.vectors(np.array([displaced]))
            self.centroids.add(old_reef, -moved, old)
            mass += moved
            self.did["displacements"] += 1
        self.centroids.add(number, mass, vector)
        if rival is not None:
            self.polyps.dependants[rival.position] += 1

    def _choose(self, affinities: NDArray[np.float64], draw: float) -> int:
        """The reef to settle in by its affinities, shape (reefs,); as many as there are to found one.

        ``draw`` is uniform in [0, 1).
        """
        nearest = int(affinities.argmax()) if len(affinities) else 0
        if not len(affinities) or affinities[nearest] < self.founding_affinity:
            return len(affinities)
        if not self.settling_noise:
            return nearest
        near = affinities >= self.founding_affinity
        shares = np.maximum(affinities, 0) / affinities[nearest]  # at most 1: no power overflows
        chances = (shares**self.settling_exponent * near).cumsum()
        drawn = min(draw * chances[-1], np.nextafter(chances[-1], 0))
        return int(chances.searchsorted(drawn, side="right"))

    def _displaced(self, newcomer: int, reef: Reef, rival: Rival | None) -> int | None:
        """The polyp that the immune response makes way for ``newcomer``, if it fires."""
        if rival is None or not self.immune_response or len(reef) < self.min_reef_size:
            return None
        if not self.reef_threshold:
            return rival.position if rival.cosine > self.fixed_cosine else None
        threshold = self.outlier_z + self.resistance * int(self.polyps.dependants[rival.position])
        cuts = (self.outlier_z, threshold)
        z = self.neighbours.outlyingness(newcomer, reef, rival.cosine, cuts)
        self.did["resisted"] += bool(self.outlier_z < z <= threshold)
        return rival.position if z > threshold else None

    def _cycle(self, settled: int) -> None:
        polyps = self.polyps
        self.did["fed"] += int((polyps.last_fed[:settled] == self.cycles).sum())
        paid, starved = polyps.cycle(settled, self.maintenance_cost, self.cycles, self.lean_cycles)
        self.cycles += 1
        self.maintenance_paid += paid
        self.did["starved"] += starved
        if paid > 0:
            for reef in self.reefs:
                members = self.neighbours.vectors(reef.members)
                masses = polyps.mass[reef.members]
                self.centroids.put(reef.number, np.einsum("n,nd->d", masses, members))

    # Reading

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        rankings = super().read(queries, k)
        if self.feeding:
            fed = [self.position_of[hit.id] for ranking in rankings for hit in ranking]
            self.polyps.last_fed[fed] = self.cycles
        return rankings

    # What happened

    def counters(self) -> Mapping[str, float]:
        return {
            "reefs": len(self.reefs),
            "displacements": self.did["displacements"],
            "living": int(self.living.sum()),
            "calcified": int((~self.living).sum()),
            "starved": self.did["starved"],
            "resisted": self.did["resisted"],
            "strayed": self.did["strayed"],
            "cycles": self.cycles,
            "mass": float(self.polyps.mass.sum()),
            "maintenance_paid": self.maintenance_paid,
            "rivals_unseen": self.neighbours.unseen,
        }

    def distributions(self) -> Mapping[str, Sequence[float]]:
        polyps = self.polyps
        return {
            "reef_size": [len(reef) for reef in self.reefs],
            **super().distributions(),
            "mass": polyps.mass.tolist(),
            "rings": polyps.rings.tolist(),
            "dependants": polyps.dependants.tolist(),
        }

    def table(self) -> Mapping[str, Sequence[object]]:
        return self.polyps.columns()

    def inert(self) -> Sequence[str]:
        """Mechanisms that acted on no polyp so far, each followed by the constants only it uses."""
        displaced = self.did["displacements"] > 0
        calcified = displaced or self.did["starved"] > 0
        acted = {
            ("settling_noise", "settling_exponent"): self.did["strayed"] > 0,
            ("immune_response", "min_reef_size", "mass_split"): displaced,
            ("reef_threshold", "outlier_z"): displaced and self.reef_threshold,
            ("fixed_threshold", "fixed_cosine"): displaced and not self.reef_threshold,
            ("resist", "resistance"): self.did["resisted"] > 0,
            ("calcification", "calcified_score"): calcified and self.calcified_score != 1,
            ("heirs",): displaced and self.heirs,
            ("cycles", "cycle_every", "maintenance_cost"): self.cycles > 0,
            ("starvation", "lean_cycles"): self.did["starved"] > 0,
            ("feeding",): self.did["fed"] > 0,
        }
        return [name for names, did in acted.items() if not did for name in names]
