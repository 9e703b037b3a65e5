"""A spreadsheet shows every text of a CSV, computes none, and still finds the numbers."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.csv_text import to_csv


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("sign", list("=+-@\t\r\n＝＋－＠"))
def test_a_text_that_would_be_a_formula_is_marked_as_text(sign: str) -> None:
    text = f'{sign}HYPERLINK("http://x","y")'
    assert read(to_csv((text,), [{text: text}])) == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize("number", [-0.5, -1, 1e-9, "-0.5", "+3", "-1e-9", "-inf"])
def test_numbers_stay_numbers(number: object) -> None:
    assert float(read(to_csv(("a",), [{"a": number}]))[1][0]) == float(number)  # type: ignore[arg-type]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r")), min_size=1))
def test_all_else_comes_back_as_it_was(texts: list[str]) -> None:
    back = read(to_csv(("a", "b"), [{"a": text, "b": 1} for text in texts]))[1:]
    assert [row[0].removeprefix("'") for row in back] == [text.removeprefix("'") for text in texts]


def test_what_a_row_lacks_is_empty_and_what_is_no_field_is_left_out() -> None:
    assert to_csv(("a", "b"), [{"b": None, "c": 1}, {"a": 2, "b": 3}]) == "a,b\n,\n2,3\n"
