"""The reader that is a language model with the benchmark's official prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from engram_hydra.readers.openai_chat import ChatReader
from engram_hydra.readers.prompt import Prompt, messages
from engram_hydra.readers.reader import Reader


class ModelReader(Reader):
    """Asks a chat model, as the benchmark's retrieval agents do; see ``prompt.messages``."""

    stochastic: ClassVar[bool] = True

    def __init__(self, prompt: Prompt, chat: ChatReader) -> None:
        self.prompt = prompt
        self.chat = chat

    def answers(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], seed: int
    ) -> list[str]:
        asked = zip(questions, contexts, strict=True)
        return self.chat.answers(
            [messages(self.prompt, context, question) for question, context in asked], seed
        )

    def metrics(self) -> Mapping[str, float]:
        """Tokens and cost of all answers, whenever they were asked for, and of those asked for now.

        ``reader_cost`` is in the currency of the prices, and absent without them, as tokens are where
        the endpoint does not tell them.
        """
        total, paid = self.chat.total, self.chat.paid
        known = {
            "reader_answers": total.answers,
            "reader_prompt_tokens": total.prompt_tokens,
            "reader_completion_tokens": total.completion_tokens,
            "reader_cost": total.cost,
            "reader_answers_paid": paid.answers,
            "reader_cost_paid": paid.cost,
        }
        return {name: float(value) for name, value in known.items() if value is not None}
