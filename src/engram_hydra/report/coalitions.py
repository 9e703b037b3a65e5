"""What each part of a whole earns, from the value of every combination of parts."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


class Coalitions:
    """The values of all 2^p combinations of p parts, and the effects that follow from them.

    ``values`` has shape (2^p, n), a column for each question: row m is the combination in which part
    i is on where bit i of m is set, so row 0 is the null and the last the whole. Every effect is
    linear in the values and comes as one number per question, shape (n,).
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.p = len(values).bit_length() - 1
        if len(values) != 2**self.p:
            raise ValueError(f"{len(values)} combinations are not all those of some parts.")

    def gain(self) -> Values:
        """The whole − the null."""
        gain: Values = self.values[-1] - self.values[0]
        return gain

    def cost(self, part: int) -> Values:
        """The whole − the whole without the part."""
        cost: Values = self._added(part)[-1]
        return cost

    def alone(self, part: int) -> Values:
        """The part by itself − the null."""
        alone: Values = self._added(part)[0]
        return alone

    def main_effect(self, part: int) -> Values:
        """What the part adds, averaged over all settings of the others."""
        effect: Values = self._added(part).mean(axis=0)
        return effect

    def shares(self) -> Values:
        """The Shapley value of each part, shape (p, n): what it adds, averaged over all orders.

        Source: Shapley (1953), A value for n-person games: the sum over the combinations S of the
        others of |S|! (p − |S| − 1)! / p! · (v(S with the part) − v(S)).

        Raises ArithmeticError if the shares don't sum to the gain within 1e-9.
        """
        sizes = [m.bit_count() for m in range(2 ** (self.p - 1))] if self.p else []
        weights = [factorial(s) * factorial(self.p - s - 1) / factorial(self.p) for s in sizes]
        shares = np.array([np.array(weights) @ self._added(part) for part in range(self.p)])
        excess = np.abs(shares.sum(axis=0) - self.gain())
        if not (excess <= 1e-9).all():
            raise ArithmeticError(
                f"The shares miss whole - null by {excess.max()}: the values are too large or no numbers."
            )
        return shares

    def interactions(self) -> dict[tuple[int, int], Values]:
        """For each pair v(ab) − v(a) − v(b) + v(∅), averaged over all settings of the others."""
        return {
            (a, b): (
                self._without(a, b, on=(a, b))
                - self._without(a, b, on=(a,))
                - self._without(a, b, on=(b,))
                + self._without(a, b)
            ).mean(axis=0)
            for a, b in combinations(range(self.p), 2)
        }

    def _added(self, part: int) -> Values:
        """What the part adds to each combination of the others, in their order; (2^(p-1), n)."""
        return self._without(part, on=(part,)) - self._without(part)

    def _without(self, *parts: int, on: tuple[int, ...] = ()) -> Values:
        """The values of all combinations of the other parts, those of ``on`` added."""
        fixed = sum(1 << part for part in parts)
        added = sum(1 << part for part in on)
        others = [m for m in range(2**self.p) if not m & fixed]
        return self.values[[m | added for m in others]]
