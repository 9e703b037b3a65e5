"""No name leads out of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram_hydra.errors import DataError
from engram_hydra.names import below, is_plain


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "/etc", "a\\b", "a b", ".hidden", "a\n", "${x}", "a,b", "ä"],
)
def test_what_is_no_plain_name(name: str) -> None:
    assert not is_plain(name)


@pytest.mark.parametrize("name", ["fc_sh_6k", "a", "my-set.v2", "0"])
def test_plain_names(name: str) -> None:
    assert is_plain(name)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "link/x", "linked.txt"])
def test_what_leads_out_of_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (inner / "link").symlink_to(tmp_path)
    (inner / "linked.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DataError, match="leads out of"):
        below(inner, name)


def test_a_folder_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert below(tmp_path / "link", "a/b.csv") == (tmp_path / "real" / "a" / "b.csv").resolve()
