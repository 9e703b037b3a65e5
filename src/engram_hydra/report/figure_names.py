"""Names of figures in the database: each its own, and none longer than the database takes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

LONGEST = 250  # characters of a metric's name in MLflow
_DIGEST = 8
_ENDING = re.compile(r"(_ci_low|_ci_high)?$")


def figure_names(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """A name for each of the ``keys``: its words in small letters and digits, joined by dots.

    Those of different keys that would read the same end in a digest of the key.
    """
    plain = [".".join(_plain(word) for word in key if word) for key in keys]
    times = Counter(name for name, _ in {*zip(plain, keys, strict=True)})
    return [
        f"{name}_{_digest(chr(0).join(key))}" if times[name] > 1 else name
        for name, key in zip(plain, keys, strict=True)
    ]


def short(name: str) -> str:
    """The name, or if it is too long its start and a digest of it, with the ending for an interval."""
    if len(name) <= LONGEST:
        return name
    start = _ENDING.search(name).start()  # type: ignore[union-attr]
    ending, digest = name[start:], _digest(name[:start])
    return f"{name[: LONGEST - len(digest) - len('_ci_high') - 1]}_{digest}{ending}"


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
