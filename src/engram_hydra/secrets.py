"""Secrets: options may hold none, and what is written down shows none."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence

from engram_hydra.errors import SecretError

SHORTEST = 8  # letters; shorter values stand in too many texts by chance
# Words such as "anything", which an endpoint without keys is given: they would be hidden in every text.
ORDINARY = re.compile(r"[a-z_-]+|[A-Z_-]+")
VARIABLE = re.compile(r"(?:KEY|KEY_ID|TOKEN|PASSWORD|PASSWD|SECRET|CONNECTION_STRING)$")
NAMED_SO = r"(?:api_?key|access_?key(?:_id)?|secret(?:_key)?|password|passwd|token|credentials?)"
OPTION = re.compile(rf"(?:^|[._-]){NAMED_SO}$", re.IGNORECASE)
IN_BRACES = re.compile(r"([\w.-]+)\s*[=:]\s*(\$\{[^}]*\}|[^\s,{}\[\]]+)")
# In http, a user alone may be a token; a database's is none.
LOGIN = re.compile(r"""(https?://(?=[^\s/?#"'<>]+@)|://(?=[^\s/?#"'<>]*:))[^\s/?#"'<>]*@""")
IN_QUERY = re.compile(rf"""([?&][\w-]*{NAMED_SO}=)[^\s&#"']+""", re.IGNORECASE)
INSTEAD = {
    "tracking.uri": "a server's login belongs into MLFLOW_TRACKING_USERNAME and"
    " MLFLOW_TRACKING_PASSWORD, or its token into MLFLOW_TRACKING_TOKEN, a PostgreSQL database's"
    " password into PGPASSWORD",
    "tracking.artifacts": "it belongs into the variables that the storage's own client reads, such as"
    " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "reader.base_url": "the key belongs into the variable that reader.api_key_env names",
}


class HidingFormatter(logging.Formatter):
    """A formatter of log lines, tracebacks included, that hides what ``hide`` does."""

    def format(self, record: logging.LogRecord) -> str:
        return hide(super().format(record))


def hide(text: str) -> str:
    """The text without logins in addresses, and without the secrets that ``hide_values`` knows."""
    return IN_QUERY.sub(r"\1(hidden)", LOGIN.sub(r"\1(hidden)@", hide_values(text)))


def hide_values(text: str) -> str:
    """The text with ``(hidden: NAME)`` for the value of each environment variable that holds a secret.

    Such are those whose names end like a secret's, as OPENAI_API_KEY does, with values of at least 8
    letters that are no plain words.
    """
    for value, name in _in_environment():
        text = text.replace(value, f"(hidden: {name})")
    return text


def refuse_in_arguments(arguments: Sequence[str]) -> None:
    """Raise SecretError where a command line holds a secret; the message does not.

    Done before Hydra, which keeps every override in the output folder.
    """
    for argument in arguments:
        key, _, value = argument.lstrip("+~").partition("=")
        refuse_in_options([(key, value)])
        refuse_in_options((f"{key}.{name}", inner) for name, inner in IN_BRACES.findall(value))


def refuse_in_options(options: Iterable[tuple[str, object]]) -> None:
    """Raise SecretError where one of ``options``, dotted names with values, holds a secret.

    That is: what is named like one, an address with a login, or the value of a variable that
    ``hide_values`` would hide. The message repeats no secret.
    """
    for key, value in options:
        text = "" if value is None else str(value)
        written_as_is = text in ("", "null", "???") or re.fullmatch(r"\$\{.*\}", text)
        if OPTION.search(key) and not written_as_is:
            raise SecretError(
                f"{key} is named like a secret, and options are written down: export the secret in an"
                " environment variable, and name that in an option called otherwise."
            )
        if key.endswith("api_key_env") and not re.fullmatch(r"[A-Z_][A-Z0-9_]*|\$\{.*\}", text):
            raise SecretError(
                f"{key} is no name of an environment variable: set it to one, like OPENAI_API_KEY, and"
                " export the key itself in that."
            )
        if known := [name for secret, name in _in_environment() if secret in text]:
            raise SecretError(
                f"{key} holds the value of {known[0]}, and options are written down: leave it out."
            )
        if hide(text) != text:
            instead = INSTEAD.get(key, "it belongs into an environment variable, or into ~/.netrc")
            raise SecretError(
                f"{key} holds a login or a key, and options are written down: {instead}."
            )


def _in_environment() -> list[tuple[str, str]]:
    """The values that are secrets, each with its variable's name; the longest come first."""
    found = [(value.strip(), name) for name, value in os.environ.items() if VARIABLE.search(name)]
    secrets = [
        pair for pair in found if len(pair[0]) >= SHORTEST and not ORDINARY.fullmatch(pair[0])
    ]
    return sorted(secrets, key=lambda pair: (-len(pair[0]), pair))
