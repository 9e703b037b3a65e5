"""The reader that is a language model: many questions at a time, each of them asked once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tqdm import tqdm

from engram_hydra.readers.answer_cache import AnswerCache, Reply, answer_key
from engram_hydra.readers.chat_endpoint import ChatEndpoint, Pause
from engram_hydra.readers.chat_options import Options, check
from engram_hydra.readers.prompt import Messages

logger = logging.getLogger(__name__)

BAR_AFTER = 2.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What some answers took; None where the endpoint does not tell tokens, or a price is not known."""

    answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None


class ChatReader:
    """Answers from a chat model; what an earlier run asked comes from the cache and costs nothing."""

    def __init__(self, options: Options, cache: AnswerCache, pause: Pause | None = None) -> None:
        """``pause`` stands in for waiting between tries. ``ConfigError`` as from ``check``."""
        check(options)
        self._options = options
        self._url = options.base_url.rstrip("/")
        self._cache = cache
        self._pause = pause
        self._given: dict[bytes, Reply] = {}
        self._paid: list[Reply] = []

    @property
    def total(self) -> Usage:
        """Of all answers given, whenever they were asked for: the same in a rerun."""
        return self._usage(self._given.values())

    @property
    def paid(self) -> Usage:
        """Of the answers that this reader asked the endpoint for, also in a batch that failed."""
        return self._usage(self._paid)

    def answers(self, batch: Sequence[Messages], seed: int) -> list[str]:
        """The model's answer to each of ``batch``, in that order, none of them blank.

        ``seed``, the reader's, goes to the endpoint with each question; the same messages under the
        same seed have one answer. Every answer is stored as soon as it comes, so that a killed run
        goes on with the questions that it had not asked. Raises ``ReaderError`` if one answer can't be
        had (``ChatEndpoint.ask``), and ``ConfigError`` if there is no key but something to ask, or if
        the cache can't be used.
        """
        keys = [self._key(messages, seed) for messages in batch]
        replies = self._cache.get(keys)
        numbers = {key: number for number, key in enumerate(keys, 1) if key not in replies}
        if numbers:
            model = self._options.model
            logger.info("asking %s: %d of %d questions", model, len(numbers), len(set(keys)))
            names = {key: f"question {number} of {len(keys)}" for key, number in numbers.items()}
            asked = dict(zip(keys, batch, strict=True))
            replies |= asyncio.run(self._ask(asked, names, seed))
        self._given |= replies
        return [replies[key].text for key in keys]

    def _key(self, messages: Messages, seed: int) -> bytes:
        options = self._options
        return answer_key(
            self._url, options.model, messages, options.temperature, options.max_tokens, seed
        )

    async def _ask(
        self, asked: Mapping[bytes, Messages], names: Mapping[bytes, str], seed: int
    ) -> dict[bytes, Reply]:
        """The replies to those of ``asked`` that have a name, each stored as it comes.

        An interrupt cancels it, and with it what is under way.
        """
        replies: dict[bytes, Reply] = {}
        failures: list[Exception] = []
        keys = iter(names)

        async def ask() -> None:
            for key in keys:
                try:
                    reply = await endpoint.ask(asked[key], seed, names[key])
                    if reply is None:
                        return
                    self._paid.append(reply)
                    # In a thread: where another process writes, the clocks of the others go on.
                    replies[key] = await asyncio.to_thread(self._cache.put, key, reply)
                except Exception as error:
                    failures.append(error)
                    # The others neither start nor try again.
                    endpoint.stop()
                bar.update()

        # disable=None: no bar where standard error is no terminal.
        with tqdm(
            total=len(names), desc="asking", unit=" questions", delay=BAR_AFTER, disable=None
        ) as bar:
            async with ChatEndpoint(self._options, self._pause) as endpoint:
                await asyncio.gather(*(ask() for _ in range(self._options.concurrency)))
        if failures:
            raise failures[0]
        return replies

    def _usage(self, replies: Iterable[Reply]) -> Usage:
        replies = list(replies)
        prompt = _sum(reply.prompt_tokens for reply in replies)
        completion = _sum(reply.completion_tokens for reply in replies)
        return Usage(len(replies), prompt, completion, self._cost(prompt, completion))

    def _cost(self, prompt: int | None, completion: int | None) -> float | None:
        prices = self._options.prompt_price, self._options.completion_price
        if prompt is None or completion is None or prices[0] is None or prices[1] is None:
            return None
        return (prompt * prices[0] + completion * prices[1]) / 1e6


def _sum(tokens: Iterable[int | None]) -> int | None:
    total = 0
    for number in tokens:
        if number is None:
            return None
        total += number
    return total
