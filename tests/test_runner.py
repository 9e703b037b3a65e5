"""What a run does around its trials: data, answers, costs, and the look inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import ConfigError
from engram_hydra.readers.reader import Reader
from engram_hydra.runner import _answers, _costs, _data, _look_inside, _prepare, run
from engram_hydra.scoring import Ranking
from engram_hydra.self_report import SelfReport
from engram_hydra.tracking import Record, Store
from engram_hydra.trial import Trial

ITEMS = tuple(Item(f"i{n}", n, f"Ada lives in Place{n}.") for n in range(4))
QUESTIONS = tuple(Question(f"q{n}", f"Where lives {n}?", ("Place3",), "x") for n in range(3))
HISTORY = History("tiny", ITEMS, QUESTIONS)
DATA = Dataset("tiny", (HISTORY,), "ab" * 32, "made up")
SILENT = SelfReport(None, {}, None, {}, {})


def test_all_texts_are_embedded_before_the_run_begins(tmp_path, monkeypatch, compose) -> None:
    warmed: list[str] = []
    monkeypatch.setattr(Embedder, "warm", lambda self, texts: warmed.extend(texts))
    _prepare(compose("method=bm25"), DATA)
    assert warmed == []
    _prepare(compose("method=dense", f"paths.cache={tmp_path}"), DATA)
    assert warmed == DATA.texts


def test_an_exploratory_run_is_told_before_what_takes_long(monkeypatch, compose, caplog) -> None:
    def stop(*_):
        raise RuntimeError("the data are loaded")

    monkeypatch.setattr("engram_hydra.runner.identity_tags", lambda *_: {})
    monkeypatch.setattr("engram_hydra.runner._data", stop)
    caplog.set_level("INFO", logger="engram_hydra")
    for overrides, told in (([], False), (["method.w=0.3"], True)):
        caplog.clear()
        with pytest.raises(RuntimeError, match="loaded"):
            run(compose("method=tide", *overrides))
        assert ("exploratory, so in no table: " in caplog.text) == told
    assert "method.w" in caplog.text


# Answers


class Echo(Reader):
    """Answers with its seed and its context."""

    def answers(self, questions, contexts, seed):
        asked = zip(questions, contexts, strict=True)
        return [f"{seed} {question} {' '.join(context)}" for question, context in asked]


class Moody(Echo):
    stochastic = True


def test_every_question_is_answered_from_its_own_context_oldest_first() -> None:
    def history(name: str) -> History:
        items = tuple(Item(f"{name}{n}", n, f"{name}{n}") for n in range(4))
        return History(name, items, (Question(name, f"{name}?", ("x",), "k"),))

    data = Dataset("two", (history("a"), history("b")), "ab" * 32, "here")
    rankings = [Ranking([3, 0, 2], [3.0, 2.0, 1.0]), Ranking([1, 0], [1.0, 0.5])]
    assert _answers(Echo(), data, rankings, [4, 5]) == [["4 a? a0 a2 a3"], ["4 b? b0 b1"]]
    assert _answers(Moody(), data, rankings, [4, 5]) == [
        ["4 a? a0 a2 a3", "5 a? a0 a2 a3"],
        ["4 b? b0 b1", "5 b? b0 b1"],
    ]
    assert _answers(None, data, rankings, [4]) == [[], []]


def test_costs_of_several_memories_stand_together() -> None:
    trials = [
        Trial([], SILENT, write_seconds=0.5, read_seconds=0.03, truncated=1, index_recall=[]),
        Trial([], SILENT, write_seconds=0.25, read_seconds=0.06, truncated=2, index_recall=[]),
    ]
    costs = _costs(trials, None, DATA)
    assert costs["write_seconds"] == 0.75
    assert costs["read_ms_per_query"] == pytest.approx(30)
    assert costs["truncated_fraction"] == 0.75
    without = [replace(trial, truncated=None) for trial in trials]
    assert "truncated_fraction" not in _costs(without, None, DATA)


# A look inside


def report(displacements: Sequence[tuple[int, int]] | None) -> SelfReport:
    found = None if displacements is None else set(displacements)
    return SelfReport(["decay"], {"reads": 1.0}, found, {}, {})


def knowing(*conflicts: tuple[int, int]) -> Dataset:
    return replace(DATA, histories=(replace(HISTORY, superseded_by=conflicts),))


@pytest.fixture
def shown(monkeypatch) -> SimpleNamespace:
    """What the look inside is given, in place of plots."""
    seen = SimpleNamespace(immune=[], files=[])

    def immune_metrics(found, known):
        seen.immune.append((set(found), set(known)))
        return {"immune_precision": 0.25}

    def inside_files(*given):
        seen.files.append(given)
        return {"inside/plot.png": b"\x89PNG"}

    monkeypatch.setattr("engram_hydra.runner.immune_metrics", immune_metrics)
    monkeypatch.setattr("engram_hydra.runner.inside_files", inside_files)
    return seen


def test_displacements_are_held_against_the_known_conflicts(shown) -> None:
    record = Record("r")
    _look_inside("name", knowing((0, 2), (1, 2)), report([(0, 1), (1, 2), (2, 3)]), record)
    assert shown.immune == [({(0, 1), (1, 2), (2, 3)}, {(0, 2), (1, 2)})]
    assert shown.files == [("name", {"reads": 1.0}, {}, {}, {"immune_precision": 0.25}, ["decay"])]
    assert record.metrics["immune_precision"] == 0.25
    assert record.metrics["memory_reads"] == 1
    assert record.tags["engram.inert"] == "decay"
    assert record.files == {"inside/plot.png": b"\x89PNG"}


@pytest.mark.parametrize(
    ("found", "known"), [([(0, 1)], ()), (None, ((0, 2),))], ids=["unknown", "silent"]
)
def test_no_share_is_taken_where_there_is_none(shown, found, known) -> None:
    record = Record("r")
    _look_inside("name", knowing(*known), report(found), record)
    assert shown.immune == []
    assert "immune_precision" not in record.metrics


def test_pictures_are_files_of_a_run_too() -> None:
    logged = {}

    def log_artifact(run_id, local, place):
        logged[run_id, place, Path(local).name] = Path(local).read_bytes()

    store = Store.__new__(Store)
    store.client = SimpleNamespace(log_artifact=log_artifact)
    for file, content in {"a/b/c.png": b"\x89PNG\r\n", "d.png": b""}.items():
        store._log_file("r", file, content)
    assert logged == {
        ("r", "a/b", "c.png"): b"\x89PNG\r\n",
        ("r", None, "d.png"): b"",
    }


# Oracles


def test_an_oracle_needs_known_conflicts(compose) -> None:
    none = "dataset.conflict_rate=0"
    with pytest.raises(ConfigError) as refused:
        _data(compose("method=oracle_immune", none))
    assert str(refused.value).startswith(
        "method=oracle_immune is told the known conflicts, and dataset=synthetic has none"
    )
    assert _data(compose("method=oracle_immune")).histories[0].superseded_by
    assert not _data(compose("method=coral", none)).histories[0].superseded_by
