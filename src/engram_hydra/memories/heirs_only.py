"""The supersession pointer on its own: heirs by one threshold, no reefs, no cycles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.gram import gram_blocks
from engram_hydra.memories.heirs import NONE, HeirMemory
from engram_hydra.memories.memory import Embed


class HeirsOnly(HeirMemory):
    """A newcomer becomes the heir of its nearest earlier item that has none, if near enough.

    Superseded items keep their full score. Among equally near ones the oldest is superseded.

    Args:
        threshold: the cosine that must be exceeded, -1 to 1.
    """

    def __init__(self, *, threshold: float, ties: str, embed: Embed) -> None:
        super().__init__(heirs=True, calcified_score=1.0, ties=ties, embed=embed)
        self.threshold = threshold
        self._heir: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    @property
    def heir(self) -> NDArray[np.intp]:
        return self._heir

    @property
    def living(self) -> NDArray[np.bool_]:
        return np.equal(self._heir, NONE)

    def _remember(self, vectors: NDArray[np.float32]) -> None:
        start = self.index.size
        super()._remember(vectors)
        self._heir = np.concatenate([self._heir, np.full(len(vectors), NONE, dtype=np.intp)])
        for first, cosines in gram_blocks(self.index.vectors, start):
            for newcomer, row in enumerate(cosines, start=first):
                near = np.where(self._heir[:newcomer] == NONE, row[:newcomer], -np.inf)
                if newcomer and near[rival := int(np.argmax(near))] > self.threshold:
                    self._heir[rival] = newcomer

    def counters(self) -> dict[str, float]:
        displaced = int((self._heir != NONE).sum())
        return {"displacements": displaced, "living": len(self._heir) - displaced}
