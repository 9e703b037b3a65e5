"""A polyp: one stored item, and all that ever happens to it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from engram_hydra.memories.heirs import NONE


@dataclass(frozen=True, slots=True)
class Polyp:
    """One polyp as it stands: for looking at, not for changing.

    ``heir`` is a position or -1; ``rings`` counts cycles lived through; ``lean`` counts lean cycles
    in a row; ``last_fed`` is the number of cycles that had run when a read last returned it, or -1.
    """

    position: int
    reef: int
    living: bool
    heir: int
    dependants: int
    mass: float
    rings: int
    lean: int
    last_fed: int


class Polyps:
    """All polyps, a column for each property; index = position in the order of writing."""

    def __init__(self) -> None:
        self.reef: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.living: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self.heir: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.dependants: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.mass: NDArray[np.float64] = np.empty(0)
        self.rings: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.lean: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.last_fed: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.reef)

    def __getitem__(self, position: int) -> Polyp:
        columns = {f.name: getattr(self, f.name) for f in fields(Polyp) if f.name != "position"}
        return Polyp(
            position, **{name: column[position].item() for name, column in columns.items()}
        )

    def extend(self, n: int) -> None:
        """Add ``n`` newcomers: living, of mass 1, in no reef yet."""
        start = {"reef": NONE, "living": True, "heir": NONE, "mass": 1.0, "last_fed": NONE}
        for name, column in vars(self).items():
            new = np.full(n, start.get(name, 0), dtype=column.dtype)
            setattr(self, name, np.concatenate([column, new]))

    def displace(self, old: int, new: int, kept: float) -> float:
        """``old`` calcifies, points to ``new`` as its heir and keeps the share ``kept`` of its mass.

        Returns the mass that moved to the heir.
        """
        moved = (1 - kept) * self.mass[old]
        self.mass[old] -= moved
        self.mass[new] += moved
        self.living[old] = False
        self.heir[old] = new
        return float(moved)

    def cycle(self, settled: int, cost: float, fed_at: int, lean_cycles: int) -> tuple[float, int]:
        """One cycle over the first ``settled`` polyps: pay, lay a ring, count lean cycles, starve.

        ``fed_at`` is the ``last_fed`` of those fed since the last cycle. Returns the mass paid and
        the number that starved: they calcify without an heir and keep the mass they have.
        """
        living = np.flatnonzero(self.living[:settled])
        paid = np.minimum(cost, self.mass[living])
        self.mass[living] -= paid
        self.rings[living] += 1
        fed = self.last_fed[living] == fed_at
        self.lean[living] = np.where(fed, 0, self.lean[living] + 1)
        starving = living[(self.lean[living] >= lean_cycles) | (self.mass[living] <= 0)]
        self.living[starving] = False
        return float(paid.sum()), len(starving)

    def columns(self) -> dict[str, list[object]]:
        """All polyps as columns by name."""
        positions = {"position": list(range(len(self)))}
        return positions | {name: column.tolist() for name, column in vars(self).items()}
