"""Results that a server did not take: kept in their job's folder until the next sweep logs them."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram_hydra.errors import EngramError, NotLoggedError, TrackingError
from engram_hydra.existing import labelled_otherwise
from engram_hydra.hydra_job import output_folder
from engram_hydra.names import below
from engram_hydra.secrets import hide
from engram_hydra.tracking import Record, Store

KEPT = "kept"  # the folder of results in a job's own, and of the notes that say where they lie

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kept:
    """A run that is over but for its logging, and the note by which it was found."""

    folder: Path
    note: Path
    name: str
    tags: dict[str, str]
    params: dict[str, str]
    results: Record


@contextmanager
def logged_or_kept(
    store: Store, outputs: Path, name: str, tags: Mapping[str, str], params: Mapping[str, Any]
) -> Iterator[Record]:
    """``store.run``, whose results are kept below ``outputs`` if its server can't be reached at its end.

    Raises TrackingError then, which names their folder.
    """
    try:
        with store.run(name, tags, params) as record:
            yield record
    except NotLoggedError as error:
        folder = _keep(outputs, name, tags, params, record)
        raise TrackingError(
            f"{error}: the results are kept in {folder}, and are logged without being computed again"
            " when you start the same command once more."
        ) from error


def find_kept(outputs: Path, tags: Mapping[str, str]) -> Kept | None:
    """The whole and unchanged results of the very run with these ``tags``; ``None`` if none are kept."""
    note = _note(outputs, tags)
    if not note.exists():
        return None
    try:
        return _read(outputs, note, tags)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EngramError) as error:
        log.warning("results kept for this run are not used (%s), see %s", error, note)
        return None


def _keep(
    outputs: Path,
    name: str,
    tags: Mapping[str, str],
    params: Mapping[str, Any],
    record: Record,
) -> Path:
    folder = output_folder() / KEPT
    digests = {}
    for file, content in record.files.items():
        path = below(folder / "files", file)
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(raw)
        digests[file] = hashlib.sha256(raw).hexdigest()
    whole = {
        "run_id": record.run_id,
        "name": name,
        "tags": {key: hide(value) for key, value in tags.items()},
        "params": {key: hide(str(value)) for key, value in params.items()},
        "metrics": record.metrics,
        "result_tags": {key: hide(value) for key, value in record.tags.items()},
        "files": digests,
    }
    text = json.dumps(whole, indent=2) + "\n"
    (folder / "run.json").write_text(text, encoding="utf-8")
    # Last of all, and at once: what has no note, or another digest, was not kept whole.
    note = _note(outputs, tags)
    note.parent.mkdir(parents=True, exist_ok=True)
    place = {
        "folder": os.path.relpath(folder, outputs),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    half = note.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(place) + "\n", encoding="utf-8")
    half.replace(note)
    return folder


def _read(outputs: Path, note: Path, tags: Mapping[str, str]) -> Kept:
    place = json.loads(note.read_text(encoding="utf-8"))
    folder = (outputs / place["folder"]).resolve()
    raw = (folder / "run.json").read_bytes()
    _hold(raw, place["sha256"], "run.json")
    whole = json.loads(raw)
    if whole["tags"]["engram.run_key"] != tags["engram.run_key"]:
        raise ValueError("they are of another run")
    if reason := labelled_otherwise(whole["tags"], tags):
        raise ValueError(reason)
    files: dict[str, str | bytes] = {}
    for file, digest in whole["files"].items():
        content = below(folder / "files", file).read_bytes()
        _hold(content, digest, file)
        files[file] = content
    results = Record(whole["run_id"], whole["metrics"], whole["result_tags"], files)
    return Kept(folder, note, whole["name"], whole["tags"], whole["params"], results)


def _hold(content: bytes, sha256: str, file: str) -> None:
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{file} was changed since")


def _note(outputs: Path, tags: Mapping[str, str]) -> Path:
    return outputs / KEPT / f"{tags['engram.run_key']}.json"
