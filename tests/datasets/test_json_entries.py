"""Entries of a JSON list with where they begin, across chunks, and damage with its byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_hydra.datasets import json_entries
from engram_hydra.datasets.json_entries import entries
from engram_hydra.errors import DataError

BOM = b"\xef\xbb\xbf"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "list.json"
    path.write_bytes(content)
    return path


@pytest.fixture
def tiny_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "_CHUNK", 3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    # A number on the list itself may be cut by a chunk's end and taken for a shorter one, so the
    # entries are what a data set's are: objects.
    values=st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=4),
    ascii_only=st.booleans(),
    space=st.sampled_from(["", " ", "\r\n", "\n\t"]),
    bom=st.sampled_from([b"", BOM]),
)
def test_any_list_comes_out_as_json_loads_it(
    tiny_chunks: None,
    tmp_path: Path,
    values: list[object],
    ascii_only: bool,
    space: str,
    bom: bytes,
) -> None:
    text = json.dumps(values, ensure_ascii=ascii_only, separators=(f"{space},{space}", ":"))
    content = bom + f"{space}{text}{space}".encode()
    found = list(entries(write(tmp_path, content)))
    assert [value for _, value in found] == values
    decoder = json.JSONDecoder()
    for offset, value in found:
        assert decoder.raw_decode(content[offset:].decode())[0] == value


@pytest.mark.parametrize(
    ("content", "byte", "what"),
    [
        (b"", 0, "a list in brackets should follow and nothing does"),
        (BOM, 3, "a list in brackets"),
        (b'{"a": 1}', 0, "a list in brackets"),
        (b'[{"a": 1}', 9, "a comma or the list's end should follow and nothing does"),
        (b'[{"a": 1},', 10, "Expecting value"),
        (b'[{"a": 1},]', 10, "Expecting value"),
        ('[{"ä": 1}, {"b": "cut'.encode(), 18, "Unterminated string"),
        (b'[{"a": 1} {"b": 2}]', 10, "a comma"),
        (b'[{"a": 1}] x', 11, "the file's end should follow and 'x' does"),
        (b'[{"a": 1}]\0', 10, "the file's end"),
        (b'[{"a": tru}]', 7, "Expecting value"),
        ('[{"ä": tru}]'.encode(), 8, "Expecting value"),
        (b'[{"a": "\\x"}]', 8, r"Invalid \\escape"),
        (b'[{"a": "\xff"}]', 8, "no UTF-8"),
        (b'[{"a": "\xc3', 8, "no UTF-8"),
        ('["a"]'.encode("utf-16"), 0, "no UTF-8"),
    ],
)
def test_damage_is_told_with_its_byte(
    tiny_chunks: None, tmp_path: Path, content: bytes, byte: int, what: str
) -> None:
    with pytest.raises(DataError, match=rf"list\.json is .*{what}.* at byte {byte}:"):
        list(entries(write(tmp_path, content)))


def test_entries_before_the_damage_come_out(tmp_path: Path) -> None:
    found = entries(write(tmp_path, b'[{"a": 1}, {"b": 2'))
    assert next(found) == (1, {"a": 1})
    with pytest.raises(DataError):
        next(found)


def test_what_follows_damage_is_not_read(tiny_chunks: None, tmp_path: Path) -> None:
    """Else a damaged file would be held whole: here its end, which is no UTF-8, would be met first."""
    with pytest.raises(DataError, match=r"Expecting ',' delimiter.* at byte 9:"):
        list(entries(write(tmp_path, b'[{"a": 1 "b": 2}' + b" " * 100 + b"\xff]")))


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 200_000])
def test_too_deep(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match="nested too deeply"):
        list(entries(write(tmp_path, b"[" + content)))


def test_a_number_too_long_to_convert(tmp_path: Path) -> None:
    content = b'[{"a": ' + b"9" * 5000 + b"}]"
    try:
        json.loads(content)
    except ValueError:
        with pytest.raises(DataError, match="at byte 1:"):
            list(entries(write(tmp_path, content)))


def test_control_characters_stay(tmp_path: Path) -> None:
    content = b'[{"a": "raw\x01\t\x00", "b": "escaped\\u0001\\t\\u0000"}]'
    assert list(entries(write(tmp_path, content))) == [
        (1, {"a": "raw\x01\t\x00", "b": "escaped\x01\t\x00"})
    ]


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="can't be read"):
        list(entries(tmp_path / name))
