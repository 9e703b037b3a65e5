"""Finding and verifying data files, and downloading them from a hub on loopback."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram_hydra.datasets.files import HubAddress, PinnedFile, locate
from engram_hydra.errors import DataError

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


# --- Downloading, each in a process of its own: the client reads HF_ENDPOINT at import. ---

CHILD = """
import sys, time
from pathlib import Path
from engram_hydra.datasets.files import HubAddress, PinnedFile, locate
from engram_hydra.errors import DataError
time.sleep = lambda seconds: None  # the client waits between its retries; the tests need not
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


def download(
    url: str, home: Path, address: HubAddress = ADDRESS, offline: bool = False
) -> subprocess.CompletedProcess[str]:
    arguments = [str(home / "data"), pin("", CONTENT).sha256]
    arguments += [address.repo, address.revision, address.path]
    return subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        env=environment(url, home / "hub") | {"HF_HUB_OFFLINE": str(int(offline))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


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
    again = download(hub.url, tmp_path, offline=True)
    assert (again.stdout, len(hub.requests)) == (first.stdout, asked)
    path.resolve().write_bytes(CONTENT[::-1])
    rotten = download(hub.url, tmp_path, offline=True)
    assert rotten.returncode == 1
    assert f"{path.resolve()} has SHA-256" in rotten.stderr
    path.resolve().unlink()  # what the message advises
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
    ("fault", "cause"), [("server_error", "500"), ("truncated", f"expected {len(CONTENT)}")]
)
def test_a_hub_in_trouble(hub: HubServer, tmp_path: Path, fault: Fault, cause: str) -> None:
    hub.fault = fault
    assert cause in failure(download(hub.url, tmp_path), tmp_path, ADDRESS)
    hub.fault = "none"
    assert Path(download(hub.url, tmp_path).stdout.strip()).read_bytes() == CONTENT


def test_a_hub_that_is_down(tmp_path: Path) -> None:
    with refusing() as url:
        assert "refused" in failure(download(url, tmp_path), tmp_path, ADDRESS)


def test_offline_nothing_is_asked(hub: HubServer, tmp_path: Path) -> None:
    sentence = failure(download(hub.url, tmp_path, offline=True), tmp_path, ADDRESS)
    assert "HF_HUB_OFFLINE" in sentence
    assert hub.requests == []


def test_wrong_bytes_are_refused(hub: HubServer, tmp_path: Path) -> None:
    hub.fault = "wrong_bytes"
    done = download(hub.url, tmp_path)
    assert done.returncode == 1
    wrong = hashlib.sha256(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])).hexdigest()
    assert wrong in done.stderr
    assert pin("", CONTENT).sha256 in done.stderr
