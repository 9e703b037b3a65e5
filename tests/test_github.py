"""Fetching a Python file at its commit, from a server on loopback that misbehaves."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram_hydra import github
from engram_hydra.datasets.files import PinnedFile, locate, present
from engram_hydra.errors import ConfigError, DataError
from engram_hydra.github import GitHubAddress

from hub_server import Fault, HubRepo, HubServer, refusing

COMMIT = "fedcba9876543210fedcba9876543210fedcba98"
PATH = "utils/words.py"
CONTENT = b"WORDS = {\n" + b"".join(b'    "%d": "rope and oil",\n' % n for n in range(400)) + b"}\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("urllib3.Retry.sleep", lambda *arguments: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def server() -> Iterator[HubServer]:
    with HubServer(HubRepo("github", "harbour/words", COMMIT, {PATH: CONTENT})) as running:
        yield running


def form(base: str, sha256: str | None = None, path: str = PATH) -> PinnedFile:
    address = GitHubAddress("harbour/words", COMMIT, path, base)
    return PinnedFile("book/words.py", sha256, github=address)


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_it_is_fetched_once_and_then_found(
    server: HubServer, tmp_path: Path, sha256: str | None
) -> None:
    wanted = form(server.url, sha256)
    assert present(None, wanted, cache=tmp_path) is None
    path = locate(None, wanted, cache=tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.requests == [f"GET /harbour/words/{COMMIT}/{PATH}"]
    assert locate(None, wanted, cache=tmp_path) == path
    assert present(None, wanted, cache=tmp_path) == path
    assert len(server.requests) == 1


def test_its_hash_is_kept_as_sha256sum_writes_it(server: HubServer, tmp_path: Path) -> None:
    path = locate(None, form(server.url), cache=tmp_path)
    assert Path(f"{path}.sha256").read_text() == f"{SHA256}  words.py\n"


@pytest.mark.parametrize("damage", [CONTENT[:-5], CONTENT + b"\n", b""])
def test_a_damaged_copy_is_fetched_again(
    server: HubServer, tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = locate(None, form(server.url), cache=tmp_path)
    path.write_bytes(damage)
    with caplog.at_level(logging.WARNING):
        assert present(None, form(server.url), cache=tmp_path) is None
    assert f"{path} is damaged" in caplog.text
    assert locate(None, form(server.url), cache=tmp_path).read_bytes() == CONTENT


def test_a_copy_without_its_hash_does_not_count(server: HubServer, tmp_path: Path) -> None:
    path = locate(None, form(server.url), cache=tmp_path)
    Path(f"{path}.sha256").unlink()
    assert present(None, form(server.url), cache=tmp_path) is None


def test_once_known_the_hash_holds(tmp_path: Path) -> None:
    def serve(content: bytes) -> HubServer:
        return HubServer(HubRepo("github", "harbour/words", COMMIT, {PATH: content}))

    with serve(CONTENT) as first:
        path = locate(None, form(first.url), cache=tmp_path)
    path.unlink()
    with serve(b"OTHER = 1\n") as second, pytest.raises(DataError) as error:
        locate(None, form(second.url), cache=tmp_path)
    assert SHA256 in str(error.value)
    assert f"recorded in {path}.sha256" in str(error.value)
    assert not path.exists()


def test_the_users_own_file_comes_first(server: HubServer, tmp_path: Path) -> None:
    own = tmp_path / "data" / "book" / "words.py"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"OWN = 1\n")
    assert locate(tmp_path / "data", form(server.url), cache=tmp_path / "cache") == own
    own.write_bytes(CONTENT[: len(CONTENT) // 2])
    with pytest.raises(DataError, match="is no Python file"):
        locate(tmp_path / "data", form(server.url), cache=tmp_path / "cache")
    assert server.requests == []


def failure(wanted: PinnedFile, home: Path) -> str:
    """The one sentence, which names the file, its source, and where to put it by hand."""
    with pytest.raises(DataError) as error:
        locate(home / "data", wanted, cache=home / "cache")
    assert not [path for path in (home / "cache").rglob("*") if path.suffix in {".py", ".sha256"}]
    sentence = str(error.value)
    for part in (PATH, "harbour/words", COMMIT, str(home / "data" / "book" / "words.py")):
        assert part in sentence
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("fault", "cause", "asked"),
    [
        ("server_error", "500", 4),
        ("rate_limited", "429", 4),
        ("truncated", "Incomplete", 1),
        ("reset", "reset", 1),
    ],
)
def test_a_server_in_trouble(
    server: HubServer, tmp_path: Path, fault: Fault, cause: str, asked: int
) -> None:
    server.fault = fault
    assert cause in failure(form(server.url), tmp_path)
    assert len(server.requests) == asked
    server.strikes = 1 if asked > 1 else 0  # it passes
    assert locate(None, form(server.url), cache=tmp_path).read_bytes() == CONTENT


def test_a_file_that_is_not_there(server: HubServer, tmp_path: Path) -> None:
    server.repos = ()
    assert "404" in failure(form(server.url), tmp_path)
    assert len(server.requests) == 1


def test_a_server_that_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urllib3.Retry.sleep", lambda *arguments: pytest.fail("it waits"))
    with refusing() as url:
        assert "refused" in failure(form(url), tmp_path)


def test_one_that_stalls(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "TIMEOUT", 0.3)
    server.fault = "stalled"
    assert "timed out" in failure(form(server.url), tmp_path)


def test_one_that_trickles(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fault = "slow"
    assert locate(None, form(server.url), cache=tmp_path / "patient").read_bytes() == CONTENT
    monkeypatch.setattr(github, "DEADLINE", 0.3)
    assert "seconds" in failure(form(server.url), tmp_path)


def test_a_file_that_is_too_large(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "MAX_BYTES", len(CONTENT) - 1)
    assert "larger than" in failure(form(server.url), tmp_path)


@pytest.mark.parametrize(
    "content", [b"<html>Sign in</html>", CONTENT[:999], b"A = 1\0", b"\xff\xfe"]
)
def test_what_is_no_python(tmp_path: Path, content: bytes) -> None:
    with HubServer(HubRepo("github", "harbour/words", COMMIT, {PATH: content})) as server:
        assert "no Python file" in failure(form(server.url), tmp_path)


def test_another_file_than_the_pinned_one(server: HubServer, tmp_path: Path) -> None:
    assert f"{SHA256} where {'0' * 64} is pinned" in failure(form(server.url, "0" * 64), tmp_path)


def test_offline_nothing_is_asked(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE" in failure(form(server.url), tmp_path)
    assert server.requests == []


@pytest.mark.parametrize("base", ["http://example.org", "ftp://127.0.0.1", "file:///etc", "", "x"])
def test_only_https_will_do(tmp_path: Path, base: str) -> None:
    with pytest.raises(ConfigError, match="no https address"):
        locate(None, form(base), cache=tmp_path)


def test_those_who_want_it_at_once_fetch_it_once(server: HubServer, tmp_path: Path) -> None:
    server.fault = "slow"
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: locate(None, form(server.url), cache=tmp_path), range(4)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert len(server.requests) == 1
