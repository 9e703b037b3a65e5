"""Finding and verifying data files, and downloading them from a hub on loopback."""

from __future__ import annotations

import errno
import hashlib
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engram_hydra import github
from engram_hydra.datasets import files
from engram_hydra.datasets.files import (
    HubAddress,
    PinnedFile,
    data_folder,
    locate,
    pinned_files,
    present,
)
from engram_hydra.errors import DataError
from engram_hydra.github import GitHubAddress
from engram_hydra.hub import cache_folder, write_fault

from hub_server import Fault, HubRepo, HubServer, environment, refusing

CONTENT = b"salt, rope and lamp oil\n" * 5000
REVISION = "0123456789abcdef0123456789abcdef01234567"
ADDRESS = HubAddress("harbour/ledger", REVISION, "data/ledger.bin")


def pin(local: str, content: bytes, hub: HubAddress | None = None) -> PinnedFile:
    return PinnedFile(local, hashlib.sha256(content).hexdigest(), hub)


def test_a_file_in_the_folder_is_found(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "ledger.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    assert locate(tmp_path, pin("deep/ledger.bin", CONTENT)) == path


def test_the_first_form_that_is_there_is_taken(tmp_path: Path) -> None:
    forms = [pin(name, name.encode()) for name in ("a", "b", "c")]
    for name in ("c", "b"):
        (tmp_path / name).write_bytes(name.encode())
    assert locate(tmp_path, *forms) == tmp_path / "b"


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"\n", b""])
def test_a_file_of_another_content_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.bin"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        locate(tmp_path, pin("ledger.bin", CONTENT, ADDRESS))
    for part in (str(path), hashlib.sha256(content).hexdigest(), pin("", CONTENT).sha256, "delete"):
        assert part in str(error.value)


def test_a_damaged_first_form_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"damaged")
    (tmp_path / "b").write_bytes(b"b")
    with pytest.raises(DataError, match="SHA-256"):
        locate(tmp_path, pin("a", b"a"), pin("b", b"b"))


def test_a_missing_file_that_no_hub_has_is_named(tmp_path: Path) -> None:
    (tmp_path / "ledger.bin").mkdir()
    with pytest.raises(DataError) as error:
        locate(tmp_path, pin("ledger.bin", CONTENT), pin("ledger.json", CONTENT))
    assert f"{tmp_path / 'ledger.bin'} or {tmp_path / 'ledger.json'}" in str(error.value)


def test_without_a_folder_the_message_says_how_to_name_one() -> None:
    with pytest.raises(DataError, match=r"ledger\.bin in a folder that ENGRAM_DATA"):
        locate(None, pin("ledger.bin", CONTENT))


def test_a_file_of_another_size_is_refused_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "ledger.bin").write_bytes(CONTENT[:-1])
    with pytest.raises(DataError, match=r"has 119,999 bytes where 120,000 are pinned"):
        locate(tmp_path, PinnedFile("ledger.bin", pin("", CONTENT).sha256, size=len(CONTENT)))


def test_a_file_whose_hash_nobody_knows_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "ledger.bin").write_bytes(CONTENT)
    assert locate(tmp_path, PinnedFile("ledger.bin", None)) == tmp_path / "ledger.bin"


def test_what_is_absent_is_not_present(tmp_path: Path) -> None:
    assert present(tmp_path, pin("ledger.bin", CONTENT)) is None


def test_a_data_folder_must_exist(tmp_path: Path) -> None:
    assert (data_folder(None), data_folder(str(tmp_path))) == (None, tmp_path)
    with pytest.raises(DataError, match="nowhere does not exist: set ENGRAM_DATA"):
        data_folder(str(tmp_path / "nowhere"))


GITHUB = GitHubAddress("harbour/books", REVISION, "ledger.py")
PROGRAM = b"LEDGER = 3\n"


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("form", [pin("ledger", CONTENT, ADDRESS), PinnedFile("ledger", None)])
def test_what_this_machine_can_not_write_is_no_fault_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, form: PinnedFile
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise os_error(number)

    monkeypatch.setattr(files, "download_file", fail)
    monkeypatch.setattr(github, "_get", lambda _: PROGRAM)
    monkeypatch.setattr(Path, "write_bytes", fail)
    cache = tmp_path / "cache"
    if form.hub is None:
        form = replace(form, github=GITHUB)
    with pytest.raises(DataError) as told:
        locate(tmp_path / "data", form, cache=cache)
    kept, setting = (cache_folder(), "HF_HOME") if form.hub else (cache, "ENGRAM_CACHE")
    assert str(told.value) == (
        f"{form.hub or form.github} can't be written to {kept} ({os.strerror(number)}): free space "
        f"or allow writing there, set {setting} to another folder, or put the file at "
        f"{tmp_path / 'data' / 'ledger'}."
    )


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (os_error(errno.ENOSPC), os.strerror(errno.ENOSPC)),
        (RuntimeError("I/O: No space left (os error 28)"), os.strerror(28)),
        (RuntimeError("reset by peer (os error 104)"), ""),
        (os_error(errno.ECONNRESET), ""),
        (os_error(errno.ENETUNREACH), ""),
        (ssl.SSLError(ssl.SSL_ERROR_SYSCALL, "EOF occurred"), ""),
        (TimeoutError("timed out"), ""),
        (OSError("the server answers 500"), ""),
        (ValueError("28"), ""),
    ],
)
def test_which_errors_are_of_this_machines_disk(error: Exception, fault: str) -> None:
    assert write_fault(error) == fault


def test_a_file_that_can_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger"

    def closed(self: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_file", closed)
    with pytest.raises(DataError, match=rf"{path} can't be read \(Permission denied\): make it"):
        present(tmp_path, pin("ledger", CONTENT))


def test_options_become_pinned_files() -> None:
    hub = {"repo": ADDRESS.repo, "revision": REVISION, "path": ADDRESS.path}
    github = {"repo": "a/b", "commit": REVISION, "path": "c.py", "base": "https://mirror"}
    options = {
        "first": {"local": "x", "sha256": "1" * 64, "hub": hub, "size": 7},
        "second": {"local": "y", "sha256": None, "hub": None, "github": github},
    }
    assert pinned_files(options) == (
        PinnedFile("x", "1" * 64, ADDRESS, size=7),
        PinnedFile("y", None, github=GitHubAddress("a/b", REVISION, "c.py", "https://mirror")),
    )


# --- Downloading, each in a process of its own: the client reads HF_ENDPOINT at import. ---

CHILD = """
import os, resource, sys, time
from pathlib import Path
from engram_hydra.datasets.files import HubAddress, PinnedFile, locate
from engram_hydra.errors import DataError
# The client waits between its retries; the tests need not, but they count.
time.sleep = lambda seconds: print("slept", seconds, file=sys.stderr)
if largest := os.environ.get("LARGEST_FILE"):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), int(largest)))
folder, sha256, *address = sys.argv[1:]
try:
    print(locate(Path(folder), PinnedFile("ledger.bin", sha256, HubAddress(*address))))
except DataError as error:
    sys.exit(f"DataError: {error}")
"""


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repo = HubRepo("dataset", ADDRESS.repo, REVISION, {ADDRESS.path: CONTENT})
    with HubServer(repo) as server:
        yield server


def start(
    url: str, home: Path, address: HubAddress = ADDRESS, **variables: str
) -> subprocess.Popen[str]:
    arguments = [str(home / "data"), pin("", CONTENT).sha256 or ""]
    arguments += [address.repo, address.revision, address.path]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments],
        env=environment(url, home / "hub") | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    output, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def download(
    url: str, home: Path, address: HubAddress = ADDRESS, **variables: str
) -> subprocess.CompletedProcess[str]:
    return end(start(url, home, address, **variables))


def slept(done: subprocess.CompletedProcess[str]) -> float:
    """How many seconds a download would have waited in all."""
    lines = [line.split() for line in done.stderr.splitlines() if line.startswith("slept ")]
    return sum(float(seconds) for _, seconds in lines)


OFFLINE = {"HF_HUB_OFFLINE": "1"}


def failure(done: subprocess.CompletedProcess[str], home: Path, address: HubAddress) -> str:
    """The one sentence of a failed download, which names the file, its source and its place."""
    assert done.returncode == 1, done.stdout + done.stderr
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("DataError: ")]
    assert "Traceback" not in done.stderr
    for part in (address.repo, address.revision, address.path, str(home / "data" / "ledger.bin")):
        assert part in sentence
    return sentence


def test_a_download_is_verified_and_then_cached(hub: HubServer, tmp_path: Path) -> None:
    first = download(hub.url, tmp_path)
    assert first.returncode == 0, first.stderr
    path = Path(first.stdout.strip())
    assert path.read_bytes() == CONTENT
    assert any(f"/{REVISION}/" in request for request in hub.requests)
    asked = len(hub.requests)
    again = download(hub.url, tmp_path, **OFFLINE)
    assert (again.stdout, len(hub.requests)) == (first.stdout, asked)
    path.resolve().write_bytes(CONTENT[::-1])
    rotten = download(hub.url, tmp_path, **OFFLINE)
    assert rotten.returncode == 1
    assert f"{path.resolve()} has SHA-256" in rotten.stderr
    assert "HF_HUB_OFFLINE" in failure(rotten, tmp_path, ADDRESS)
    assert download(hub.url, tmp_path).stdout == first.stdout
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        (HubAddress(ADDRESS.repo, REVISION, "data/other.bin"), "EntryNotFound"),
        (HubAddress(ADDRESS.repo, REVISION[::-1], ADDRESS.path), "RevisionNotFound"),
        (HubAddress("harbour/other", REVISION, ADDRESS.path), "RepositoryNotFound"),
    ],
)
def test_what_the_hub_does_not_have(
    hub: HubServer, tmp_path: Path, address: HubAddress, cause: str
) -> None:
    assert cause in failure(download(hub.url, tmp_path, address), tmp_path, address)


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("server_error", "500"),
        ("rate_limited", "asks to wait 7,200 seconds (429)"),
        ("truncated", f"expected {len(CONTENT)}"),
        ("reset", "reset"),
    ],
)
def test_a_hub_in_trouble(hub: HubServer, tmp_path: Path, fault: Fault, cause: str) -> None:
    hub.fault = fault
    done = download(hub.url, tmp_path)
    assert cause in failure(done, tmp_path, ADDRESS)
    assert len(hub.requests) < 30
    assert slept(done) < 60
    hub.fault = "none"
    assert Path(download(hub.url, tmp_path).stdout.strip()).read_bytes() == CONTENT


@pytest.mark.parametrize("fault", ["server_error", "rate_limited", "truncated", "reset", "stalled"])
def test_a_trouble_that_passes(hub: HubServer, tmp_path: Path, fault: Fault) -> None:
    hub.fault, hub.strikes, hub.retry_after = fault, 1, "30"
    done = download(hub.url, tmp_path, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert hub.strikes == 0
    assert done.returncode == 0, done.stderr
    assert slept(done) < 60
    assert Path(done.stdout.strip()).read_bytes() == CONTENT


def test_a_slow_hub_is_waited_for(hub: HubServer, tmp_path: Path) -> None:
    hub.fault = "slow"
    done = download(hub.url, tmp_path, HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert Path(done.stdout.strip()).read_bytes() == CONTENT


def test_two_processes_that_want_one_file_fetch_it_once(hub: HubServer, tmp_path: Path) -> None:
    hub.fault = "slow"
    both = [start(hub.url, tmp_path) for _ in range(2)]
    done = [end(process) for process in both]
    assert [process.returncode for process in done] == [0, 0], done
    assert done[0].stdout == done[1].stdout
    assert Path(done[0].stdout.strip()).read_bytes() == CONTENT
    assert len([request for request in hub.requests if request.startswith("GET")]) == 1


def test_a_killed_download_leaves_nothing_that_counts(hub: HubServer, tmp_path: Path) -> None:
    hub.fault = "slow"
    process = start(hub.url, tmp_path)
    deadline = time.monotonic() + 30
    while not list((tmp_path / "hub").rglob("*.incomplete")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    end(process)
    hub.fault = "none"
    assert "HF_HUB_OFFLINE" in failure(download(hub.url, tmp_path, **OFFLINE), tmp_path, ADDRESS)
    assert Path(download(hub.url, tmp_path).stdout.strip()).read_bytes() == CONTENT


def test_a_hub_that_is_down(tmp_path: Path) -> None:
    with refusing() as url:
        done = download(url, tmp_path)
    assert "refused" in failure(done, tmp_path, ADDRESS)
    assert "slept" not in done.stderr  # the client alone would take 23 seconds


def test_a_write_that_fails_is_told_as_such_and_not_tried_again(
    hub: HubServer, tmp_path: Path
) -> None:
    done = download(hub.url, tmp_path, LARGEST_FILE=str(len(CONTENT) // 2))
    sentence = failure(done, tmp_path, ADDRESS)
    assert f"can't be written to {tmp_path / 'hub' / 'hub'} (File too large)" in sentence
    assert len([request for request in hub.requests if request.startswith("GET")]) == 1
    assert Path(download(hub.url, tmp_path).stdout.strip()).read_bytes() == CONTENT


def test_a_cache_that_is_no_folder_is_told(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = download(hub.url, tmp_path, HF_HOME=str(tmp_path / "file"))
    sentence = failure(done, tmp_path, ADDRESS)
    assert f"can't be written to {tmp_path / 'file' / 'hub'} (Not a directory)" in sentence


def test_offline_nothing_is_asked(hub: HubServer, tmp_path: Path) -> None:
    sentence = failure(download(hub.url, tmp_path, **OFFLINE), tmp_path, ADDRESS)
    assert "HF_HUB_OFFLINE" in sentence
    assert hub.requests == []


def test_wrong_bytes_are_refused(hub: HubServer, tmp_path: Path) -> None:
    hub.fault = "wrong_bytes"
    done = download(hub.url, tmp_path)
    assert done.returncode == 1
    wrong = hashlib.sha256(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])).hexdigest()
    sentence = failure(done, tmp_path, ADDRESS)
    assert f"has SHA-256 {wrong} where {pin('', CONTENT).sha256} is pinned" in sentence
    hub.fault = "none"
    assert Path(download(hub.url, tmp_path).stdout.strip()).read_bytes() == CONTENT
