"""An MLflow tracking server: whether it answers, and how long a run waits for it."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from engram_hydra.errors import TrackingError

# For MLflow's client, unless the variable is set: a server that is down is tried for two minutes.
PATIENCE = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "6",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",  # seconds
}
SECONDS_TO_ANSWER = 10
LONGEST_PAUSE = 4  # while a person waits to see the first run begin
NOT_YET = (502, 503, 504)  # what a proxy says for a server that is down

log = logging.getLogger(__name__)


def await_server(uri: str, *, patient: bool = False) -> None:
    """Return when the server at ``uri`` answers, whatever it says.

    It is asked once and then as often as MLFLOW_HTTP_REQUEST_MAX_RETRIES says, after 1, 2, 4, 4 …
    seconds; where ``patient``, as the jobs of a sweep are, as long as MLflow's client tries a request.
    Sets that variable and those MLflow's client waits by, where they are not set. Raises TrackingError
    where no answer comes.
    """
    for variable, value in PATIENCE.items():
        os.environ.setdefault(variable, value)
    retries = int(os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"])
    start = time.monotonic()
    problem = ask(uri)
    for turn in range(retries):
        if problem is None:
            return
        pause = 2 ** (turn + 1) if patient else min(2**turn, LONGEST_PAUSE)
        log.info("%s does not answer yet (%s): asked again in %d s", uri, problem, pause)
        time.sleep(pause)
        problem = ask(uri)
    if problem is not None:
        raise TrackingError(
            f"no MLflow server answers at {uri} ({problem}; tried for {time.monotonic() - start:.0f} s):"
            " start it, or check tracking.uri."
        )


def ask(uri: str) -> str | None:
    """Why the server gives no answer, in a few words; ``None`` where it does.

    Raises TrackingError where to ask again is of no use.
    """
    import requests

    try:
        answer = requests.get(f"{uri.rstrip('/')}/health", timeout=SECONDS_TO_ANSWER, **_tls())
    except requests.exceptions.SSLError as error:
        raise TrackingError(
            f"the certificate of {uri} can't be verified ({_core(error)}): name its authority's file in"
            " MLFLOW_TRACKING_SERVER_CERT_PATH."
        ) from error
    except requests.exceptions.Timeout:
        return f"no answer in {SECONDS_TO_ANSWER} s"
    except requests.exceptions.ConnectionError as error:
        return _core(error)
    except (requests.exceptions.RequestException, UnicodeError) as error:
        raise TrackingError(
            f"tracking.uri={uri} is no address of a server ({_core(error)})."
        ) from error
    return f"HTTP {answer.status_code}" if answer.status_code in NOT_YET else None


def _tls() -> dict[str, Any]:
    """How MLflow's own variables want certificates treated."""
    insecure = os.environ.get("MLFLOW_TRACKING_INSECURE_TLS", "").lower() in ("true", "1")
    authority = os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH")
    return {
        "verify": False if insecure else authority or True,
        "cert": os.environ.get("MLFLOW_TRACKING_CLIENT_CERT_PATH"),
    }


def _core(error: BaseException) -> str:
    """The innermost cause's words, without the objects that urllib3 prints around it."""
    while isinstance(inner := (error.args[0] if error.args else None), BaseException) or isinstance(
        inner := getattr(error, "reason", None), BaseException
    ):
        error = inner
    words = str(error).splitlines() or [type(error).__name__]
    return words[0].rpartition(">: ")[2].rstrip(".")
