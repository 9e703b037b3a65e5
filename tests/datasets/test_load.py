"""Loading a data set: what is refused before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram_hydra.datasets.load import load_dataset
from engram_hydra.errors import DataError


def test_a_data_folder_that_does_not_exist_is_told(compose, tmp_path: Path) -> None:
    options = compose("dataset=fc_sh_6k").dataset
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(
            DataError, match=r"does not exist: set ENGRAM_DATA or paths\.data"
        ) as told:
            load_dataset(options, str(folder))
        assert str(folder) in str(told.value)


def test_generated_data_need_no_folder(compose, tmp_path: Path) -> None:
    options = compose("dataset.facts=60", "dataset.single_hop=10", "dataset.two_hop=5").dataset
    assert load_dataset(options, None) == load_dataset(options, str(tmp_path / "nowhere"))


def test_a_set_without_questions_says_what_to_do(compose, tmp_path: Path) -> None:
    none_asked = compose("dataset.single_hop=0", "dataset.two_hop=0").dataset
    with pytest.raises(DataError, match=r"set dataset\.single_hop or dataset\.two_hop above 0"):
        load_dataset(none_asked, None)
    file = tmp_path / "empty.json"
    file.write_text("[]")
    empty = compose("dataset=longmemeval_sample", f"dataset.path={file}").dataset
    with pytest.raises(DataError, match=r"empty\.json holds none, so put a whole one"):
        load_dataset(empty, None)
