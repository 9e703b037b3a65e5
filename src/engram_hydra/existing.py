"""Earlier runs of the same cell: the one that stands for a new one, or what the new one supersedes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from engram_hydra.errors import ExistingRunError, TrackingError
from engram_hydra.tracking import Store

log = logging.getLogger(__name__)

# What an equal result may still be called, which decides where it stands in a report.
LABELS = ("engram.variant", "engram.as_shipped", "engram.exploratory")
SECONDS_BETWEEN_LOOKS = 0.2


@contextmanager
def alone(folder: Path, run_key: str) -> Iterator[None]:
    """Only one process at a time is at the run with this key; the others wait for it.

    The lock lies in ``folder``, which they share, and ends with its process, however that ends.
    Raises TrackingError where the folder can't be written.
    """
    lock = FileLock(folder / "locks" / f"{run_key[:32]}.lock")
    try:
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            log.info("another process is at this very run: waiting for it")
            lock.acquire(poll_interval=SECONDS_BETWEEN_LOOKS)
    except OSError as error:
        raise TrackingError(
            f"the lock {lock.lock_file} can't be had ({error.strerror}): make its folder writable."
        ) from error
    try:
        yield
    finally:
        lock.release()


def standing_run(store: Store, tags: Mapping[str, str], existing: str) -> str | None:
    """Id of the run that stands for the one with these ``tags``; none where it is to be run.

    Raises ExistingRunError where there is one and ``existing`` is ``fail``.
    """
    if existing == "rerun":
        return None
    for run in store.having("engram.run_key", tags["engram.run_key"]):
        reason = unusable(store, run, tags)
        if reason:
            log.info("run %s is no result for this one: %s", run.info.run_id, reason)
            continue
        started = datetime.fromtimestamp(run.info.start_time / 1000).strftime("%Y-%m-%d %H:%M")
        if existing == "fail":
            raise ExistingRunError(
                f"run {run.info.run_id} of {started} is this very run, complete: set existing=skip to"
                " let it stand, or existing=rerun to run it anew."
            )
        log.info("stood already: run %s of %s", run.info.run_id, started)
        run_id: str = run.info.run_id
        return run_id
    return None


def unusable(store: Store, run: Any, tags: Mapping[str, str]) -> str:
    """Why an earlier run with the same key can't stand for one with these ``tags``; empty if it can."""
    earlier = run.data.tags
    if run.info.status != "FINISHED":
        return f"it is {run.info.status}"
    if earlier.get("engram.complete") != "true":
        return "it has no completion tag"
    if lost := store.lost_files(run):
        return f"its artifact {lost[0]} is missing or cut short"
    return labelled_otherwise(earlier, tags)


def labelled_otherwise(earlier: Mapping[str, str], tags: Mapping[str, str]) -> str:
    """Which tag lets an equal result stand elsewhere in a report; empty if none does."""
    for label in LABELS:
        if earlier.get(label) != tags[label]:
            return f"its {label} is {earlier.get(label)!r}, now {tags[label]!r}"
    if earlier.get("engram.git_dirty") == "true" != tags["engram.git_dirty"]:
        return "it was made with uncommitted changes"
    return ""
