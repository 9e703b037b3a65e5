"""Answers on disk: one SQLite file, shared by all runs and processes."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from engram_hydra.errors import ConfigError
from engram_hydra.readers.prompt import Messages

logger = logging.getLogger(__name__)

# A damaged schema is quoted in SQLite's message, which then is no UTF-8.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
# What SQLite says when a file's surroundings are at fault; anything else means a damaged file.
SURROUNDINGS = ("locked", "readonly", "unable to open", "is full", "disk I/O")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, and the tokens it took; None where the endpoint does not tell them."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None


def answer_key(
    endpoint: str, model: str, messages: Messages, temperature: float, max_tokens: int, seed: int
) -> bytes:
    """The sha256 of all that an answer depends on (32 bytes); the key to the endpoint is none of it."""
    asked = [endpoint, model, messages, float(temperature), max_tokens, seed]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


class AnswerCache:
    """The answers by ``answer_key``, each written as soon as it is there.

    The first answer that is stored under a key stays, and is everyone's. Each row carries a checksum.
    A damaged row counts as missing; a damaged file is renamed to ``<file>.damaged-<n>`` and replaced;
    both are logged as warnings. Methods may be called from any thread, and raise ``ConfigError`` if
    the folder or the file can't be used. The journal is SQLite's default one: WAL does not work on
    network file systems.
    """

    def __init__(self, folder: Path) -> None:
        """Touches no file yet."""
        self.file = folder / "answers.sqlite"

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        """The stored answers among ``keys``."""
        wanted = dict.fromkeys(keys)
        with self._surroundings():
            return self._mending(lambda: self._read(wanted)) if self.file.exists() else {}

    def put(self, key: bytes, reply: Reply) -> Reply:
        """The answer that is stored under ``key`` from now on: ``reply``, unless one was there before."""
        with self._surroundings():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            return self._mending(lambda: self._write(key, reply))

    def _read(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        with closing(self._connect()) as connection:
            connection.execute("BEGIN")
            found = {key: _stored(connection, key) for key in keys}
        return {key: reply for key, reply in found.items() if reply is not None}

    def _write(self, key: bytes, reply: Reply) -> Reply:
        with closing(self._connect()) as connection, connection:
            # Before the look, so that nobody else stores an answer in between.
            connection.execute("BEGIN IMMEDIATE")
            if (earlier := _stored(connection, key)) is not None:
                return earlier
            blob = json.dumps(astuple(reply)).encode()
            row = (key, blob, _checksum(key, blob))
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
        return reply

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, timeout=60)
        # A flipped bit can turn a blob into a text that is no UTF-8.
        connection.text_factory = bytes
        connection.execute(
            "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, reply BLOB, checksum BLOB)"
        )
        return connection

    def _mending(self, action: Callable[[], T]) -> T:
        """The action's result, if need be from a new file in the place of a damaged one."""
        try:
            return action()
        except DAMAGE as error:
            _raise_unless_damage(error)
        with FileLock(f"{self.file}.lock"):
            try:
                # Another process may have replaced the file meanwhile.
                return action()
            except DAMAGE as error:
                _raise_unless_damage(error)
                self._set_aside(error)
            return action()

    def _set_aside(self, error: Exception) -> None:
        names = (self.file.with_name(f"{self.file.name}.damaged-{n}") for n in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        # The journal first: left behind, it would be played back into the new file.
        journal = self.file.with_name(f"{self.file.name}-journal")
        if journal.exists():
            journal.rename(aside.with_name(f"{aside.name}-journal"))
        self.file.rename(aside)
        logger.warning(
            "the answer cache %s is damaged (%s): moved to %s and started anew",
            self.file,
            error,
            aside.name,
        )

    @contextmanager
    def _surroundings(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise ConfigError(
                f"The answer cache {self.file} can't be used ({error}): make its folder writable, "
                f"or set paths.cache to one that is."
            ) from error


def _raise_unless_damage(error: Exception) -> None:
    if any(words in str(error) for words in SURROUNDINGS):
        raise error


def _stored(connection: sqlite3.Connection, key: bytes) -> Reply | None:
    """The sound answer under ``key``."""
    row = connection.execute("SELECT reply, checksum FROM answers WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    blob, checksum = row
    if isinstance(blob, bytes) and checksum == _checksum(key, blob):
        return Reply(*json.loads(blob))
    logger.warning("a damaged answer in the answer cache counts as missing")
    return None


def _checksum(key: bytes, blob: bytes) -> bytes:
    return hashlib.blake2b(key + blob, digest_size=8).digest()
