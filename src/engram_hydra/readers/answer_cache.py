"""Answers on disk: one SQLite file, shared by all runs and processes."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path

from engram_hydra.readers.prompt import Messages
from engram_hydra.sqlite_file import SqliteFile

logger = logging.getLogger(__name__)


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


class AnswerCache(SqliteFile):
    """The answers by ``answer_key``, each written as soon as it is there.

    The first answer that is stored under a key stays, and is everyone's. Each row carries a checksum;
    a damaged one counts as missing, and is logged as a warning. Methods may be called from any thread,
    and raise ``ConfigError`` if the folder or the file can't be used.
    """

    title = "answer cache"
    table = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, reply BLOB, checksum BLOB)"

    def __init__(self, folder: Path) -> None:
        """Touches no file yet."""
        super().__init__(folder / "answers.sqlite")

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        """The stored answers among ``keys``."""
        wanted = dict.fromkeys(keys)
        with self._surroundings():
            if not self.file.exists():
                return {}
        return self._mending(lambda: self._read(wanted))

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
