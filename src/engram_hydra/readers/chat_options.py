"""What a chat reader's configuration says, and what of it can't be used."""

from __future__ import annotations

import os
from typing import Protocol
from urllib.parse import urlsplit

from engram_hydra.errors import ConfigError


class Options(Protocol):
    """The fields of the reader's configuration.

    ``base_url`` ends before ``/chat/completions``. ``api_key_env`` names the environment variable that
    holds the key. ``timeout`` is in seconds; ``retries`` come after a first try; prices are per million
    tokens, in any currency, None where unknown. The benchmark's own settings are a ``temperature`` of
    0.7 and 10 ``max_tokens``.
    """

    base_url: str
    model: str
    api_key_env: str
    temperature: float
    max_tokens: int
    concurrency: int
    timeout: float
    retries: int
    prompt_price: float | None
    completion_price: float | None


def check(options: Options) -> None:
    """``ConfigError`` unless the base URL is a plain address, and ``api_key_env`` a variable's name.

    A secret in one of them would be seen in logs and in the run's configuration; neither is repeated.
    """
    try:
        url = urlsplit(options.base_url)
        sound = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:
        sound = False
    if not sound or "@" in url.netloc or url.query or url.fragment:
        raise ConfigError(
            "reader.base_url is no plain address: set it to one like http://127.0.0.1:8000/v1, with "
            "no user, query or fragment."
        )
    if not (options.api_key_env.isascii() and options.api_key_env.isidentifier()):
        raise ConfigError(
            "reader.api_key_env is no name of an environment variable: set it to one, like "
            "OPENAI_API_KEY, and export the key itself in that."
        )


def key_in(variable: str) -> str:
    """The key in an environment variable; ``ConfigError`` if there is none, or none that can be sent."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(
            f"The environment variable {variable} that reader.api_key_env names is not set: export "
            f"your key in it, or any word if the endpoint wants none."
        )
    # Anything else is refused as a header, in a message that holds it.
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"The environment variable {variable} that reader.api_key_env names holds characters "
            f"that no key has: export the key again."
        )
    return key
