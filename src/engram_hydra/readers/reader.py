"""What a reader is: it answers questions from what was retrieved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar


class Reader(ABC):
    """Answers from contexts alone; it sees no gold and no ids."""

    stochastic: ClassVar[bool] = False  # whether the seed can change an answer

    @abstractmethod
    def answers(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], seed: int
    ) -> list[str]:
        """An answer to each question from its own context, the retrieved texts, oldest first.

        Raises ReaderError where one can't be had: a question never goes unanswered.
        """

    def metrics(self) -> Mapping[str, float]:
        """What the answers so far have cost, as numbers to log; by default nothing."""
        return {}
