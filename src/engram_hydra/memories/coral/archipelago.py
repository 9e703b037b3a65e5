"""Coral: a memory of reefs, in which new facts displace old ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.coral.polyp import NONE, Polyps
from engram_hydra.memories.coral.reef import Reef, outlyingness
from engram_hydra.memories.memory import Embed, Hit
from engram_hydra.memories.ranking import top_k
from engram_hydra.memories.vectors import VectorMemory

NEWCOMERS_AT_ONCE = 256


class Archipelago(VectorMemory):
    """Reefs of polyps. Constants and switches are those of ``conf/method/coral.yaml``.

    Writing, for each item: *settle* in a reef drawn by affinity, or found one; the *immune response*
    lets the newcomer displace its nearest living neighbour where that one stands out in the reef;
    the displaced *calcifies* and points to its *heir*; every ``cycle_every`` items a cycle passes,
    and who was not *fed* by reads for long starves. Reading ranks all polyps by cosine, halved for
    the calcified, while heirs answer for their ancestors.
    """

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
        rng: np.random.Generator,
    ) -> None:
        super().__init__(ties=ties, embed=embed)
        self.settling_exponent = settling_exponent
        self.founding_affinity = founding_affinity
        self.min_reef_size = min_reef_size
        self.outlier_z = outlier_z
        self.resistance = resistance if resist else 0.0
        self.fixed_cosine = fixed_cosine
        self.calcified_score = calcified_score if calcification else 1.0
        self.mass_split = mass_split
        self.maintenance_cost = maintenance_cost
        self.lean_cycles = lean_cycles
        self.cycle_every = cycle_every
        self.heirs = heirs
        self.immune_response = immune_response
        self.feeding = feeding
        self.reef_threshold = reef_threshold
        self.settling_noise = settling_noise
        self.rng = rng

        self.polyps = Polyps()
        self.reefs: list[Reef] = []
        self.norms: NDArray[np.float64] = np.empty(0)
        self.cycles = 0
        self.maintenance_paid = 0.0
        self.did: Counter[str] = Counter()

    @classmethod
    def is_stochastic(cls, constants: Mapping[str, object]) -> bool:
        return bool(constants.get("settling_noise", True))

    # Writing

    def write(self, items: Sequence[Item]) -> None:
        start = len(self.ids)
        super().write(items)
        self.polyps.extend(len(items))
        for first in range(start, len(self.ids), NEWCOMERS_AT_ONCE):
            last = min(first + NEWCOMERS_AT_ONCE, len(self.ids))
            cosines = self.vectors[first:last] @ self.vectors[:last].T
            for newcomer in range(first, last):
                self._settle(newcomer, cosines[newcomer - first, :newcomer])
                if self.cycle_every and (newcomer + 1) % self.cycle_every == 0:
                    self._cycle(newcomer + 1)

    def _settle(self, newcomer: int, cosines: NDArray[np.float64]) -> None:
        """Find ``newcomer`` its reef and let the reef answer; ``cosines``: to all earlier polyps."""
        number = self._choose_reef(cosines, self.rng.random())
        if number == len(self.reefs):
            self.reefs.append(Reef(self.vectors.shape[1]))
            self.norms = np.append(self.norms, 0.0)
        reef = self.reefs[number]
        rival = self._rival(reef, cosines)
        contradicts = rival is not None and self._contradicts(reef, rival, cosines)
        self.polyps.reef[newcomer] = number
        reef.join(newcomer, self.vectors[newcomer], 1.0)
        if rival is not None:
            if contradicts:
                moved = self.polyps.displace(rival, newcomer, self.mass_split)
                reef.weighted_sum += moved * (self.vectors[newcomer] - self.vectors[rival])
                self.did["displacements"] += 1
            self.polyps.dependants[rival] += 1
        self.norms[number] = reef.norm

    def _choose_reef(self, cosines: NDArray[np.float64], draw: float) -> int:
        """The number of the reef to settle in, or the next free one where none is near enough."""
        settled = len(cosines)
        weights = self.polyps.mass[:settled] * cosines
        sums = np.bincount(self.polyps.reef[:settled], weights, minlength=len(self.reefs))
        affinity = np.full(len(self.reefs), -1.0)
        np.divide(sums, self.norms, out=affinity, where=self.norms > 0)
        near = np.flatnonzero(affinity >= self.founding_affinity)
        if len(near) == 0:
            return len(self.reefs)
        nearest = int(near[np.argmax(affinity[near])])
        if not self.settling_noise:
            return nearest
        chances = np.cumsum((affinity[near] / affinity[nearest]) ** self.settling_exponent)
        drawn = np.searchsorted(chances, draw * chances[-1], side="right")
        chosen = int(near[min(drawn, len(near) - 1)])
        self.did["strayed"] += chosen != nearest
        return chosen

    def _rival(self, reef: Reef, cosines: NDArray[np.float64]) -> int | None:
        """The living member nearest to the newcomer, the oldest among equally near ones."""
        living = reef.members[self.polyps.living[reef.members]]
        return int(living[np.argmax(cosines[living])]) if len(living) else None

    def _contradicts(self, reef: Reef, rival: int, cosines: NDArray[np.float64]) -> bool:
        """Whether the immune response fires against ``rival``."""
        if not self.immune_response or len(reef) < self.min_reef_size:
            return False
        if not self.reef_threshold:
            return bool(cosines[rival] > self.fixed_cosine)
        z = outlyingness(cosines[rival], cosines[reef.members])
        resisted = self.resistance * self.polyps.dependants[rival]
        self.did["resisted"] += bool(self.outlier_z < z <= self.outlier_z + resisted)
        return bool(z > self.outlier_z + resisted)

    def _cycle(self, settled: int) -> None:
        polyps = self.polyps
        self.did["fed"] += int((polyps.last_fed[:settled] == self.cycles).sum())
        paid, starved = polyps.cycle(settled, self.maintenance_cost, self.cycles, self.lean_cycles)
        self.cycles += 1
        self.maintenance_paid += paid
        self.did["starved"] += starved
        if paid > 0:
            for number, reef in enumerate(self.reefs):
                reef.weighted_sum = polyps.mass[reef.members] @ self.vectors[reef.members]
                self.norms[number] = reef.norm

    # Reading

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if not self.ids:
            return [[] for _ in queries]
        polyps = self.polyps
        end = polyps.chain_ends() if self.heirs else None
        rankings, fed = [], []
        for cosine in self.cosines(queries):
            halved = ~polyps.living & (cosine > 0)
            scores = np.where(halved, cosine * self.calcified_score, cosine)
            if end is not None:
                ancestors = np.flatnonzero((polyps.heir != NONE) & polyps.living[end])
                np.maximum.at(scores, end[ancestors], cosine[ancestors])
            best = top_k(scores, k, self.ties, groups=end)
            rankings.append(self.hits(best, scores))
            fed.append(best)
        if self.feeding and fed:
            polyps.last_fed[np.concatenate(fed)] = self.cycles
        return rankings

    def tie_group(self, item_id: str) -> int:
        position = self.ids.index(item_id)
        return int(self.polyps.chain_ends()[position]) if self.heirs else position

    # What happened

    def counters(self) -> Mapping[str, float]:
        return {
            "reefs": len(self.reefs),
            "displacements": self.did["displacements"],
            "calcified": int((~self.polyps.living).sum()),
            "starved": self.did["starved"],
            "resisted": self.did["resisted"],
            "strayed": self.did["strayed"],
            "cycles": self.cycles,
            "mass": float(self.polyps.mass.sum()),
            "maintenance_paid": self.maintenance_paid,
        }

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
