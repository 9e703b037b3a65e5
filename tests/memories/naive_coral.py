"""Coral written again, plainly and slowly, from its description: the oracle of the tests."""

from __future__ import annotations

import math
from types import SimpleNamespace as Polyp

import numpy as np


class NaiveCoral:
    """Polyps as objects, reefs as lists, every sum taken anew."""

    def __init__(self, vectors, constants, seed=0):
        self.vectors = np.asarray(vectors, dtype=np.float64)
        self.c = Polyp(**constants)
        self.rng = np.random.default_rng(seed)
        self.polyps = []
        self.reefs = []
        self.paid = 0.0

    def cos(self, a, b):
        return float(self.vectors[a] @ self.vectors[b])

    def affinity(self, i, reef):
        centre = sum(self.polyps[j].mass * self.vectors[j] for j in reef)
        norm = math.sqrt(float(centre @ centre))
        return -1.0 if norm == 0 else float(self.vectors[i] @ centre) / norm

    def write(self, i):
        draw = self.rng.random()
        polyp = Polyp(living=True, heir=None, dependants=0, mass=1.0, rings=0, lean=0, fed=False)
        affinity = [self.affinity(i, reef) for reef in self.reefs]
        near = [r for r, a in enumerate(affinity) if a >= self.c.founding_affinity]
        if not near:
            self.reefs.append([i])
            self.polyps.append(polyp)
        else:
            reef = self.reefs[self.draw(near, affinity, draw)]
            self.meet(i, polyp, reef)
        if self.c.cycle_every and (i + 1) % self.c.cycle_every == 0:
            self.cycle()

    def draw(self, near, affinity, draw):
        if not self.c.settling_noise:
            return max(near, key=lambda r: affinity[r])
        weights = [affinity[r] ** self.c.settling_exponent for r in near]
        total = 0.0
        for r, weight in zip(near, weights, strict=True):
            total += weight
            if draw * sum(weights) < total:
                return r
        return near[-1]

    def meet(self, i, polyp, reef):
        cosines = [self.cos(i, j) for j in reef]
        living = [j for j in reef if self.polyps[j].living]
        rival = max(living, key=lambda j: self.cos(i, j)) if living else None
        fires = rival is not None and self.fires(self.cos(i, rival), cosines, self.polyps[rival])
        self.polyps.append(polyp)
        reef.append(i)
        if rival is not None:
            self.polyps[rival].dependants += 1
            if fires:
                old = self.polyps[rival]
                old.living, old.heir = False, i
                polyp.mass += (1 - self.c.mass_split) * old.mass
                old.mass *= self.c.mass_split

    def fires(self, to_rival, cosines, rival):
        if not self.c.immune_response or len(cosines) < self.c.min_reef_size:
            return False
        if not self.c.reef_threshold:
            return to_rival > self.c.fixed_cosine
        mean = sum(cosines) / len(cosines)
        sd = math.sqrt(sum((x - mean) ** 2 for x in cosines) / len(cosines))
        if len(set(cosines)) == 1:
            return False
        resistance = self.c.resistance * rival.dependants if self.c.resist else 0
        return (to_rival - mean) / sd > self.c.outlier_z + resistance

    def cycle(self):
        for polyp in self.polyps:
            if polyp.living:
                cost = min(self.c.maintenance_cost, polyp.mass)
                polyp.mass -= cost
                self.paid += cost
                polyp.rings += 1
                polyp.lean = 0 if polyp.fed else polyp.lean + 1
                if polyp.lean >= self.c.lean_cycles or polyp.mass <= 0:
                    polyp.living = False
            polyp.fed = False

    def end_of(self, j):
        while self.polyps[j].heir is not None:
            j = self.polyps[j].heir
        return j

    def read(self, query, k):
        """(position, score) of the k best for the vector of row ``query``; feeds nothing."""
        cosine = [float(self.vectors[query] @ self.vectors[j]) for j in range(len(self.polyps))]
        score = list(cosine)
        for j, polyp in enumerate(self.polyps):
            if not polyp.living and cosine[j] > 0 and self.c.calcification:
                score[j] = cosine[j] * self.c.calcified_score
        if self.c.heirs:
            for j, polyp in enumerate(self.polyps):
                end = self.end_of(j)
                if polyp.heir is not None and self.polyps[end].living:
                    score[end] = max(score[end], cosine[j])

        def place(j):
            if not self.c.heirs:
                return j
            chain = [i for i in range(len(score)) if self.end_of(i) == self.end_of(j)]
            return min(i for i in chain if score[i] == score[j])

        order = sorted(range(len(score)), key=lambda j: (-score[j], place(j), -j))
        return [(j, score[j]) for j in order[:k]]
