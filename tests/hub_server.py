"""A hub on loopback: as much of its protocol as downloading files of one commit takes, and its faults.

``huggingface_hub`` reads ``HF_ENDPOINT`` when it is imported, so what is tested against this server
runs in a process of its own, under ``environment(hub.url, home)``.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Literal
from urllib.parse import unquote, urlsplit

Fault = Literal[
    "none",
    "server_error",  # every answer is a 500
    "rate_limited",  # every answer is a 429
    "wrong_bytes",  # a file's last byte is another one, its size and ETag are right
    "truncated",  # the connection ends at half of the file, each time
    "reset",  # the connection is reset at half of the file, each time
    "stalled",  # half of the file comes, and then nothing for STALL seconds
    "slow",  # the file comes in drops, with pauses, but whole
]

STALL = 3.0
DROPS = 20


@dataclass(frozen=True)
class HubRepo:
    """One commit of one repository: ``files`` maps paths in it to their bytes or to a local file."""

    kind: Literal["model", "dataset", "github"]
    name: str
    revision: str
    files: Mapping[str, bytes | Path]

    def read(self, path: str) -> bytes:
        content = self.files[path]
        return content if isinstance(content, bytes) else content.read_bytes()


class HubServer:
    """Serves ``repos`` at ``url`` while its ``with`` block lasts; what was asked stands in ``requests``.

    Anything else is a 404 with the hub's error code for it. ``fault`` may be set at any time; it
    strikes ``strikes`` more times, or always. A GitHub repository is served as its raw files are.
    """

    strikes: int | None = None
    retry_after = "7200"  # seconds, with each 429

    def __init__(self, *repos: HubRepo, fault: Fault = "none") -> None:
        self.repos = repos
        self.fault: Fault = fault
        self.requests: list[str] = []
        hub = self

        class Handler(_Handler):
            def setup(self) -> None:
                self.hub = hub
                super().setup()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def refusing() -> Iterator[str]:
    """The address of a hub that is down: the port is taken, and nobody listens on it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def environment(url: str, home: Path) -> dict[str, str]:
    """This process's environment with the hub at ``url``, its cache in ``home``, and no proxy."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HF_", "HUGGING")) and not name.lower().endswith("_proxy")
    }
    return kept | {
        "HF_ENDPOINT": url,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        self.hub.requests.append(f"{self.command} {self.path}")
        if self._struck("server_error"):
            self._send(500, b"")
            return
        if self._struck("rate_limited"):
            self._send(429, b"", {"Retry-After": self.hub.retry_after})
            return
        path = unquote(urlsplit(self.path).path)
        repo = next((r for r in self.hub.repos if f"/{_address(r)}/" in path), None)
        if repo is None:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
            return
        rest = path.partition(f"/{_address(repo)}/")[2]
        verb, _, rest = ("resolve", "", rest) if repo.kind == "github" else rest.partition("/")
        revision, _, name = rest.partition("/")
        if revision != repo.revision:
            self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif verb == "tree":
            self._send_json([_entry(repo, name) for name in repo.files])
        elif verb == "revision":
            siblings = [{"rfilename": name} for name in repo.files]
            self._send_json({"id": repo.name, "sha": repo.revision, "siblings": siblings})
        elif verb == "resolve" and name in repo.files:
            self._send_file(repo, name)
        else:
            headers = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": repo.revision}
            self._send(404, b"", headers)

    def _send_file(self, repo: HubRepo, name: str) -> None:
        body = repo.read(name)
        etag = hashlib.sha256(body).hexdigest()
        headers = {"X-Repo-Commit": repo.revision, "ETag": f'"{etag}"', "Accept-Ranges": "bytes"}
        if self._struck("wrong_bytes"):
            body = body[:-1] + bytes([body[-1] ^ 1])
        start = 0
        if asked := self.headers.get("Range"):
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        sent = len(body) - start
        if self.command == "GET" and any(map(self._struck, ("truncated", "reset", "stalled"))):
            sent = max(len(body) // 2 - start, 0)
        self._send(206 if asked else 200, body[start:], headers, sent=sent)

    def _struck(self, fault: Fault) -> bool:
        """Is ``fault`` the hub's, and does it still strike?"""
        if self.hub.fault != fault or self.hub.strikes == 0:
            return False
        if self.hub.strikes is not None:
            self.hub.strikes -= 1
        return True

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        sent: int | None = None,
    ) -> None:
        """Announce all of ``body``, send its first ``sent`` bytes, and hang up if that is not all."""
        self.send_response(status)
        for header, value in (headers or {}).items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "GET":
            return
        if self.hub.fault == "slow":
            size = len(body) // DROPS + 1
            for start in range(0, len(body), size):
                self.wfile.write(body[start : start + size])
                time.sleep(0.05)
            return
        self.wfile.write(body[:sent])
        if sent is None or sent == len(body):
            return
        self.close_connection = True
        if self.hub.fault == "stalled":
            time.sleep(STALL)
        if self.hub.fault == "reset":
            time.sleep(0.1)  # else what was sent may be lost as well
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.wfile.close()
            self.connection.close()


def _address(repo: HubRepo) -> str:
    """What stands before ``/resolve/``; the API's addresses hold it too, for models with a prefix."""
    return f"datasets/{repo.name}" if repo.kind == "dataset" else repo.name


def _entry(repo: HubRepo, name: str) -> dict[str, object]:
    body = repo.read(name)
    git = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
    return {"type": "file", "path": name, "size": len(body), "oid": git}
