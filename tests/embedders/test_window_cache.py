"""The window cache: texts are cut once, and no damage is believed."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.window_cache import WindowCache
from engram_hydra.embedders.windows import Span
from engram_hydra.errors import ConfigError

from fake_model import FakeOptions

TEXTS = [f"the {i}th long text, ünd söme more" for i in range(40)]


def halves(text: str) -> list[Span]:
    return [(0, len(text) // 2), (3, len(text))]


def refuse(text: str) -> Sequence[Span]:
    raise AssertionError(f"{text} was cut though it was stored")


def expected(texts: Sequence[str]) -> dict[str, list[str]]:
    return {text: [text[: len(text) // 2], text[3:]] for text in texts}


def cache_of(folder: Path, **changes: object) -> WindowCache:
    return WindowCache(VectorCache(folder, dataclasses.replace(FakeOptions(), **changes)).file)


def test_what_was_cut_is_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    assert cache_of(folder).fetch(TEXTS[:30], halves) == expected(TEXTS[:30])
    assert cache_of(folder).fetch(TEXTS[:30], refuse) == expected(TEXTS[:30])
    assert cache_of(folder).fetch(TEXTS, halves) == expected(TEXTS)


def test_it_lies_beside_the_vectors_of_the_same_model(tmp_path: Path) -> None:
    ours, vectors = cache_of(tmp_path).file, VectorCache(tmp_path, FakeOptions()).file
    assert ours.parent == vectors.parent
    assert ours != vectors
    assert ours != cache_of(tmp_path, max_length=9).file
    assert ours == cache_of(tmp_path, overflow="chunk").file


@pytest.mark.parametrize("column", ["spans", "checksum"])
def test_a_damaged_row_is_cut_anew(tmp_path: Path, column: str) -> None:
    cache = cache_of(tmp_path)
    cache.fetch(TEXTS, halves)
    with sqlite3.connect(cache.file) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM windows WHERE rowid = 7").fetchone()
        flipped = bytes([value[0] ^ 1]) + value[1:]
        connection.execute(f"UPDATE windows SET {column} = ? WHERE rowid = 7", (flipped,))
    connection.close()
    cut: list[str] = []
    assert cache.fetch(TEXTS, lambda text: [cut.append(text), *halves(text)][1:]) == expected(TEXTS)
    assert cut == [TEXTS[6]]
    assert cache.fetch(TEXTS, refuse) == expected(TEXTS)


def test_a_damaged_file_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = cache_of(tmp_path)
    cache.file.write_bytes(b"no database " * 1000)
    assert cache.fetch(TEXTS, halves) == expected(TEXTS)
    assert f"{cache.file.name}.damaged-1" in caplog.text
    assert cache.fetch(TEXTS, refuse) == expected(TEXTS)


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ConfigError, match=r"window cache .*taken/.* can't be used .*paths\.cache"):
        cache_of(tmp_path / "taken" / "vectors").fetch(TEXTS, halves)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_full_cache_may_be_read_only(tmp_path: Path) -> None:
    cache = cache_of(tmp_path / "vectors")
    cache.fetch(TEXTS, halves)
    cache.file.chmod(0o444)
    cache.file.parent.chmod(0o555)
    assert cache.fetch(TEXTS, refuse) == expected(TEXTS)
    cache.file.parent.chmod(0o755)
