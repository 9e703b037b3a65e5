"""A real MLflow tracking server on a real PostgreSQL, both on the loopback interface."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

SECONDS_TO_START = 120


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def without(what: str) -> None:
    """Skips where it is not there; where the tests decide what lands, that is a failure."""
    reason = f"needs {what}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Postgres:
    """A cluster of its own in a folder of its own, run by a user who is not root."""

    def __init__(self, programs: Path, folder: Path, password: str) -> None:
        self.programs, self.folder, self.port = programs, folder, free_port()
        self.uri = f"postgresql+psycopg2://tests:{password}@127.0.0.1:{self.port}/postgres"
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses root
            shutil.chown(folder, "postgres", "postgres")
            self.user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        (folder / "password").write_text(password)
        (folder / "password").chmod(0o644)  # in a folder that is its user's alone
        self._do("initdb", "-U", "tests", "-A", "scram-sha-256", "--pwfile", folder / "password")

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._do("pg_ctl", "start", "-w", "-l", self.folder / "log", "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` is what a crash is: what was under way is lost, and recovered from the log."""
        self._do("pg_ctl", "stop", "-w", "-m", mode)

    def _do(self, program: str, *arguments: Any) -> None:
        done = subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *arguments],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server runs
            stderr=subprocess.DEVNULL,
            timeout=SECONDS_TO_START,
            **self.user,
        )
        assert done.returncode == 0, f"{program} {arguments} ended with {done.returncode}"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """PostgreSQL from Debian's packages, started; the test is skipped where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not found:
        without("PostgreSQL: apt-get install postgresql")
    if importlib.util.find_spec("psycopg2") is None:
        without('its driver: pip install "engram-hydra[server]"')
    with tempfile.TemporaryDirectory(prefix="engram_pg_") as folder:  # short, for the socket's name
        made = Postgres(found[-1].parent, Path(folder), secrets.token_hex(16))
        made.start()
        try:
            yield made
        finally:
            made.stop("immediate")


class TrackingServer:
    """``mlflow server`` in a process group of its own, which can be killed and started again."""

    def __init__(self, store: str, folder: Path) -> None:
        self.store, self.folder, self.port = store, folder, free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        self.arguments = ("tracking=server", f"tracking.uri={self.uri}")

    def start(self) -> None:
        """Returns when it answers."""
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mlflow", "server", *where],
                cwd=self.folder,
                env=os.environ
                | {
                    "MLFLOW_BACKEND_STORE_URI": self.store,
                    "MLFLOW_ARTIFACTS_DESTINATION": str(self.folder / "files"),
                    "MLFLOW_DISABLE_TELEMETRY": "true",
                    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + SECONDS_TO_START
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "server.log").read_text()[-3000:]
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.2)

    def kill(self) -> None:
        """As a machine that loses power: nothing is said to anyone."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _answers(self) -> bool:
        try:
            return bool(requests.get(f"{self.uri}/health", timeout=5).ok)
        except requests.exceptions.RequestException:
            return False


@contextmanager
def tracking_server(store: str, folder: Path) -> Iterator[TrackingServer]:
    server = TrackingServer(store, folder)
    try:
        server.start()
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()
