"""Where long texts were cut, on disk, so that what is embedded already needs no tokenizer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from engram_hydra.embedders.windows import Span
from engram_hydra.sqlite_file import SqliteFile

# Raise it when texts are cut otherwise.
FORMAT = 1


class WindowCache(SqliteFile):
    """The windows of long texts by the sha256 of the text, for one model: beside its vectors.

    Each row carries a checksum; a damaged one counts as missing.
    """

    title = "window cache"
    table = "CREATE TABLE IF NOT EXISTS windows (key BLOB PRIMARY KEY, spans BLOB, checksum BLOB)"

    def __init__(self, vectors: Path) -> None:
        """``vectors`` is the file of the model's vector cache. Touches no file yet."""
        super().__init__(vectors.with_suffix(f".windows-{FORMAT}.sqlite"))

    def fetch(
        self, texts: Sequence[str], cut: Callable[[str], Sequence[Span]]
    ) -> dict[str, list[str]]:
        """The windows of each of the distinct ``texts``; the missing ones are cut and stored.

        Raises ``ConfigError`` if the folder or the file can't be used.
        """
        found = self._mending(lambda: self._read(texts))
        fresh = {text: cut(text) for text in texts if text not in found}
        if fresh:
            with self._surroundings():
                self.file.parent.mkdir(parents=True, exist_ok=True)
            self._mending(lambda: self._write(fresh))
        spans = found | fresh
        return {text: [text[begin:end] for begin, end in spans[text]] for text in texts}

    def _read(self, texts: Iterable[str]) -> dict[str, Sequence[Span]]:
        found: dict[str, Sequence[Span]] = {}
        if not self.file.exists():
            return found
        with closing(self._connect()) as connection:
            for text in texts:
                key = _key(text)
                row = connection.execute(
                    "SELECT spans, checksum FROM windows WHERE key = ?", (key,)
                ).fetchone()
                if row and isinstance(row[0], bytes) and row[1] == _checksum(key, row[0]):
                    found[text] = [
                        *map(tuple, np.frombuffer(row[0], "<i8").reshape(-1, 2).tolist())
                    ]
        return found

    def _write(self, spans: Mapping[str, Sequence[Span]]) -> None:
        rows = []
        for text, each in spans.items():
            key, blob = _key(text), np.array(each, "<i8").tobytes()
            rows.append((key, blob, _checksum(key, blob)))
        with closing(self._connect()) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO windows VALUES (?, ?, ?)", rows)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _checksum(key: bytes, blob: bytes) -> bytes:
    return hashlib.blake2b(key + blob, digest_size=8).digest()
