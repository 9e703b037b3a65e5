"""Names from stores and options that become paths: none leads out of its folder."""

from __future__ import annotations

import re
from pathlib import Path

from engram_hydra.errors import DataError

PLAIN = "letters, digits and _ . - only, a letter or digit first"


def is_plain(name: str) -> bool:
    """Whether a name consists of ``PLAIN``, as one that is part of files' names must."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name) is not None


def below(folder: Path, name: str) -> Path:
    """The path ``name`` in ``folder``, absolute, with symbolic links followed.

    Raises DataError where it lies elsewhere.
    """
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(f"{name!r} leads out of {folder}: nothing is read or written there.")
    return path
