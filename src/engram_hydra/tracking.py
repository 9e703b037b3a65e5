"""Runs in MLflow: the only file that imports it."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from filelock import FileLock

from engram_hydra.address import check_address, is_server, sqlite_file
from engram_hydra.errors import EngramError, NotLoggedError, TrackingError
from engram_hydra.hydra_job import in_sweep
from engram_hydra.moved import follow_files
from engram_hydra.names import below
from engram_hydra.secrets import hide, hide_values
from engram_hydra.server import ask, await_server

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from omegaconf import DictConfig

    from engram_hydra.datasets.dataset import Dataset

PARAMS_AT_ONCE = 100
RUNS_AT_ONCE = 1000
LONGEST_TAG = 5000
SECONDS_FOR_LOCK = 60
CLOCKS_DIFFER = 60_000  # ms that two machines' clocks may be apart

log = logging.getLogger(__name__)


@dataclass
class Record:
    """What one run leaves behind, gathered while it runs and logged when it is over."""

    run_id: str
    metrics: dict[str, float] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    files: dict[str, str | bytes] = field(default_factory=dict)


class Store:
    """One MLflow experiment in one store, made on first use.

    Raises TrackingError where the store can't be opened or written, or is a ``file:`` store.
    """

    def __init__(self, uri: str, artifacts: str | None, experiment: str) -> None:
        check_address(uri)
        if artifacts is None and not is_server(uri):
            raise TrackingError("tracking.artifacts=null is for a server: set it to a folder.")
        self.uri = uri
        self.client = self._connect(artifacts, experiment)

    @classmethod
    def of(cls, tracking: DictConfig) -> Store:
        elsewhere = os.environ.get("MLFLOW_TRACKING_URI", tracking.uri)
        if elsewhere != tracking.uri:
            log.warning("MLFLOW_TRACKING_URI is not used: tracking.uri=%s decides", tracking.uri)
        return cls(tracking.uri, tracking.artifacts, tracking.experiment)

    def _connect(self, artifacts: str | None, experiment: str) -> MlflowClient:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
        os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
        remote = artifacts is None or re.match(r"[a-z][a-z0-9+.-]+:/", artifacts) is not None
        location = artifacts if remote else Path(str(artifacts)).resolve().as_uri()
        if is_server(self.uri):
            await_server(self.uri, patient=in_sweep())
        try:
            if not remote:  # or it would be found out only when the run is over
                Path(str(artifacts)).mkdir(parents=True, exist_ok=True)
                if not os.access(str(artifacts), os.W_OK):
                    raise PermissionError(f"{artifacts} is read-only")
            with self._alone():
                from mlflow import MlflowClient

                # Its tracebacks of what it raises anyway, and is told here.
                logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
                client = MlflowClient(tracking_uri=self.uri)
                found = client.get_experiment_by_name(experiment)
                if found is None:
                    found = _made(client, experiment, location)
        except Exception as error:  # MLflow wraps whatever its database raises
            raise self._refused(error) from error
        self.experiment_id = found.experiment_id
        if found.lifecycle_stage == "deleted":
            raise TrackingError(
                f"the MLflow experiment {experiment} in {self.uri} was deleted: restore it with"
                f" `mlflow experiments restore -x {found.experiment_id}`, or set tracking.experiment."
            )
        place = found.artifact_location
        if location is None and is_server(self.uri) and re.match(r"file:|/|[.]|[A-Za-z]:", place):
            raise TrackingError(
                f"the server {self.uri} keeps the files of the experiment {experiment} in a folder of its"
                f" own, {place}, and takes none from here: start it with --artifacts-destination in"
                " place of --default-artifact-root or --no-serve-artifacts, and set another"
                " tracking.experiment."
            )
        if location not in (None, place) and self._follows(place, str(location)):
            log.warning(
                "the store was moved or copied: files of the experiment %s are in %s now, not in %s",
                experiment,
                location,
                place,
            )
        elif location not in (None, place):
            log.warning(
                "files go to %s, where the experiment %s has kept them from its start, not to %s",
                place,
                experiment,
                location,
            )
        return client

    def _follows(self, place: str, location: str) -> bool:
        """Whether the store has changed to the files that lie where they are looked for now."""
        database = sqlite_file(self.uri)
        local = place.startswith("file:") and location.startswith("file:")
        return (
            database is not None
            and local
            and follow_files(database, self.experiment_id, place, location)
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A fresh SQLite store races: tables and experiment are made by one process at a time."""
        database = sqlite_file(self.uri)
        if database is None:
            yield
            return
        database.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(database.parent / "store.lock"):
            _open_for_writing(database)
            yield

    def _refused(self, error: Exception) -> TrackingError:
        if is_server(self.uri):
            return TrackingError(
                f"the MLflow server {self.uri} refuses ({_first_line(error)}): check tracking.uri, and if"
                " it wants a login, MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or"
                " MLFLOW_TRACKING_TOKEN."
            )
        return TrackingError(
            f"the MLflow store {self.uri} can't be opened for writing ({_first_line(error)}):"
            " check that tracking.uri and paths.mlruns can be written, or set others."
        )

    @contextmanager
    def run(
        self, name: str, tags: Mapping[str, str], params: Mapping[str, Any]
    ) -> Iterator[Record]:
        """A run around the block: all of it is logged, or it is marked FAILED with its traceback.

        The record's files and the job's log become artifacts. ``engram.complete`` is written last of
        all, so that a run without it is no result. Raises NotLoggedError where a server can't be
        reached when the block is over.
        """
        from mlflow.entities import Param

        shown = {key: hide(value) for key, value in tags.items()}
        with self._told(name):
            record = Record(self._new_run(name, shown))
        try:
            values = [Param(key, hide(str(value))) for key, value in params.items()]
            with self._told(name):  # first: a failed run has them too
                for n in range(0, len(values), PARAMS_AT_ONCE):
                    self.client.log_batch(record.run_id, params=values[n : n + PARAMS_AT_ONCE])
            yield record
            _refuse_what_is_not_finite(record.metrics)
            record.files = {file: _as_bytes(content) for file, content in record.files.items()}
            try:
                with self._told(name):
                    self._log_results(record)
            except Exception as error:
                if not is_server(self.uri):
                    raise
                problem = ask(self.uri) or _first_line(error)
                raise NotLoggedError(
                    f"the server {self.uri} could not be reached to log run {record.run_id} ({problem})"
                ) from error
            log.info("done: run %s (%s)", record.run_id, name)
        except BaseException as error:
            self._fail(record, error)
            raise

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """What the store or its disk refuses, in a sentence."""
        from mlflow.exceptions import MlflowException

        try:
            yield
        except (OSError, MlflowException) as error:
            raise TrackingError(
                f"the run {name} can't be logged to {self.uri} ({_first_line(error)}): see that the store"
                " and the folders of its files and of outputs have room and can be written, then start"
                " the same command again; complete runs are kept."
            ) from error

    def _new_run(self, name: str, tags: dict[str, str]) -> str:
        if is_server(self.uri):
            tags["engram.attempt"] = uuid4().hex
        made: str = self.client.create_run(
            self.experiment_id, self._start(), tags, run_name=name
        ).info.run_id
        if is_server(self.uri):
            # A request whose answer was lost is sent again, and then there are two runs.
            for run in self.runs(f"tags.`engram.attempt` = '{tags['engram.attempt']}'"):
                if run.info.run_id != made:
                    self.client.delete_run(run.info.run_id)
        return made

    def _start(self) -> int:
        """Now, in ms since 1970; just after the newest run where the clock is behind that.

        Of runs that do the same the newest counts, and a clock may jump back.
        """
        now = int(time.time() * 1000)
        order = ["attributes.start_time DESC"]
        found = self.client.search_runs([self.experiment_id], max_results=1, order_by=order)
        newest = found[0].info.start_time if found else 0
        if newest > now + CLOCKS_DIFFER:
            log.warning(
                "run %s is dated %s, which is still to come: set the clock right or delete that run; this"
                " one is dated just after it, to count as the newer",
                found[0].info.run_id,
                datetime.fromtimestamp(newest / 1000).strftime("%Y-%m-%d %H:%M"),
            )
        return max(now, newest + 1)

    def _log_results(self, record: Record) -> None:
        from mlflow.entities import Metric, RunTag

        now = int(time.time() * 1000)
        self.client.log_batch(
            record.run_id, metrics=[Metric(k, float(v), now, 0) for k, v in record.metrics.items()]
        )
        sizes = {name: len(content) for name, content in record.files.items()}
        record.tags["engram.files"] = json.dumps(sizes)
        rest = [RunTag(key, hide(value)) for key, value in record.tags.items()]
        self.client.log_batch(record.run_id, tags=rest)
        for file, content in record.files.items():
            self._log_file(record.run_id, file, _as_bytes(content))
        self._log_logs(record)
        self.client.set_terminated(record.run_id, "FINISHED")
        self.client.set_tag(record.run_id, "engram.complete", "true")

    def _log_file(self, run_id: str, file: str, content: bytes) -> None:
        place, _, name = file.rpartition("/")
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder, name)
            local.write_bytes(content)
            self.client.log_artifact(run_id, str(local), place or None)

    def _fail(self, record: Record, error: BaseException) -> None:
        """Mark the run FAILED (KILLED where a person stopped it), with the traceback as tag and log."""
        killed = isinstance(error, KeyboardInterrupt)
        trace = hide("".join(traceback.format_exception(error)))
        log.error("run %s %s:\n%s", record.run_id, "was stopped" if killed else "failed", trace)
        try:  # whatever stopped the run may stop this too, and must not be hidden by it
            if is_server(self.uri) and (problem := ask(self.uri)):  # MLflow would try for minutes
                raise TrackingError(f"{self.uri} does not answer ({problem})")
            self.client.set_terminated(record.run_id, "KILLED" if killed else "FAILED")
            self.client.set_tag(record.run_id, "engram.error", trace[-LONGEST_TAG:])
            self._log_logs(record)
        except Exception as lost:
            log.error("run %s could not be marked in the store: %s", record.run_id, lost)

    def _log_logs(self, record: Record) -> None:
        """The files that this job logs to, and no other of its folder."""
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.FileHandler):
                handler.flush()
                self.client.log_artifact(record.run_id, handler.baseFilename)

    def log_dataset(self, run_id: str, dataset: Dataset) -> None:
        """Show the data set as the run's input, with its digest."""
        from mlflow.entities import Dataset as MlflowDataset
        from mlflow.entities import DatasetInput, InputTag
        from mlflow.exceptions import MlflowException

        profile = {
            "histories": len(dataset.histories),
            "items": len(dataset.items),
            "questions": len(dataset.questions),
        }
        entity = MlflowDataset(
            name=dataset.name,
            digest=dataset.sha256[:36],  # the longest the store takes
            source_type="local",
            source=json.dumps({"uri": dataset.source}),
            profile=json.dumps(profile),
        )
        tags = [InputTag("mlflow.data.context", "evaluation")]
        inputs = [DatasetInput(entity, tags)]
        try:
            self.client.log_inputs(run_id, datasets=inputs)
        except MlflowException:  # as where another run made the row of this data set just now
            self.client.log_inputs(run_id, datasets=inputs)

    def having(self, tag: str, value: str) -> list[Any]:
        """The runs whose tag has this value, newest first, complete or not."""
        return list(self.runs(f"tags.`{tag}` = '{value}'"))

    def mark_failed(self, run_id: str, reason: str) -> None:
        """Mark a run as FAILED that could not reach its server to say so."""
        self.client.set_terminated(run_id, "FAILED")
        self.client.set_tag(run_id, "engram.error", reason)

    def mark_killed(self, tag: str, value: str) -> None:
        """Mark those runs with this tag as KILLED that still count as running."""
        for run in self.having(tag, value):
            if run.info.status == "RUNNING":
                self.client.set_terminated(run.info.run_id, "KILLED")

    def lost_files(self, run: Any) -> list[str]:
        """What a run has logged and is no longer there in its full size, by ``engram.files``."""
        logged: dict[str, int] = json.loads(run.data.tags.get("engram.files", "{}"))
        folders = {name.rpartition("/")[0] for name in logged}
        there = {
            found.path: found.file_size
            for folder in folders
            for found in self.client.list_artifacts(run.info.run_id, folder or None)
        }
        return [name for name, size in logged.items() if there.get(name) != size]

    def runs(self, filter_string: str = "") -> Iterator[Any]:
        """All runs that match, newest first, page by page."""
        token = None
        while True:
            page = self.client.search_runs(
                [self.experiment_id],
                filter_string,
                max_results=RUNS_AT_ONCE,
                order_by=["attributes.start_time DESC"],
                page_token=token,
            )
            yield from page
            token = page.token
            if not token:
                return

    def read_artifact(self, info: Any, name: str) -> str:
        """The text of one artifact of the run that ``info`` is of. Raises TrackingError where it is gone.

        On this machine it is read where it lies: MLflow's own way asks the store twice for each file.
        """
        from mlflow.utils.file_utils import local_file_uri_to_path

        run_id, place = info.run_id, info.artifact_uri
        try:
            if place.startswith("file:"):
                file = below(Path(local_file_uri_to_path(place)), name)  # type: ignore[no-untyped-call]
                return file.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder:
                local = self.client.download_artifacts(run_id, name, folder)
                return Path(local).read_text(encoding="utf-8")
        except Exception as error:
            raise TrackingError(
                f"run {run_id} has no readable artifact {name} ({_unread(error)}): put it back (if the"
                " store was moved, its artifacts belong beside it), set tracking.artifacts to where they"
                " lie, or do the run again with existing=rerun."
            ) from error


def _made(client: MlflowClient, experiment: str, location: str | None) -> Any:
    """The experiment, which another process may have made a moment ago."""
    from mlflow.exceptions import MlflowException

    try:
        return client.get_experiment(client.create_experiment(experiment, location))
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
        return client.get_experiment_by_name(experiment)


def _refuse_what_is_not_finite(metrics: Mapping[str, float]) -> None:
    import math

    if wrong := [key for key, value in metrics.items() if not math.isfinite(value)]:
        raise EngramError(
            f"the metrics {', '.join(wrong)} are not finite numbers; nothing was logged."
        )


def flatten(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested options as (dotted name, value)."""
    for key, value in options.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _open_for_writing(database: Path) -> None:
    """Make the store if it is not there; fail at once where it can't be written."""
    if not database.exists():
        log.info("making the MLflow store %s, once; this takes some seconds", database)
        _make(database)
    _check_writable(database)


def _make(database: Path) -> None:
    """A new store, which takes its place when it is whole: a kill may leave any part of its tables."""
    from mlflow import MlflowClient

    fresh = database.with_name(f"{database.name}.new")
    for left in (fresh, fresh.with_name(f"{fresh.name}-journal")):
        left.unlink(missing_ok=True)
    _check_writable(fresh)
    MlflowClient(f"sqlite:///{fresh}").search_experiments(max_results=1)
    fresh.replace(database)


def _check_writable(database: Path) -> None:
    """Fail at once where the file can't be written, which MLflow would retry for two minutes."""
    import sqlite3

    with closing(sqlite3.connect(database, timeout=SECONDS_FOR_LOCK)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE engram_can_write (x)")  # rolled back as the file is closed


def _as_bytes(content: str | bytes) -> bytes:
    """A file's content, with no secret in its text."""
    return hide_values(content).encode() if isinstance(content, str) else content


def _unread(error: Exception) -> str:
    """Why a text can't be read."""
    if isinstance(error, UnicodeDecodeError):
        return "what is there is no text"
    return str(getattr(error, "strerror", None) or _first_line(error))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
