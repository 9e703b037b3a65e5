"""A server that is waited for, and told of in a sentence where it never answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from engram_hydra import server
from engram_hydra.errors import TrackingError
from engram_hydra.server import await_server

from tracking_server import free_port
from workspace import SMALL


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """What was slept, without sleeping; MLflow's variables as a user has them who set none."""
    for variable in server.PATIENCE:
        monkeypatch.setenv(variable, "")  # so that it is restored
        monkeypatch.delenv(variable)
    slept: list[float] = []
    monkeypatch.setattr(server.time, "sleep", slept.append)
    return slept


@pytest.fixture
def answering() -> Iterator[tuple[str, list[int]]]:
    """A server's address, and the list of what it is to answer."""
    answers: list[int] = []

    class Says(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answers.pop(0) if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    made = HTTPServer(("127.0.0.1", 0), Says)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}", answers
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize("status", [200, 401, 404])
def test_any_answer_of_the_server_itself_will_do(answering, pauses, status):
    uri, answers = answering
    answers += [status]
    await_server(uri)
    assert pauses == [] == answers


def test_a_proxy_that_speaks_for_a_server_that_is_down_is_asked_again(answering, pauses, caplog):
    uri, answers = answering
    answers += [502, 503, 504, 200]
    caplog.set_level("INFO", "engram_hydra")
    await_server(uri + "/")
    assert pauses == [1, 2, 4]
    assert [r.getMessage().rpartition("(")[2] for r in caplog.records] == [
        "HTTP 502): asked again in 1 s",
        "HTTP 503): asked again in 2 s",
        "HTTP 504): asked again in 4 s",
    ]


@pytest.mark.parametrize(
    ("patient", "waited"), [(False, [1, 2, 4, 4, 4, 4]), (True, [2, 4, 8, 16, 32, 64])]
)
def test_a_server_that_is_not_there_is_told_in_the_end(pauses, patient, waited):
    uri = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(TrackingError, match=f"no MLflow server answers at {uri} ") as told:
        await_server(uri, patient=patient)
    assert pauses == waited
    assert "Connection refused" in str(told.value)
    assert "<" not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("retries", [0, 2])
def test_mlflow_s_own_variable_says_how_often(pauses, monkeypatch, retries):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", str(retries))
    with pytest.raises(TrackingError):
        await_server(f"http://127.0.0.1:{free_port()}")
    assert len(pauses) == retries
    assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == str(retries)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("http://", "is no address of a server"),
        ("http://a b", "is no address of a server"),
        ("http://host:port", "is no address of a server"),
    ],
)
def test_what_is_no_address_is_told_at_once(pauses, uri, said):
    with pytest.raises(TrackingError, match=said):
        await_server(uri)
    assert pauses == []


def test_a_certificate_that_cannot_be_verified_is_told_at_once(answering, pauses):
    """Here there is none at all: the server speaks no TLS."""
    uri, _ = answering
    with pytest.raises(TrackingError, match="MLFLOW_TRACKING_SERVER_CERT_PATH"):
        await_server(uri.replace("http:", "https:"))
    assert pauses == []


@pytest.mark.parametrize("several", [(), ("-m", "seed=0,1")], ids=["run", "sweep"])
def test_nothing_is_embedded_and_no_job_begun_for_a_server_that_is_not_there(
    workspace, tmp_path, several
):
    uri = f"http://127.0.0.1:{free_port()}"
    where = ("tracking=server", f"tracking.uri={uri}", f"paths.cache={tmp_path / 'vectors'}")
    done = workspace.run(*several, *where, *SMALL, MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"no MLflow server answers at {uri} (")
    assert not (tmp_path / "vectors").exists()
    assert not list(tmp_path.glob("outputs/sweeps/*/*/[0-9]*"))
    assert workspace.runs() == []
