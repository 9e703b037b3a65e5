"""The entries of a JSON list, one after the other, from a file too large to hold whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engram_hydra.errors import DataError

_CHUNK = 1 << 22  # bytes; several entries, so that few are cut by a chunk's end
_LONGEST_TOKEN = 16  # characters, strings apart; "\ud83d\ude00" is the longest
_SPACE = re.compile(r"[ \t\r\n]*")
# Control characters inside strings are kept as they are, though JSON wants them escaped.
_DECODER = json.JSONDecoder(strict=False)


def entries(path: Path) -> Iterator[tuple[int, object]]:
    """Each entry of the list in ``path`` with the offset of its first byte.

    The file is UTF-8, with or without a BOM. Holds a few entries at a time, or one large one.

    Raises DataError, with the byte's offset, at what is no UTF-8 or no JSON, a list cut short, and
    anything after the list; without, if the file can't be read.
    """
    try:
        with path.open("rb") as file:
            window = _Window(path, file)
            window.take("[", "a list in brackets")
            if window.peek() != "]":
                yield window.value()
                while window.peek() == ",":
                    window.take(",", "a comma")
                    yield window.value()
            window.take("]", "a comma or the list's end")
            window.take("", "the file's end")
    except OSError as error:
        raise DataError(
            f"{path} can't be read ({error.strerror}): make it a readable file."
        ) from error


class _Window:
    """The part of the file that is decoded; what is consumed is dropped when more is needed."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._offset = file.tell()  # in bytes, of the text's first character
        self._text = ""
        self._at = 0  # in characters, of the next one to consume

    def peek(self) -> str:
        """The next character after white space, or nothing at the file's end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def take(self, wanted: str, name: str) -> None:
        found = self.peek()
        if found != wanted:
            instead = repr(found) if found else "nothing"
            raise self._wrong(f"{name} should follow and {instead} does", self._at)
        self._at += len(wanted)

    def value(self) -> tuple[int, object]:
        self.peek()
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except RecursionError as error:
            raise self._wrong("an entry is nested too deeply", self._at) from error
        except ValueError as error:
            # Only JSON's own errors have a position; a number too long to convert has none.
            ahead = getattr(error, "pos", self._at) - self._at
            left = len(self._text) - self._at - ahead
            cut = left < _LONGEST_TOKEN or "Unterminated" in str(error)
            if not cut or not self._more():
                raise self._wrong(str(error), self._at + ahead) from error
            return self.value()
        offset = self._offset + len(self._text[: self._at].encode())
        self._at = end
        return offset, value

    def _more(self) -> bool:
        """Read on, at least as much as is held, so that a large entry is begun only a few times."""
        self._offset += len(self._text[: self._at].encode())
        self._text, self._at = self._text[self._at :], 0
        chunk = self._file.read(max(_CHUNK, len(self._text)))
        try:
            self._text += self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            offset = self._file.tell() - len(error.object) + error.start
            raise self._damaged(f"no UTF-8 ({error.reason})", offset) from error
        return bool(chunk)

    def _wrong(self, what: str, position: int) -> DataError:
        # Lines and columns are of this window only, and mislead.
        what = what.partition(": line ")[0].removesuffix(" starting at")
        return self._damaged(
            f"no JSON ({what.removesuffix(' starting at')})",
            self._offset + len(self._text[:position].encode()),
        )

    def _damaged(self, what: str, offset: int) -> DataError:
        return DataError(
            f"{self._path} is {what} at byte {offset}: put an undamaged copy in its place."
        )
