"""Python files of GitHub repositories at one commit: fetched to be read as data, never imported."""

from __future__ import annotations

import ast
import hashlib
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from filelock import FileLock

from engram_hydra.errors import ConfigError

if TYPE_CHECKING:
    import requests

log = logging.getLogger(__name__)

MAX_BYTES = 4 << 20
TIMEOUT = 10.0  # seconds without a byte
DEADLINE = 60.0  # seconds for the whole file
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class GitHubAddress:
    """One Python file of a repository (``owner/name``) at one commit (40 hex digits).

    ``base`` is the server of raw files or a mirror of it: https, or http on this machine.
    """

    repo: str
    commit: str
    path: str
    base: str = "https://raw.githubusercontent.com"

    def __str__(self) -> str:
        return f"{self.path} of GitHub repository {self.repo} at commit {self.commit}"

    @property
    def url(self) -> str:
        return f"{self.base.rstrip('/')}/{self.repo}/{self.commit}/{self.path}"


class Shelf:
    """Where one such file is kept below the folder ``cache``, with its hash beside it.

    The commit says which file is meant, but its hash may not be known beforehand (``sha256`` is
    None): the one of the first download is recorded in ``<file>.sha256``, as ``sha256sum`` writes
    it, and holds from then on.
    """

    def __init__(self, address: GitHubAddress, cache: Path, sha256: str | None) -> None:
        self._address = address
        self.file = cache / "github" / address.repo / address.commit / address.path
        self._record = self.file.with_name(f"{self.file.name}.sha256")
        self._sha256 = sha256

    def expected(self) -> str | None:
        """The hash that the file must have, as far as one is known."""
        if self._sha256 is None and self._record.is_file():
            return self._record.read_text(encoding="ascii", errors="replace").partition(" ")[0]
        return self._sha256

    def find(self) -> Path | None:
        """The file, if it is here and is the one that was downloaded; nothing is asked."""
        if not (self.file.is_file() and self._record.is_file()):
            return None
        if hashlib.sha256(self.file.read_bytes()).hexdigest() == self.expected():
            return self.file
        log.warning("%s is damaged and will be downloaded again", self.file)
        return None

    def fill(self) -> Path:
        """Download the file, check it, and put it here in one step.

        Processes wait for each other, and all but the first find it. Raises ConfigError for an
        address that is not https, ValueError for what is not the expected file, and whatever the
        system and the HTTP library raise.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.file}.lock"):
            if found := self.find():
                return found
            log.info("asking for %s", self._address.url)
            content = _get(self._address)
            self._check(content)
            digest = hashlib.sha256(content).hexdigest()
            _write(self._record, f"{digest}  {self.file.name}\n".encode())
            _write(self.file, content)
        return self.file

    def _check(self, content: bytes) -> None:
        digest, expected = hashlib.sha256(content).hexdigest(), self.expected()
        if expected is not None and digest != expected:
            known = "pinned" if self._sha256 else f"recorded in {self._record}"
            raise ValueError(f"it has SHA-256 {digest} where {expected} is {known}")
        check_python(content)


def check_python(content: bytes) -> None:
    """Raises ValueError unless ``content`` is Python source, as an error page or half a file is not."""
    try:
        ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is no Python file ({error})") from error


def _get(address: GitHubAddress) -> bytes:
    import requests
    from huggingface_hub import constants
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    parts = urlsplit(address.url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ConfigError(
            f"{address.base!r} is no https address to fetch {address.path} from:"
            " set ENGRAM_GITHUB_RAW to one, or unset it."
        )
    if constants.HF_HUB_OFFLINE:
        raise OSError("HF_HUB_OFFLINE is set")
    # Where there is no network at all, the first try says so. A Retry-After could take any time.
    retry = Retry(
        total=3,
        connect=0,
        backoff_factor=0.5,
        status_forcelist=(408, 429, 500, 502, 503, 504),
        respect_retry_after_header=False,
        raise_on_status=False,
    )
    deadline = time.monotonic() + DEADLINE
    with requests.Session() as session:
        session.mount(f"{parts.scheme}://", HTTPAdapter(max_retries=retry))
        try:
            response = session.get(
                address.url,
                headers={"Accept-Encoding": "identity"},
                stream=True,
                timeout=TIMEOUT,
                allow_redirects=False,
            )
        except requests.ConnectionError as error:
            raise OSError(str(_root(error)).rstrip(".")) from error
        with response:
            if response.status_code != 200:
                raise OSError(f"the server answers {response.status_code} {response.reason}")
            return _read(response, deadline)


def _read(response: requests.Response, deadline: float) -> bytes:
    content = b""
    # One piece as it comes: a larger read would wait for a server that trickles.
    while piece := response.raw.read1(1 << 16, decode_content=True):
        content += piece
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError(f"it takes more than {DEADLINE:.0f} seconds")
    return content


def _root(error: BaseException) -> BaseException:
    """What lies behind the errors that two libraries have wrapped around it."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return error


def _write(place: Path, content: bytes) -> None:
    partial = place.with_name(f"{place.name}.partial")
    partial.write_bytes(content)
    partial.replace(place)
