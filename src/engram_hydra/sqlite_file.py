"""A SQLite file that mends itself."""

from __future__ import annotations

import itertools
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, TypeVar

from filelock import BaseFileLock, FileLock

from engram_hydra.errors import ConfigError

logger = logging.getLogger(__name__)

# A damaged schema is quoted in SQLite's message, which then is no UTF-8.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
# What SQLite says when a file's surroundings are at fault; anything else means a damaged file.
SURROUNDINGS = ("locked", "readonly", "unable to open", "is full", "disk I/O")
# And what it says where another process has just set the file aside: that passes.
MOVED = ("readonly", "disk I/O")
PAUSES = (0.05, 0.2, 1.0)  # seconds between tries

T = TypeVar("T")


class DamageError(Exception):
    """The file is no database, or not a whole one."""


class SqliteFile:
    """One table in one file, shared by all runs and processes.

    A damaged file is renamed to ``<file>.damaged-<n>`` and replaced, which is logged as a warning. The
    journal is SQLite's default one: WAL does not work on network file systems.
    """

    title: ClassVar[str]  # what messages call it
    table: ClassVar[str]  # the statement that makes it

    def __init__(self, file: Path) -> None:
        """Touches no file yet."""
        self.file = file

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, timeout=60)
        # A flipped bit can turn a blob into a text that is no UTF-8.
        connection.text_factory = bytes
        connection.execute(self.table)
        return connection

    def _mending(self, action: Callable[[], T]) -> T:
        """The action's result, if need be from a new file in the place of a damaged one."""
        with suppress(DamageError):
            return self._tried(action)
        with self._surroundings(), self._lock:
            try:
                # Another process may have replaced the file meanwhile.
                return self._tried(action)
            except DamageError as error:
                self._set_aside(error)
                return self._tried(action)

    def _tried(self, action: Callable[[], T], pauses: Sequence[float] = PAUSES) -> T:
        """The action's result; raises ``DamageError``, or ``ConfigError`` if the file can't be used."""
        with self._surroundings():
            try:
                return action()
            except DAMAGE as error:
                if not (pauses and any(words in str(error) for words in MOVED)):
                    if any(words in str(error) for words in SURROUNDINGS):
                        raise
                    raise DamageError(error) from error
        time.sleep(pauses[0])
        return self._tried(action, pauses[1:])

    @property
    def _lock(self) -> BaseFileLock:
        """Held by one thread of one process at a time, which may take it again."""
        return FileLock(f"{self.file}.lock", is_singleton=True)

    @contextmanager
    def _surroundings(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise ConfigError(
                f"The {self.title} {self.file} can't be used ({error}): make its folder writable, with "
                f"room, or set paths.cache to one that is."
            ) from error

    def _set_aside(self, error: DamageError) -> None:
        names = (self.file.with_name(f"{self.file.name}.damaged-{n}") for n in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        # The journal first: left behind, it would be played back into the new file.
        journal = self.file.with_name(f"{self.file.name}-journal")
        if journal.exists():
            journal.rename(aside.with_name(f"{aside.name}-journal"))
        self.file.rename(aside)
        logger.warning(
            "the %s %s is damaged (%s): moved to %s and started anew",
            self.title,
            self.file,
            error,
            aside.name,
        )
