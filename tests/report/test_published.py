"""The published figures are those of the sources, and stand beside the right data sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from engram_hydra.errors import ConfigError
from engram_hydra.report.published import Figure, PublishedTable, beside, load_published

FOLDER = Path(__file__).parents[2] / "conf" / "published"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.fixture(scope="module")
def tables() -> dict[str, PublishedTable]:
    return dict(zip(NAMES, load_published(FOLDER), strict=True))


def test_there_is_a_file_for_each_source(published: Path) -> None:
    assert sorted(path.stem for path in published.glob("*.csv")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_rows_equal_the_source(
    tables: dict[str, PublishedTable], published: Path, name: str
) -> None:
    with (published / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        source = list(csv.DictReader(file))
    assert len(tables[name].rows) == len(source)
    for ours, theirs in zip(tables[name].rows, source, strict=True):
        assert list(ours) == list(theirs)
        for column, cell in theirs.items():
            value = ours[column]
            if isinstance(value, (int, float)):
                assert float(cell) == value, (column, theirs)
            else:
                assert cell == (value or ""), (column, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_every_table_says_what_it_is(tables: dict[str, PublishedTable], name: str) -> None:
    table = tables[name]
    names = {", ".join(row[part] for part in table.label) for row in table.rows}
    assert len(names) == len(table.rows)
    assert set(table.show) <= names
    assert set(table.columns) <= set(table.rows[0])
    assert set(table.setting) == {"reader", "k", "unit_retrieved", "context", "questions"}
    assert all([table.source, table.version, table.table, table.remark, *table.setting.values()])
    for column in table.columns.values():
        assert set(column) == {"datasets", "metric", "unit"}
        assert column["unit"] in {"percent", "fraction"}


def figures(tables: dict[str, PublishedTable], dataset: str) -> list[Figure]:
    return beside(list(tables.values()), dataset)


def test_beside_multi_hop_at_262k(tables: dict[str, PublishedTable]) -> None:
    found = figures(tables, "fc_mh_262k")
    table3 = {f.name: f.value for f in found if f.table is tables["memoryagentbench_table3_v4"]}
    assert table3 == {
        "BM25": 3.0,
        "Text-Embed-3-Small": 3.0,
        "Mem0": 2.0,
        "Cognee": 3.0,
        "MemGPT": 3.0,
    }
    assert {(f.metric, f.unit) for f in found} == {("subem", "percent")}
    page = {f.name: f.value for f in found if f.table is tables["coral_page_rows"]}
    assert page == {"BM25 (ours)": 0.0, "Dense bge-small (ours)": 0.0}  # Coral's were not run


def test_beside_multi_hop_at_6k(tables: dict[str, PublishedTable]) -> None:
    found = figures(tables, "fc_mh_6k")
    assert {f.name: f.value for f in found if f.metric == "answer_in_top_10"} == {
        "Coral (as shipped, seed 0)": 0.43,
        "Coral, no calcification": 0.39,
        "Coral, no feeding": 0.43,
        "BM25 (ours)": 0.27,
        "Dense bge-small (ours)": 0.39,
    }
    assert {f.name: f.value for f in found if f.metric == "subem"} == {
        "GPT-4o": 28.0,
        "o4-mini": 80.0,
    }


def test_nothing_stands_beside_synthetic(tables: dict[str, PublishedTable]) -> None:
    assert figures(tables, "synthetic") == []


def test_longmemeval_rows_carry_the_caveat(tables: dict[str, PublishedTable]) -> None:
    cited = [f for f in figures(tables, "longmemeval_s_pilot") if "Table 9" in f.table.table]
    assert len(cited) == 6
    assert all("LongMemEval_M, not S" in f.table.remark for f in cited)
    assert not {f.metric for f in cited} & {"recall_any_at_5", "ndcg_any_at_10"}


@pytest.mark.parametrize("content", ["source: x", "- a list", "a: [", "source: x\nstray: y"])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.yaml").write_text(content)
    with pytest.raises(ConfigError, match=r"bad\.yaml is no published table"):
        load_published(tmp_path)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No published tables"):
        load_published(tmp_path)
