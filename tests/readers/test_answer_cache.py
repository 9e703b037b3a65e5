"""The answer cache: nothing paid for is lost, nothing damaged is believed, the first answer stays."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_hydra.errors import ConfigError
from engram_hydra.readers import answer_cache
from engram_hydra.readers.answer_cache import AnswerCache, Reply, answer_key

KEYS = [bytes([n]) * 32 for n in range(60)]
REPLIES = {key: Reply(f"antwoord ü {key[0]}\n\0", key[0], None) for key in KEYS}


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    return AnswerCache(tmp_path / "answers")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound cache file of all the replies."""
    cache = AnswerCache(tmp_path_factory.mktemp("sound"))
    fill(cache)
    return cache.file.read_bytes()


def fill(cache: AnswerCache) -> None:
    for key, reply in REPLIES.items():
        assert cache.put(key, reply) == reply


def test_what_was_stored_is_read_back(cache: AnswerCache) -> None:
    assert cache.get(KEYS) == {}
    assert not cache.file.exists()
    fill(cache)
    assert AnswerCache(cache.file.parent).get([*KEYS, b"other"]) == REPLIES


def test_the_first_answer_stays(cache: AnswerCache) -> None:
    first, second = Reply("first", 1, 2), Reply("second", 3, 4)
    assert cache.put(KEYS[0], first) == first
    assert cache.put(KEYS[0], second) == first
    assert cache.get(KEYS[:1]) == {KEYS[0]: first}


def test_two_that_store_at_once_agree(cache: AnswerCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each looks for an earlier answer, and would go on only when the other has looked as well."""
    cache.put(KEYS[1], REPLIES[KEYS[1]])
    look, both = answer_cache._stored, threading.Barrier(2)

    def look_together(connection: sqlite3.Connection, key: bytes) -> Reply | None:
        found = look(connection, key)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return found

    monkeypatch.setattr(answer_cache, "_stored", look_together)
    with ThreadPoolExecutor(2) as pool:
        replies = [Reply("one", None, None), Reply("other", None, None)]
        told = list(pool.map(lambda reply: cache.put(KEYS[0], reply), replies))
    assert told[0] == told[1]
    assert cache.get(KEYS[:1]) == {KEYS[0]: told[0]}


BASE: dict[str, Any] = {
    "endpoint": "http://a/v1",
    "model": "m",
    "messages": [{"role": "user", "content": "q"}],
    "temperature": 0.7,
    "max_tokens": 10,
    "seed": 0,
}


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://b/v1"},
        {"model": "n"},
        {"messages": [{"role": "user", "content": "q?"}]},
        {"messages": [{"role": "system", "content": "q"}]},
        {"messages": [{"role": "user", "content": "\ud800"}]},
        {"messages": [*BASE["messages"], *BASE["messages"]]},
        {"temperature": 0.0},
        {"max_tokens": 11},
        {"seed": 1},
    ],
)
def test_all_that_an_answer_depends_on_is_in_its_key(change: dict[str, object]) -> None:
    assert len(answer_key(**BASE)) == 32
    assert answer_key(**BASE) != answer_key(**(BASE | change))


def test_the_key_does_not_depend_on_how_things_are_written() -> None:
    same = {"messages": [{"content": "q", "role": "user"}], "temperature": 0.7}
    assert answer_key(**BASE) == answer_key(**(BASE | same))
    zero, whole = BASE | {"temperature": 0.0}, BASE | {"temperature": 0}
    assert answer_key(**zero) == answer_key(**whole)


@pytest.mark.parametrize("damage", ["garbage", "half", "first page only"])
@pytest.mark.parametrize("first", ["get", "put"])
def test_a_damaged_file_is_set_aside_and_replaced(
    cache: AnswerCache, stored: bytes, damage: str, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    content = {
        "garbage": b"no database " * 1000,
        "half": stored[: len(stored) // 2],
        "first page only": stored[:4096],
    }[damage]
    cache.file.parent.mkdir()
    cache.file.write_bytes(content)
    if first == "get":
        assert cache.get(KEYS) == {}
    fill(cache)
    aside = cache.file.with_name(f"{cache.file.name}.damaged-1")
    assert aside.read_bytes() == content
    assert [r.levelno for r in caplog.records if aside.name in r.getMessage()] == [logging.WARNING]
    assert cache.get(KEYS) == REPLIES


def test_each_damaged_file_is_kept(cache: AnswerCache) -> None:
    cache.file.parent.mkdir()
    for content in (b"first " * 999, b"second " * 999):
        cache.file.write_bytes(content)
        cache.put(KEYS[0], REPLIES[KEYS[0]])
    kept = sorted(cache.file.parent.glob("*.damaged-*"))
    assert [file.read_bytes()[:5] for file in kept] == [b"first", b"secon"]


def test_a_file_that_was_just_replaced_is_tried_again(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who still has the old file open may take away the new one's journal, which passes."""
    waited: list[float] = []
    monkeypatch.setattr("engram_hydra.sqlite_file.time.sleep", waited.append)
    write, failures = AnswerCache._write, ["disk I/O error", "attempt to write a readonly database"]

    def moved(self: AnswerCache, key: bytes, reply: Reply) -> Reply:
        if failures:
            raise sqlite3.OperationalError(failures.pop())
        return write(self, key, reply)

    monkeypatch.setattr(AnswerCache, "_write", moved)
    assert cache.put(KEYS[0], REPLIES[KEYS[0]]) == REPLIES[KEYS[0]]
    assert (len(waited), failures) == (2, [])
    failures.extend(["disk I/O error"] * 9)
    with pytest.raises(ConfigError, match="disk I/O error"):
        cache.put(KEYS[1], REPLIES[KEYS[1]])


def test_many_threads_at_a_damaged_file_replace_it_once(cache: AnswerCache) -> None:
    cache.file.parent.mkdir()
    cache.file.write_bytes(b"no database " * 1000)
    start = threading.Barrier(8)

    def put(key: bytes) -> None:
        start.wait()
        cache.put(key, REPLIES[key])

    threads = [threading.Thread(target=put, args=(key,)) for key in KEYS[:8]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get(KEYS) == {key: REPLIES[key] for key in KEYS[:8]}
    assert len(list(cache.file.parent.glob("*.damaged-*"))) == 1


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(bits=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=60))
def test_flipped_bits_never_change_an_answer(
    cache: AnswerCache, stored: bytes, bits: list[float]
) -> None:
    content = bytearray(stored)
    for where in bits:
        bit = int(where * len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
    # Byte 18 says which versions may write the file: a wrong one makes it read-only, not damaged.
    if content[18] > 2:
        return
    cache.file.parent.mkdir(exist_ok=True)
    cache.file.write_bytes(content)
    found = cache.get(KEYS)
    assert found == {key: REPLIES[key] for key in found}
    # Some damage shows only as the file is written.
    assert cache.put(KEYS[0], REPLIES[KEYS[0]]) == REPLIES[KEYS[0]]
    assert cache.get(KEYS[:1]) == {KEYS[0]: REPLIES[KEYS[0]]}


@pytest.mark.parametrize("column", ["reply", "checksum"])
def test_a_damaged_row_counts_as_missing(
    cache: AnswerCache, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    fill(cache)
    with sqlite3.connect(cache.file) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM answers WHERE rowid = 7").fetchone()
        connection.execute(
            f"UPDATE answers SET {column} = ? WHERE rowid = 7", (value[:-1] + b"\0",)
        )
    connection.close()
    rest = {key: reply for key, reply in REPLIES.items() if key != KEYS[6]}
    assert cache.get(KEYS) == rest
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert cache.put(KEYS[6], REPLIES[KEYS[6]]) == REPLIES[KEYS[6]]
    assert cache.get(KEYS) == REPLIES


def test_a_row_of_another_question_is_not_believed(cache: AnswerCache) -> None:
    cache.put(KEYS[0], REPLIES[KEYS[0]])
    with sqlite3.connect(cache.file) as connection:
        connection.execute("UPDATE answers SET key = ?", (KEYS[1],))
    connection.close()
    assert cache.get(KEYS[:2]) == {}


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    cache = AnswerCache(tmp_path / "taken" / "answers")
    with pytest.raises(ConfigError, match=r"taken/answers/.* can't be used .*paths\.cache"):
        cache.put(KEYS[0], REPLIES[KEYS[0]])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_full_cache_may_be_read_only(cache: AnswerCache) -> None:
    fill(cache)
    cache.file.chmod(0o444)
    cache.file.parent.chmod(0o555)
    assert cache.get(KEYS) == REPLIES
    with pytest.raises(ConfigError, match="make its folder writable"):
        cache.put(b"new", REPLIES[KEYS[0]])
    cache.file.parent.chmod(0o755)


ONE_OF_THREE = """
import sys
from pathlib import Path
from engram_hydra.readers.answer_cache import AnswerCache, Reply

cache = AnswerCache(Path(sys.argv[1]))
for n in range(40):
    print(cache.put(bytes([n]) * 32, Reply(f"{n} of {sys.argv[2]}", None, None)).text)
"""


def test_three_processes_agree_on_every_answer(cache: AnswerCache) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_OF_THREE, str(cache.file.parent), name],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c")
    ]
    told = [process.communicate(timeout=60)[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    found = cache.get(KEYS)
    assert told == [[found[key].text for key in KEYS[:40]]] * 3


# A page cache of one page makes SQLite write to the file before the commit.
KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from engram_hydra.readers import answer_cache

class Killed(answer_cache.AnswerCache):
    def _connect(self):
        connection = super()._connect()
        connection.execute("PRAGMA cache_size = 1")
        return connection

def killed(connection, key):
    rows = [(os.urandom(32), bytes(999), b"") for _ in range(500)]
    connection.executemany("INSERT INTO answers VALUES (?, ?, ?)", rows)
    os.kill(os.getpid(), signal.SIGKILL)

answer_cache._stored = killed
Killed(Path(sys.argv[1])).put(b"new", answer_cache.Reply("new", None, None))
"""


def test_a_kill_in_the_middle_of_a_write_leaves_a_sound_cache(
    cache: AnswerCache, caplog: pytest.LogCaptureFixture
) -> None:
    fill(cache)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(cache.file.parent)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL
    journal = cache.file.with_name(f"{cache.file.name}-journal")
    assert journal.stat().st_size > 0, "nothing had been half written: the test proves nothing"
    assert cache.get([*KEYS, b"new"]) == REPLIES
    assert not caplog.records
