"""The file of the statements: what it says of the rest of conf/, its digest, and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from engram_hydra.conf_dir import conf_dir
from engram_hydra.errors import ConfigError
from engram_hydra.report.statements import IDS, load_statements, statements_sha256

CONF = Path(conf_dir())
TEXT = (CONF / "statements.yaml").read_text(encoding="utf-8")


def test_the_committed_file() -> None:
    found = load_statements()
    assert tuple(statement.id for statement in found.statements) == IDS
    assert found.family == ["H1", "H2", "H3a", "H3b"]
    assert found.margin_share == 0.05
    datasets = {file.stem for file in (CONF / "dataset").glob("*.yaml")}
    places = [found.primary, *found.secondary, *found.with_model_reader]
    assert {place.dataset for place in places} | set(found.sets) <= datasets
    # Synthetic data and the sample of twelve decide nothing.
    assert set(found.sets) == datasets - {"synthetic", "longmemeval_sample"}


def test_the_words_name_the_numbers_that_decide() -> None:
    found = load_statements()
    by_id = {statement.id: statement for statement in found.statements}
    assert f"p < {found.alpha:.2f}".replace("0.", ".") in by_id["H1"].supported
    assert f"high < {found.margin:.0f}" in by_id["H1"].refuted
    assert f"{found.equivalence_confidence:.0f}% interval" in by_id["H3b"].supported
    assert f"{found.confidence:.0f}% interval" in by_id["M2"].refuted


def test_the_curve_of_tide_is_that_of_the_declared_variants() -> None:
    for w, variant in load_statements().tide_curve.items():
        file = f"variant/{variant}.yaml" if variant else "method/tide.yaml"
        content = OmegaConf.load(CONF / file)
        assert OmegaConf.select(content, "method.w" if variant else "w") == w


def test_any_change_of_the_file_changes_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "statements.yaml"
    file.write_text(TEXT, encoding="utf-8")
    assert statements_sha256(file) == statements_sha256()
    file.write_text(TEXT.replace("margin: 5 ", "margin: 6 "), encoding="utf-8")
    assert statements_sha256(file) != statements_sha256()
    assert load_statements(file).margin_share == 0.06


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("alpha: 0.05", "alpha: often", "does not hold the statements"),
        ("alpha: 0.05", "alpha: 1.5", "alpha=1.5 is no level"),
        ("alpha: 0.05", "", "does not hold the statements.*alpha"),
        ("alpha: 0.05", "alpha: 0.05\nbeta: 0.2", "does not hold the statements.*beta"),
        ("alpha: 0.05", "alpha: [", "does not hold the statements"),
        ("margin: 5 ", "margin: 0 ", "margin=0.0 is no margin"),
        ("confidence: 95 ", "confidence: 100 ", "confidence=100.0 is no confidence"),
        ("[H1, H2, H3a, H3b]", "[H1, H2, H3a, H3b, M3]", "family must be H1, H2, H3a, H3b"),
        ("metric: recall_any_at_5", "metric: luck", "luck is in no table"),
        ("- id: M4", "- id: M5", "M3, M5, so give H1, "),
        ('0.2: ""', "0.2: tide_w_0.20", "lacks Tide as shipped"),
    ],
)
def test_a_bad_file_is_told_in_a_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    file = tmp_path / "statements.yaml"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_statements(file)


def test_a_missing_file(tmp_path: Path) -> None:
    for read in (load_statements, statements_sha256):
        with pytest.raises(ConfigError, match="restore it"):
            read(tmp_path / "statements.yaml")
