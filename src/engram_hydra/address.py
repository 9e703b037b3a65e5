"""Where a store is: which addresses keep what is logged, and how to look at what they hold."""

from __future__ import annotations

import shlex
from pathlib import Path

from engram_hydra.errors import TrackingError


def check_address(uri: str) -> None:
    """Raise TrackingError where nothing would last; logins are refused with all options."""
    if uri.startswith("file:") or "://" not in uri:
        raise TrackingError(
            f"tracking.uri={uri} is a file store, which MLflow no longer writes:"
            " use sqlite:////absolute/path/mlflow.db or a server's http:// address."
        )
    file = sqlite_file(uri)
    if uri.startswith("sqlite:") and (file is None or file.name in ("", ":memory:")):
        raise TrackingError(
            f"tracking.uri={uri} is gone when the run ends: use sqlite:////absolute/path/mlflow.db."
        )
    if file is not None and set("?%#") & set(uri):
        raise TrackingError(
            f"tracking.uri={uri} holds one of ? % #, which an SQLite address can't carry:"
            " set paths.mlruns to a folder without them."
        )


def is_server(uri: str) -> bool:
    """Whether the store is behind an MLflow tracking server."""
    return uri.startswith(("http://", "https://"))


def sqlite_file(uri: str) -> Path | None:
    """The database's file; ``None`` where the store is no SQLite file."""
    if not uri.startswith("sqlite:///"):
        return None
    return Path(uri.removeprefix("sqlite:///"))


def ui_command(uri: str) -> str:
    """What opens a store in a browser of this machine only, whatever MLFLOW_HOST says.

    Bare ``mlflow ui`` would open another store, an empty one; a server is its own page.
    """
    if is_server(uri):
        return uri
    return f"mlflow ui --host 127.0.0.1 --backend-store-uri {shlex.quote(uri)}"
