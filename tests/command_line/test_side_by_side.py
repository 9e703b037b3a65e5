"""Many processes on one store and one cache, both of which are not there yet."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from workspace import SMALL, Workspace


@pytest.mark.slow
def test_processes_that_make_the_store_together_lose_nothing(tmp_path):
    workspace = Workspace(tmp_path, tmp_path / "cache")
    under_way = [workspace.start("method=dense", *SMALL, f"k={k}") for k in range(1, 9)]
    said = [process.communicate(timeout=400) for process in under_way]
    assert [process.returncode for process in under_way] == [0] * 8, said
    assert sorted(run.data.tags["engram.k"] for run in workspace.runs(complete="true")) == [
        *"12345678"
    ]
    assert len(workspace.runs()) == 8
    (file,) = workspace.cache.rglob("*.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        ((kept,),) = connection.execute("SELECT COUNT(*) FROM vectors").fetchall()
    embedded = [int(n) for out, _ in said for n in re.findall(r"embedding: (\d+) texts in", out)]
    assert sum(embedded) == kept, "each text is embedded once"
