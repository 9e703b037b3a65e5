"""One question to an OpenAI-compatible chat endpoint: tries, waits, and what is an answer."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

from engram_hydra.errors import DataError, ReaderError
from engram_hydra.readers.answer_cache import Reply
from engram_hydra.readers.chat_options import Options, check, key_in
from engram_hydra.readers.prompt import Messages

logger = logging.getLogger(__name__)

# Seconds: the longest wait of our own accord, and the longest that an endpoint may ask for.
LONGEST_BACKOFF = 60.0
LONGEST_WAIT = 600.0
# Characters of what an endpoint said that go into an error.
QUOTED = 200

# Beyond it floats are no longer exact; no endpoint counts so far.
MOST_TOKENS = 2**53 - 1

# Waits for so many seconds.
Pause = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _Failure:
    """A try without an answer: what happened, whether another may help, and the wait asked for."""

    what: str
    passing: bool = True
    retry_after: float = 0.0


class ChatEndpoint:
    """The endpoint and its key, in an ``async with`` block; many may ``ask`` at a time."""

    def __init__(self, options: Options, pause: Pause | None = None) -> None:
        """``pause`` stands in for waiting between tries; connects to nothing.

        Raises ``ConfigError`` as ``check`` does, and without a key.
        """
        from openai import AsyncOpenAI

        from engram_hydra.readers.bounded_client import BoundedClient

        check(options)
        self._options = options
        self._pause = pause or self._rest
        self._stopped = asyncio.Event()
        self._key = key_in(options.api_key_env)
        self._client = AsyncOpenAI(
            api_key=self._key,
            base_url=options.base_url,
            # The client's would be for each read, and a trickle would go on for ever.
            timeout=None,
            # Retries are ours: the client's wait for a random time.
            max_retries=0,
            http_client=BoundedClient(),
        )

    async def __aenter__(self) -> ChatEndpoint:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.close()

    def stop(self) -> None:
        """No more tries: what is under way may still be answered, and nothing is asked again."""
        self._stopped.set()

    async def ask(self, messages: Messages, seed: int, name: str) -> Reply | None:
        """The model's answer, which is not blank, or None if none was there by the time of ``stop``.

        ``name`` is the question's in logs and errors. A try may take ``options.timeout`` seconds from
        connecting to the last byte, and its reply has a largest size (``BoundedClient``).

        Status 429 and 5xx, connection errors, tries out of time, and replies without an answer are tried
        again, after 1, 2, 4 … at most 60 seconds, and not before the endpoint's Retry-After. Raises
        ``ReaderError`` when the retries are used up, at once for any other status and for a
        Retry-After of over 10 minutes; ``DataError`` if a text can't be sent.
        """
        options = self._options
        try:
            json.dumps(messages, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{name} can't be sent, since it or a fact with it holds a lone surrogate: mend that "
                f"text in the data set, or choose another reader."
            ) from None
        who = f"{options.model} at {options.base_url}"
        for tries in itertools.count(1):
            if self._stopped.is_set():
                return None
            result = await self._try(messages, seed)
            if isinstance(result, Reply):
                return result
            what = self._quoted(result.what)
            if not result.passing:
                raise ReaderError(
                    f"{who} refused {name} ({what}): check reader.base_url, reader.model and the key "
                    f"in {options.api_key_env}."
                )
            wait = max(min(2.0 ** (tries - 1), LONGEST_BACKOFF), result.retry_after)
            if tries > options.retries or wait > LONGEST_WAIT:
                break
            if not self._stopped.is_set():
                logger.info("%s: %s; asking again in %.0f s", name, what, wait)
                await self._pause(wait)
        asks = f" and wants {wait:.0f} s of rest" if wait > LONGEST_WAIT else ""
        raise ReaderError(
            f"{who} gave no answer to {name} (tries: {tries}, the last one: {what}){asks}: run again "
            f"when it does, and only what it has not answered yet is asked."
        )

    async def _rest(self, seconds: float) -> None:
        """Waits for so long, or until ``stop``."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _try(self, messages: Messages, seed: int) -> Reply | _Failure:
        # Errors are told by value: raised from these, ours would carry texts that may hold the key.
        from openai import APIConnectionError, APIStatusError

        from engram_hydra.readers.bounded_client import OversizedError

        options = self._options
        # The client's types know more kinds of messages than ours.
        body: dict[str, Any] = {
            "model": options.model,
            "messages": messages,
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "seed": seed,
        }
        try:
            # Raw: parsed by the client, a malformed reply could be anything.
            asked = self._client.chat.completions.with_raw_response.create(**body)
            raw = await asyncio.wait_for(asked, options.timeout)
        except APIStatusError as error:
            status = error.status_code
            return _Failure(
                f"HTTP {status}: {_said(error.body)}",
                passing=status == 429 or status >= 500,
                retry_after=_retry_after(error.response.headers),
            )
        except asyncio.TimeoutError:
            return _Failure(f"no whole answer within {options.timeout:g} s")
        except (APIConnectionError, OversizedError) as error:
            root = _root(error)
            return _Failure(f"{type(root).__name__}: {root}")
        return _reply(raw.content)

    def _quoted(self, text: str) -> str:
        """In one short line, without the key, which an endpoint may repeat."""
        line = " ".join(text.replace(self._key, "(the key)").split())
        return line if len(line) <= QUOTED else f"{line[:QUOTED]}…"


def _reply(content: bytes) -> Reply | _Failure:
    try:
        # As floats: an integer of thousands of digits would be an error.
        body = json.loads(content, parse_int=float)
        text = body["choices"][0]["message"]["content"]
        # A lone surrogate, which JSON can say and no file can hold, is a ValueError.
        blank = not text.encode().strip()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return _Failure(f"a reply that is no answer: {content.decode(errors='replace')}")
    if blank:
        return _Failure("a blank answer, as of a model that needs more than reader.max_tokens")
    usage = body.get("usage")
    return Reply(text, _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens"))


def _tokens(usage: object, kind: str) -> int | None:
    """A number of tokens, where ``usage`` tells one."""
    number = usage.get(kind) if isinstance(usage, dict) else None
    if isinstance(number, float) and 0 <= number <= MOST_TOKENS and number.is_integer():
        return int(number)
    return None


def _root(error: BaseException) -> BaseException:
    """What lies behind the errors of four libraries; of several addresses, the last one's."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    tried = getattr(error, "exceptions", ())
    return _root(tried[-1]) if tried else error


def _said(body: object) -> str:
    """An error's own words, where it has the usual form."""
    said = body.get("message") if isinstance(body, dict) else body
    return str(said or "no reason given")


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds (RFC 9110: a number of them, or a date), 0 without or with a malformed header."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
