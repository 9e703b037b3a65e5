"""Coral with a perfect immune response: what the known conflicts, and no test, displace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from engram_hydra.memories.coral.archipelago import Archipelago
from engram_hydra.memories.coral.neighbours import Rival
from engram_hydra.memories.coral.reef import Reef


class OracleImmune(Archipelago):
    """Each newcomer displaces the item it is known to supersede, in whatever reef that one lives.

    A ceiling, and no method: it shows what Coral's other parts would earn if no conflict were
    missed and none imagined.

    Args:
        superseded_by: the known (old, new) positions.
        constants: Coral's constants and switches, and what every Coral takes.
    """

    sees_conflicts: ClassVar[bool] = True

    def __init__(self, *, superseded_by: Sequence[tuple[int, int]], **constants: Any) -> None:
        super().__init__(**constants)
        self.supersedes = {new: old for old, new in superseded_by}

    def _displaced(self, newcomer: int, reef: Reef, rival: Rival | None) -> int | None:
        return self.supersedes.get(newcomer) if self.immune_response else None

    def inert(self) -> Sequence[str]:
        """Besides Coral's: what the immune response goes by, which is not asked."""
        asked = {"min_reef_size", "reef_threshold", "outlier_z", "fixed_threshold", "fixed_cosine"}
        known = super().inert()
        return [*known, *sorted(asked - set(known))]
