"""FactConsolidation: rows of invented facts in both forms, and the real ones against golden files."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_hydra.datasets.dataset import Dataset
from engram_hydra.datasets.factconsolidation import load
from engram_hydra.datasets.files import PinnedFile, locate
from engram_hydra.errors import ConfigError, DataError

from hub_server import HubRepo, HubServer, environment

FACTS = [
    "The capital of Omra is Bel.",
    "Ilve is married to Orm\u2028the Elder.",  # a line ends at \n and nowhere else
    "  The capital of Omra is Tarn.",
    "The capital of Omra is Tarn.",
    "Salt was created by Ilve.",
]


def make_row(hops: str, length: str) -> dict[str, Any]:
    source = f"factconsolidation_{hops}_{length}"
    lines = ["Some facts:", *(f"{n}. {fact}" for n, fact in enumerate(FACTS))]
    return {
        "context": "\n".join(lines) + "\n",
        "questions": ["What is the capital of Omra?", "Who created Salt?", "Who is Orm?"],
        "answers": [["Tarn"], ["Ilve", "Ilve Tarn"], ["nobody"]],
        "metadata": {
            "demo": None,
            "qa_pair_ids": [f"{source}_no{n}" for n in range(3)],
            "source": source,
        },
    }


def make_rows() -> list[dict[str, Any]]:
    return [make_row("mh", "1k"), make_row("sh", "1k")]


def pinned(path: Path) -> PinnedFile:
    return PinnedFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def as_json(rows: object, folder: Path) -> PinnedFile:
    path = folder / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return pinned(path)


def as_parquet(rows: list[dict[str, Any]], folder: Path) -> PinnedFile:
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return pinned(path)


FORMS = pytest.mark.parametrize("write", [as_json, as_parquet])
Write = Callable[[Any, Path], PinnedFile]


def read(folder: Path, *files: PinnedFile, **changes: Any) -> Dataset:
    arguments = {"name": "facts", "source": "factconsolidation_sh_1k", "serial": "keep"}
    return load(**(arguments | {"file": locate(folder, *files)} | changes))


@FORMS
def test_a_row_becomes_items_and_questions(tmp_path: Path, write: Write) -> None:
    data = read(tmp_path, write(make_rows(), tmp_path))
    assert [item.text for item in data.items] == [f"{n}. {fact}" for n, fact in enumerate(FACTS)]
    assert [item.id for item in data.items] == [f"fact_{n}" for n in range(5)]
    assert [item.position for item in data.items] == list(range(5))
    assert [question.id[-7:] for question in data.questions] == ["_1k_no0", "_1k_no1", "_1k_no2"]
    assert data.questions[1].answers == ("Ilve", "Ilve Tarn")
    assert {question.kind for question in data.questions} == {"single_hop"}
    # Fact 2 begins with white space, so it falls to a catch-all: another slot.
    assert [(q.current, q.stale) for q in data.questions] == [(3, (0,)), (4, ()), (None, ())]
    assert data.histories[0].superseded_by == ((0, 3),)
    assert data.name == "facts"
    assert "factconsolidation_sh_1k" in data.source


def test_multi_hop_questions_have_no_slot(tmp_path: Path) -> None:
    data = read(tmp_path, as_json(make_rows(), tmp_path), source="factconsolidation_mh_1k")
    assert {(q.kind, q.current, q.stale) for q in data.questions} == {("multi_hop", None, ())}
    assert data.histories[0].superseded_by == ((0, 3),)


def test_without_serial_numbers_all_else_is_the_same(tmp_path: Path) -> None:
    file = as_json(make_rows(), tmp_path)
    keep, strip = read(tmp_path, file), read(tmp_path, file, serial="strip")
    assert [item.text for item in strip.items] == FACTS
    assert [item.id for item in strip.items] == [item.id for item in keep.items]
    assert strip.questions == keep.questions
    assert strip.histories[0].superseded_by == keep.histories[0].superseded_by
    assert strip.sha256 != keep.sha256


def test_both_forms_have_one_identity(tmp_path: Path) -> None:
    rows = make_rows()
    forms = read(tmp_path, as_json(rows, tmp_path)), read(tmp_path, as_parquet(rows, tmp_path))
    assert forms[0].sha256 == forms[1].sha256
    assert (forms[0].items, forms[0].questions) == (forms[1].items, forms[1].questions)
    rows[1]["answers"][1] = ["Orm"]
    assert read(tmp_path, as_json(rows, tmp_path)).sha256 != forms[0].sha256


def change(field: str, value: object) -> Callable[[dict[str, Any]], None]:
    def apply(row: dict[str, Any]) -> None:
        *path, last = field.split(".")
        for key in path:
            row = row[key]
        row[last] = value

    return apply


def without(field: str) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.pop(field)


HEAD = "Some facts:\n"
MALFORMED = [
    (without("context"), "context: it is missing"),
    (change("context", 3), "context: it is int"),
    (change("context", "0. Omra is Bel.\n"), "context: it should be a heading"),
    (change("context", HEAD), "context: it should be a heading"),
    (change("context", f"{HEAD}Omra is Bel.\n"), "context: line 1 should be '0. fact'"),
    (change("context", f"{HEAD}1. Omra is Bel.\n"), "context: line 1 should be '0. fact'"),
    (change("context", f"{HEAD}0. A is B.\n2. C is D.\n1. E is F.\n"), "context: line 2 should be"),
    (change("context", f"{HEAD}0. A is B.\n0. C is D.\n"), "context: line 2 should be '1. fact'"),
    (change("context", f"{HEAD}0. A is B.\n\n1. C is D.\n"), "context: line 2 should be '1. fact'"),
    (change("context", f"{HEAD}0. A is B.\n1. \n"), "context: line 2 should be '1. fact'"),
    (change("context", f"{HEAD}0. A is B.\n1. C sings.\n"), "context: no known .* fits fact 1"),
    (without("questions"), "questions: it is missing"),
    (change("questions", "Who created Salt?"), "questions: it is str"),
    (change("questions", ["Who?", "", "What?"]), "questions: entry 1"),
    (change("questions", [1, 2, 3]), "questions: entry 0 is int"),
    (change("questions", ["Who?", "What?"]), "answers: it has 3 entries for 2 questions"),
    (change("questions", []), "questions: it is empty"),
    (without("answers"), "answers: it is missing"),
    (change("answers", [["a1"], ["b1"]]), "answers: it has 2 entries for 3 questions"),
    (change("answers", [["a1"], [], ["c1"]]), "answers: entry 1"),
    (change("answers", [["a1"], ["b1"], ["The!"]]), "answers: entry 2"),
    (change("answers", ["a1", "b1", "c1"]), "answers: entry 0"),
    (change("answers", [[1], [2], [3]]), "answers: entry 0"),
    (change("metadata.qa_pair_ids", None), "metadata.qa_pair_ids: it is missing"),
    (change("metadata.qa_pair_ids", ["a", "b"]), "metadata.qa_pair_ids: it should be 3"),
    (change("metadata.qa_pair_ids", ["a", "b", "a"]), "metadata.qa_pair_ids: it should be 3"),
    (without("metadata"), "metadata.source: it is missing"),
    (change("metadata", [1]), "metadata.source: it is missing"),
    (change("metadata.source", 7), "metadata.source: it is int"),
]


@FORMS
@pytest.mark.parametrize(("damage", "what"), MALFORMED)
def test_a_malformed_row_is_named_with_its_field(
    tmp_path: Path, write: Write, damage: Callable[[dict[str, Any]], None], what: str
) -> None:
    row = make_row("sh", "1k")
    damage(row)
    with pytest.raises(DataError, match=f"row 0, field {what}"):
        read(tmp_path, write([row], tmp_path))


def test_a_row_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"0 rows .*_sh_9k.*_mh_1k, factconsolidation_sh_1k"):
        read(tmp_path, as_json(make_rows(), tmp_path), source="factconsolidation_sh_9k")


def test_a_row_that_is_there_twice(tmp_path: Path) -> None:
    rows = [make_row("sh", "1k"), *make_rows()]
    with pytest.raises(DataError, match="2 rows"):
        read(tmp_path, as_json(rows, tmp_path))


def test_a_source_of_neither_kind(tmp_path: Path) -> None:
    row = make_row("xh", "1k")
    with pytest.raises(DataError, match=r"row 0, field metadata\.source"):
        read(tmp_path, as_json([row], tmp_path), source="factconsolidation_xh_1k")


@pytest.mark.parametrize("name", ["rows.json", "rows.parquet"])
@pytest.mark.parametrize("content", [b"", b"{", b"PAR1 and no more", b'{"a": 1}', b"\xff"])
def test_a_pinned_file_that_is_no_table(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read(tmp_path, pinned(tmp_path / name))


def test_a_pinned_parquet_with_damaged_pages(tmp_path: Path) -> None:
    path = tmp_path / as_parquet(make_rows(), tmp_path).local
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 40 + content[44:])
    with pytest.raises(DataError, match="can't be parsed"):
        read(tmp_path, pinned(path))


def test_a_wrong_hash_is_told_before_parsing(tmp_path: Path) -> None:
    file = as_json(make_rows(), tmp_path)
    (tmp_path / file.local).write_text("no JSON at all", encoding="utf-8")
    with pytest.raises(DataError, match="SHA-256"):
        read(tmp_path, file)


def test_serial_has_two_values(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="keep or strip"):
        read(tmp_path, as_json(make_rows(), tmp_path), serial="stirp")


# --- Downloading the parquet form, in a process of its own. ---

CHILD = """
import sys, time
from pathlib import Path
from engram_hydra.datasets.factconsolidation import load
from engram_hydra.datasets.files import HubAddress, PinnedFile, locate
from engram_hydra.errors import DataError
time.sleep = lambda seconds: None  # the client waits between its retries; the tests need not
folder, sha256, *address = sys.argv[1:]
files = [PinnedFile("facts/rows.parquet", sha256, HubAddress(*address)),
         PinnedFile("facts/rows.json", "0" * 64)]
try:
    data = load(name="facts", source="factconsolidation_sh_1k", serial="keep",
                file=locate(Path(folder), *files))
    print(data.sha256)
except DataError as error:
    sys.exit(f"DataError: {error}")
"""
ADDRESS = ("harbour/facts", "fedcba9876543210fedcba9876543210fedcba98", "data/rows.parquet")


def load_from(hub: HubServer, home: Path, sha256: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(home / "data"), sha256, *ADDRESS],
        env=environment(hub.url, home / "hub"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_parquet_form_comes_from_the_hub(tmp_path: Path) -> None:
    file = as_parquet(make_rows(), tmp_path)
    repo = HubRepo("dataset", *ADDRESS[:2], {ADDRESS[2]: tmp_path / file.local})
    with HubServer(repo) as hub:
        hub.fault = "wrong_bytes"
        wrong = load_from(hub, tmp_path / "a", file.sha256)
        assert wrong.returncode == 1
        assert f"where {file.sha256} is pinned" in wrong.stderr
        hub.fault = "none"
        done = load_from(hub, tmp_path / "b", file.sha256)
        assert done.stdout.strip() == read(tmp_path, file).sha256, done.stderr


def test_a_hub_without_the_file(tmp_path: Path) -> None:
    with HubServer(HubRepo("dataset", *ADDRESS[:2], {})) as hub:
        done = load_from(hub, tmp_path, "0" * 64)
    assert done.returncode == 1
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("DataError: ")]
    folder = tmp_path / "data" / "facts"
    for part in (*ADDRESS, "404", str(folder / "rows.parquet"), str(folder / "rows.json")):
        assert part in sentence


# --- The real rows. ---

REAL = PinnedFile(
    "memoryagentbench/Conflict_Resolution.json",
    "d5168e94cba99744e35031c1e6419e6090d63978f5addc9163d56704a78c7acd",
)
SIZES = {"6k": (455, 294), "32k": (2310, 1473), "64k": (4580, 2889), "262k": (18332, 11096)}


@pytest.mark.parametrize("length", SIZES)
@pytest.mark.parametrize("serial", ["keep", "strip"])
def test_conflicts_are_the_golden_ones(
    engram_data: Path, golden: Path, length: str, serial: str
) -> None:
    expected = json.loads((golden / "fc_conflicts.json").read_bytes())[length]
    sources = [f"factconsolidation_{hops}_{length}" for hops in ("sh", "mh")]
    single, multi = (read(engram_data, REAL, source=source, serial=serial) for source in sources)
    facts, slots = SIZES[length]
    assert len(single.items) == facts
    # A slot has one or two facts, so the others are the newest of their slots.
    assert facts - len(single.histories[0].superseded_by) == slots
    assert [list(pair) for pair in single.histories[0].superseded_by] == expected["superseded_by"]
    found = [
        None if q.current is None else {"current": q.current, "stale": list(q.stale)}
        for q in single.questions
    ]
    assert found == expected["single_hop_questions"]
    assert multi.items == single.items
    assert multi.histories[0].superseded_by == single.histories[0].superseded_by
    assert {(q.kind, q.current, q.stale) for q in multi.questions} == {("multi_hop", None, ())}
    assert len(multi.questions) == len(single.questions) == 100


def test_item_texts_are_the_lines_as_they_stand(engram_data: Path) -> None:
    rows = json.loads((engram_data / REAL.local).read_bytes())
    for row in rows:
        data = read(engram_data, REAL, source=row["metadata"]["source"])
        lines = row["context"].split("\n")
        assert [item.text for item in data.items] == lines[1:-1]
        assert [list(question.answers) for question in data.questions] == row["answers"]


@pytest.mark.slow
def test_the_longest_row_loads_in_a_second_and_a_half(engram_data: Path) -> None:
    started = time.perf_counter()
    read(engram_data, REAL, source="factconsolidation_sh_262k")
    assert time.perf_counter() - started < 1.5
