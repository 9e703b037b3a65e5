"""The newest-fact reader: answers from the context by rule, without a language model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engram_hydra.readers.reader import Reader

_SERIAL = re.compile(r"^\d+\. ")
_TOKEN = re.compile(r"[\w']+")


class NewestReader(Reader):
    """Takes the fact that shares most words with the question, the newest of several.

    It resolves conflicts by itself, so its SubEM decides nothing about a memory.
    """

    def answers(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], seed: int
    ) -> list[str]:
        asked = zip(questions, contexts, strict=True)
        return [self.answer(question, context) for question, context in asked]

    def answer(self, question: str, context: Sequence[str]) -> str:
        """What the chosen fact says beyond the question's own words; empty for an empty context.

        ``context`` holds the retrieved facts, oldest first; a serial number ``N. `` is ignored. A
        fact's score is the number of distinct tokens of the question in it; the latest of the best is
        chosen, and its white-space words stand in the answer unless all their tokens are in the
        question.
        """
        asked = set(_tokens(question))
        best, chosen = -1, ""
        for line in context:
            fact = _SERIAL.sub("", line)
            score = len(asked & set(_tokens(fact)))
            if score >= best:
                best, chosen = score, fact
        return " ".join(word for word in chosen.split() if not asked.issuperset(_tokens(word)))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
