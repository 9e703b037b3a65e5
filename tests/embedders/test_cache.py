"""The vector cache: nothing lost, nothing computed twice, nothing damaged believed."""

from __future__ import annotations

import dataclasses
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.encoder import Embedding
from engram_hydra.errors import ConfigError

import fake_model
from fake_model import FakeOptions
from faulty_disk import small_disk

TEXTS = [f"The {i}th fact is {'short' if i % 3 else 'long!'}." for i in range(600)]


class CountingEncode:
    """The fake encoder, remembering what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
        self.asked += texts
        return fake_model.encode(texts)


def refuse(texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
    assert not texts, f"{len(texts)} texts encoded though they were stored"
    return iter(())


def assert_right(found: dict[str, Embedding], texts: Sequence[str]) -> None:
    assert set(found) == set(texts)
    for text in texts:
        expected = fake_model.embedding(text)
        assert found[text].vector.dtype == np.float32
        np.testing.assert_array_equal(found[text].vector, expected.vector)
        assert found[text].truncated is expected.truncated


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors", FakeOptions())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound cache file of all the texts."""
    cache = VectorCache(tmp_path_factory.mktemp("sound"), FakeOptions())
    cache.fetch(TEXTS, fake_model.encode)
    return cache.file.read_bytes()


def test_what_was_stored_is_read_back(cache: VectorCache) -> None:
    assert_right(cache.fetch(TEXTS, fake_model.encode), TEXTS)
    assert_right(cache.fetch(TEXTS, refuse), TEXTS)


def test_only_the_missing_are_encoded(cache: VectorCache) -> None:
    cache.fetch(TEXTS[:100], fake_model.encode)
    encode = CountingEncode()
    assert_right(cache.fetch(TEXTS[50:150], encode), TEXTS[50:150])
    assert encode.asked == TEXTS[100:150]


@pytest.mark.parametrize(
    "change",
    [
        {"model": "a/b"},
        {"revision": "1" * 40},
        {"sha256": "1" * 64},
        {"pooling": "cls"},
        {"max_length": 9},
        {"dim": 9},
    ],
)
def test_another_model_has_another_file(tmp_path: Path, change: dict[str, object]) -> None:
    ours = VectorCache(tmp_path, FakeOptions())
    theirs = VectorCache(tmp_path, dataclasses.replace(FakeOptions(), **change))
    assert ours.file != theirs.file


def test_where_the_weights_lie_does_not_matter(tmp_path: Path) -> None:
    ours = VectorCache(tmp_path, FakeOptions(path=None, package="some_package", name="x"))
    assert ours.file == VectorCache(tmp_path, FakeOptions(path=None)).file


def test_a_folder_of_ones_own_goes_by_what_its_json_files_say(tmp_path: Path) -> None:
    def file_of(name: str, pooling: str) -> Path:
        (tmp_path / name / "1_Pooling").mkdir(parents=True)
        (tmp_path / name / "1_Pooling" / "config.json").write_text(pooling)
        (tmp_path / name / "README.md").write_text(name)
        return VectorCache(tmp_path, FakeOptions(path=str(tmp_path / name))).file

    one, same, other = file_of("one", "mean"), file_of("same", "mean"), file_of("other", "max")
    assert one == same != other
    assert VectorCache(tmp_path, FakeOptions(path=None)).file not in (one, other)


@pytest.mark.parametrize("damage", ["garbage", "half", "first page only"])
def test_a_damaged_file_is_set_aside_and_replaced(
    cache: VectorCache, stored: bytes, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    content = {
        "garbage": b"no database " * 1000,
        "half": stored[: len(stored) // 2],
        "first page only": stored[:4096],
    }[damage]
    cache.file.parent.mkdir()
    cache.file.write_bytes(content)
    assert_right(cache.fetch(TEXTS, fake_model.encode), TEXTS)
    aside = cache.file.with_name(f"{cache.file.name}.damaged-1")
    assert aside.read_bytes() == content
    assert aside.name in caplog.text
    assert_right(cache.fetch(TEXTS, refuse), TEXTS)


def test_each_damaged_file_is_kept(cache: VectorCache) -> None:
    cache.file.parent.mkdir()
    for content in (b"first " * 999, b"second " * 999):
        cache.file.write_bytes(content)
        cache.fetch(TEXTS[:1], fake_model.encode)
    kept = sorted(cache.file.parent.glob("*.damaged-*"))
    assert [file.read_bytes()[:5] for file in kept] == [b"first", b"secon"]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(bits=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=60))
def test_flipped_bits_never_change_a_vector(
    cache: VectorCache, stored: bytes, bits: list[float]
) -> None:
    content = bytearray(stored)
    for where in bits:
        bit = int(where * len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
    cache.file.parent.mkdir(exist_ok=True)
    cache.file.write_bytes(content)
    # Byte 18 says which versions may write the file: a wrong one makes it read-only, not damaged.
    if content[18] > 2:
        return
    # A damaged index may show only as the file is written, which then is replaced by an almost empty
    # one: right, but whole again only the second time.
    for encode in (fake_model.encode, fake_model.encode, refuse):
        assert_right(cache.fetch(TEXTS, encode), TEXTS)


@pytest.mark.parametrize("column", ["vector", "truncated", "checksum"])
def test_a_damaged_row_is_encoded_anew(
    cache: VectorCache, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache.fetch(TEXTS, fake_model.encode)
    with sqlite3.connect(cache.file) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM vectors WHERE rowid = 7").fetchone()
        flipped = 1 - value if column == "truncated" else bytes([value[0] ^ 1]) + value[1:]
        connection.execute(f"UPDATE vectors SET {column} = ? WHERE rowid = 7", (flipped,))
    connection.close()
    encode = CountingEncode()
    assert_right(cache.fetch(TEXTS, encode), TEXTS)
    assert encode.asked == [TEXTS[6]]
    assert [r.levelno for r in caplog.records if "1 damaged" in r.message] == [logging.WARNING]
    assert_right(cache.fetch(TEXTS, refuse), TEXTS)


def test_a_row_of_another_text_is_not_believed(cache: VectorCache) -> None:
    cache.fetch(TEXTS[:2], fake_model.encode)
    with sqlite3.connect(cache.file) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM vectors ORDER BY rowid")]
        connection.execute("UPDATE vectors SET key = ? WHERE rowid = 1", (b"elsewhere",))
        connection.execute("UPDATE vectors SET key = ? WHERE rowid = 2", (keys[0],))
    connection.close()
    assert_right(cache.fetch(TEXTS[:2], fake_model.encode), TEXTS[:2])


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    cache = VectorCache(tmp_path / "taken" / "vectors", FakeOptions())
    with pytest.raises(ConfigError, match=r"taken/vectors/.* can't be used .*paths\.cache"):
        cache.fetch(TEXTS, fake_model.encode)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_full_cache_may_be_read_only(cache: VectorCache) -> None:
    cache.fetch(TEXTS[:9], fake_model.encode)
    cache.file.chmod(0o444)
    cache.file.parent.chmod(0o555)
    assert_right(cache.fetch(TEXTS[:9], refuse), TEXTS[:9])
    with pytest.raises(ConfigError, match="make its folder writable"):
        cache.fetch(TEXTS[:10], fake_model.encode)
    cache.file.parent.chmod(0o755)


def test_a_full_disk_is_told_and_once_there_is_room_nothing_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as leave:
        cache = VectorCache(tmp_path / "disk", FakeOptions())
        cache.fetch(TEXTS[:9], fake_model.encode)
        leave(0)
        with pytest.raises(
            ConfigError, match=r"disk is full.*: make its folder writable, with room"
        ):
            cache.fetch(TEXTS, fake_model.encode)
        assert_right(cache.fetch(TEXTS[:9], refuse), TEXTS[:9])
        leave(1 << 20)
        assert_right(cache.fetch(TEXTS, fake_model.encode), TEXTS)
        assert_right(cache.fetch(TEXTS, refuse), TEXTS)
        assert not list(cache.file.parent.glob("*.damaged-*"))


def python(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join([str(Path(fake_model.__file__).parent), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths},
    )


ONE_OF_THREE = """
import sys, time
from pathlib import Path
import fake_model
from engram_hydra.embedders.cache import VectorCache

folder, log, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
texts = [f"overlapping text {i}" for i in range(first, first + 300)]

def encode(texts):
    for batch in fake_model.encode(texts):
        time.sleep(0.01)
        with log.open("a") as stream:
            stream.writelines(f"{text}\\n" for text in batch)
        yield batch

found = VectorCache(folder, fake_model.FakeOptions()).fetch(texts, encode)
assert all((found[t].vector == fake_model.embedding(t).vector).all() for t in texts)
"""


def test_three_processes_encode_each_text_once(tmp_path: Path) -> None:
    log = tmp_path / "encoded"
    processes = [python(ONE_OF_THREE, tmp_path / "vectors", log, i) for i in (0, 100, 200)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    encoded = Counter(log.read_text().splitlines())
    assert encoded == Counter(f"overlapping text {i}" for i in range(500))


KILLED_WHILE_ENCODING = """
import os, signal, sys
from pathlib import Path
import fake_model
from engram_hydra.embedders.cache import VectorCache

def encode(texts):
    yield from fake_model.encode(texts[:560])
    os.kill(os.getpid(), signal.SIGKILL)

texts = [f"text {i}" for i in range(600)]
VectorCache(Path(sys.argv[1]), fake_model.FakeOptions()).fetch(texts, encode)
"""


def test_a_kill_loses_at_most_a_chunk(cache: VectorCache) -> None:
    assert python(KILLED_WHILE_ENCODING, cache.file.parent).wait(60) == -signal.SIGKILL
    texts = [f"text {i}" for i in range(600)]
    encode = CountingEncode()
    assert_right(cache.fetch(texts, encode), texts)
    assert encode.asked == texts[512:]


# A page cache of one page makes SQLite write to the file long before the commit.
KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
import fake_model
from engram_hydra.embedders.cache import VectorCache

class Killed(VectorCache):
    def _connect(self):
        connection = super()._connect()
        connection.execute("PRAGMA cache_size = 1")
        return connection

    def _write(self, rows):
        def killed():
            yield from rows[:200]
            os.kill(os.getpid(), signal.SIGKILL)
        super()._write(killed())

texts = [f"text {i}" for i in range(600)]
Killed(Path(sys.argv[1]), fake_model.FakeOptions()).fetch(texts, fake_model.encode)
"""


def test_a_kill_in_the_middle_of_a_write_leaves_a_sound_cache(
    cache: VectorCache, caplog: pytest.LogCaptureFixture
) -> None:
    cache.fetch(TEXTS, fake_model.encode)
    assert python(KILLED_WHILE_WRITING, cache.file.parent).wait(60) == -signal.SIGKILL
    journal = cache.file.with_name(f"{cache.file.name}-journal")
    assert journal.stat().st_size > 0, "nothing had been half written: the test proves nothing"
    assert_right(cache.fetch(TEXTS, refuse), TEXTS)
    texts = [f"text {i}" for i in range(600)]
    assert_right(cache.fetch(texts, fake_model.encode), texts)
    assert not caplog.records
