"""Vectors on disk: one SQLite file per model, shared by all runs and processes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
from filelock import Timeout

from engram_hydra.embedders.encoder import Embedding
from engram_hydra.embedders.options import Options
from engram_hydra.sqlite_file import DamageError, SqliteFile

logger = logging.getLogger(__name__)

# Raise it when the way vectors are computed or stored changes.
FORMAT = 2
# A kill loses at most this many vectors.
STORED_AT_ONCE = 256

Encode = Callable[[Sequence[str]], Iterable[Mapping[str, Embedding]]]


class VectorCache(SqliteFile):
    """The vectors of one model (id, revision, weights, ``max_length``, ``dim``) by the sha256 of the text.

    Each row carries a checksum.
    """

    title = "vector cache"
    table = (
        "CREATE TABLE IF NOT EXISTS vectors"
        " (key BLOB PRIMARY KEY, vector BLOB, truncated INTEGER, checksum BLOB)"
    )

    def __init__(self, folder: Path, options: Options) -> None:
        """Touches no file yet."""
        weights = (options.model, options.revision, options.sha256)
        shape = (options.pooling, options.max_length, options.dim)
        identity = json.dumps([*weights, *shape, _config_of(options.path), FORMAT])
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        super().__init__(folder / f"{options.model.replace('/', '--')}-{digest}.sqlite")

    def fetch(self, texts: Sequence[str], encode: Encode) -> dict[str, Embedding]:
        """An embedding for each of the distinct ``texts``; the missing ones are encoded and stored.

        Processes that miss the same texts take turns, so that each text is encoded once. A damaged
        row is encoded anew, and logged as a warning. Raises ``ConfigError`` if the folder or the file
        can't be used.
        """
        found: dict[str, Embedding] = {}
        with suppress(DamageError):
            found, _ = self._tried(lambda: self._read(texts))
        if len(found) == len(texts):
            return found
        with self._turn():
            found, damaged = self._mending(lambda: self._read(texts))
            if damaged:
                logger.warning("%d damaged vectors in %s are computed anew", damaged, self.file)
            fresh: dict[str, Embedding] = {}
            for batch in encode([text for text in texts if text not in found]):
                fresh.update(batch)
                if len(fresh) >= STORED_AT_ONCE:
                    found |= self._stored(fresh)
                    fresh = {}
            return found | self._stored(fresh)

    def _read(self, texts: Iterable[str]) -> tuple[dict[str, Embedding], int]:
        """The sound rows, and how many damaged ones there were."""
        found: dict[str, Embedding] = {}
        damaged = 0
        if not self.file.exists():
            return found, damaged
        with closing(self._connect()) as connection:
            connection.execute("BEGIN")
            for text in texts:
                key = _key(text)
                row = connection.execute(
                    "SELECT vector, truncated, checksum FROM vectors WHERE key = ?", (key,)
                ).fetchone()
                if row is None:
                    continue
                vector, truncated, checksum = row
                if isinstance(vector, bytes) and checksum == _checksum(key, vector, truncated):
                    found[text] = Embedding(np.frombuffer(vector, "<f4"), bool(truncated))
                else:
                    damaged += 1
        return found, damaged

    def _stored(self, embeddings: dict[str, Embedding]) -> dict[str, Embedding]:
        rows = []
        for text, (vector, truncated) in embeddings.items():
            key, blob = _key(text), vector.astype("<f4").tobytes()
            rows.append((key, blob, int(truncated), _checksum(key, blob, int(truncated))))
        self._mending(lambda: self._write(rows))
        return embeddings

    def _write(self, rows: Sequence[tuple[bytes, bytes, int, bytes]]) -> None:
        with closing(self._connect()) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Only one process at a time looks what is missing, encodes it and stores it."""
        lock = self._lock
        with self._surroundings():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                logger.info("waiting for another process to embed with the same model")
                lock.acquire()
        try:
            yield
        finally:
            lock.release()


def _config_of(path: str | None) -> str | None:
    """Digest of what, besides the weights, a folder of the user's own says of its model."""
    if path is None:
        return None
    digest = hashlib.sha256()
    for file in sorted(Path(path).expanduser().rglob("*.json")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _checksum(key: bytes, vector: bytes, truncated: object) -> bytes:
    return hashlib.blake2b(key + vector + repr(truncated).encode(), digest_size=8).digest()
