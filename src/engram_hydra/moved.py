"""A store that was moved or copied with its files: it is made to look for them where they are now."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

SECONDS_FOR_LOCK = 60


def follow_files(database: Path, experiment_id: str, recorded: str, asked: str) -> bool:
    """Put the ``asked`` folder in the place of the ``recorded`` one, both ``file:`` addresses.

    Done for the runs whose files lie in ``asked``, and if there are such, for those to come: then true.
    MLflow has no call for it; its UI reads the same two columns.
    """
    folder = Path(url2pathname(urlsplit(asked).path))
    experiment = int(experiment_id)
    with closing(sqlite3.connect(database, timeout=SECONDS_FOR_LOCK)) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        runs = connection.execute(
            "SELECT run_uuid FROM runs WHERE experiment_id = ? AND instr(artifact_uri, ?) = 1",
            (experiment, f"{recorded}/"),
        )
        here = [run for (run,) in runs if (folder / run).is_dir()]
        connection.executemany(
            "UPDATE runs SET artifact_uri = ? || substr(artifact_uri, ?) WHERE run_uuid = ?",
            [(asked, len(recorded) + 1, run) for run in here],
        )
        if here:
            connection.execute(
                "UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?",
                (asked, experiment),
            )
    return bool(here)
