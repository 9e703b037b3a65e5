"""Chat readers as tests make them: of short patience, for a server on loopback, with waits of no time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram_hydra.readers.answer_cache import AnswerCache
from engram_hydra.readers.openai_chat import ChatReader
from engram_hydra.readers.prompt import Messages

KEY = "sk-not-to-be-seen-0123456789"


@dataclass
class FakeOptions:
    base_url: str
    model: str = "tiny-model"
    api_key_env: str = "CHAT_TEST_KEY"
    temperature: float = 0.7
    max_tokens: int = 10
    concurrency: int = 1
    timeout: float = 20.0
    retries: int = 3
    prompt_price: float | None = None
    completion_price: float | None = None


def ask(question: str) -> Messages:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]


BATCH = [ask(f"question {n}") for n in range(6)]
ANSWERS = [f"answer to question {n}" for n in range(6)]


class Reading:
    """A reader of ``server``, its cache, and the waits it would have made."""

    def __init__(self, url: str, folder: Path, **options: Any) -> None:
        self.waits: list[float] = []
        self.cache = AnswerCache(folder)
        options = {"base_url": url, **options}

        async def pause(seconds: float) -> None:
            self.waits.append(seconds)

        self.reader = ChatReader(FakeOptions(**options), self.cache, pause)

    def answers(self, batch: list[Messages] = BATCH[:1], seed: int = 0) -> list[str]:
        return self.reader.answers(batch, seed)
