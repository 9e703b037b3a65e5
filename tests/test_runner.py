"""What a run gives to a method, and what it keeps to itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from engram_hydra.datasets.dataset import Dataset, Item, Question
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import ConfigError, MethodError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.index import ExactIndex
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.runner import _data, _index_recall, _look_inside, _write_and_read
from engram_hydra.scoring import Ranking, score
from engram_hydra.tracking import Record, Store

import fake_model
from fake_model import FakeOptions

CFG = OmegaConf.create(
    {"k": 2, "method": {"ties": "oldest"}, "audit": {"pool": None, "order": "own_score"}}
)
ITEMS = tuple(Item(f"i{n}", n, f"Ada lives in Place{n}.") for n in range(4))
QUESTIONS = tuple(Question(f"q{n}", f"Where lives {n}?", ("Place3",), "x") for n in range(3))
DATA = Dataset("tiny", ITEMS, QUESTIONS, (), "ab" * 32, "made up")


class InOrder(Memory):
    """Ranks the items as they came."""

    def write(self, items: Sequence[Item]) -> None:
        self.items = list(items)

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [[Hit(item.id, -float(n)) for n, item in enumerate(self.items[:k])] for _ in queries]


class Meddling(InOrder):
    """Changes all it is given, in place, so as to be judged by its own items and questions."""

    def write(self, items):
        super().write([replace(item) for item in items])
        for n, item in enumerate(items):
            for name, value in (("id", f"mine{n}"), ("position", 0), ("text", "Place3")):
                object.__setattr__(item, name, value)
        items.clear()

    def read(self, queries, k):
        answered = super().read(queries, k)
        queries[:] = ["another question"] * len(queries)
        return answered


def test_what_a_method_does_to_its_items_and_queries_stays_its_own(monkeypatch) -> None:
    audited = []
    monkeypatch.setattr(
        "engram_hydra.runner.audit_reads", lambda hits, memory, queries, n: audited.extend(queries)
    )
    rankings, _ = _write_and_read(CFG, DATA, Meddling(), None, Record("r"))
    assert [[item.id for item in ranking.items] for ranking in rankings] == [["i0", "i1"]] * 3
    assert audited == [question.text for question in QUESTIONS]


def test_a_method_that_forges_ids_is_found_out() -> None:
    class Forging(InOrder):
        def write(self, items):
            for n, item in enumerate(items):
                object.__setattr__(item, "id", f"i{n}")
            super().write(items)

    with pytest.raises(MethodError, match="the id 'i0' was never written"):
        _write_and_read(CFG, DATA, Forging(), None, Record("r"))


def test_no_question_is_embedded_before_all_items_are_written(tmp_path, monkeypatch) -> None:
    """What embeds keeps all it has seen, which a memory could look into."""
    asked: list[str] = []

    def encode(self, texts):
        asked.extend(texts)
        yield from fake_model.encode(texts)

    monkeypatch.setattr(Embedder, "_encode", encode)
    embedder = Embedder(FakeOptions(path=None), tmp_path)

    class Peeking(InOrder):
        seen: tuple[str, ...] = ()

        def write(self, items):
            embedder([item.text for item in items])
            self.seen = (*asked, *embedder._known)
            super().write(items)

        def read(self, queries, k):
            self.before_read = set(embedder._known)
            return super().read(queries, k)

    memory = Peeking()
    _write_and_read(CFG, DATA, memory, embedder, Record("r"))
    questions = {question.text for question in QUESTIONS}
    assert set(memory.seen) == {item.text for item in ITEMS}
    assert questions <= memory.before_read  # so that their embedding is not timed


def test_the_embedder_is_given_no_question(tmp_path, monkeypatch, compose) -> None:
    from engram_hydra.runner import _embedder

    warmed: list[str] = []
    monkeypatch.setattr(Embedder, "warm", lambda self, texts: warmed.extend(texts))
    assert _embedder(compose("method=dense", f"paths.cache={tmp_path}"), DATA)
    assert warmed == [item.text for item in ITEMS]
    assert _embedder(compose("method=bm25"), DATA) is None


# The audit


def audited(order: str, pool: int | None, memory: Memory, k: int = 2) -> list[list[str]]:
    audit = OmegaConf.create({"k": k, "audit": {"pool": pool, "order": order}})
    cfg = OmegaConf.merge(CFG, audit)
    rankings, _ = _write_and_read(cfg, DATA, memory, None, Record("r"))
    return [[item.id for item in ranking.items] for ranking in rankings]


def test_an_audit_reads_a_pool_and_cuts_it_to_k() -> None:
    class Asked(InOrder):
        def read(self, queries, k):
            self.ks = [*getattr(self, "ks", []), k]
            return super().read(queries, k)

    plain, pooled = Asked(), Asked()
    assert audited("own_score", None, plain) == [["i0", "i1"]] * 3
    assert audited("own_score", 3, pooled) == [["i0", "i1"]] * 3
    assert (plain.ks[0], pooled.ks[0]) == (2, 3)
    assert audited("newest", 3, Asked()) == [["i2", "i1"]] * 3  # i3 is not in the pool
    assert audited("newest", 30, Asked()) == [["i3", "i2"]] * 3


def test_an_audited_method_returns_no_more_than_its_pool() -> None:
    class Greedy(InOrder):
        def read(self, queries, k):
            return super().read(queries, k + 1)

    with pytest.raises(MethodError, match="4 items where at most k = 3 are allowed"):
        audited("own_score", 3, Greedy())


# A look inside


class Superseding(InOrder):
    """Takes each item for the successor of the one before; counts how often it was read."""

    reads = 0

    def read(self, queries, k):
        self.reads += 1
        return super().read(queries, k)

    def counters(self):
        return {"reads": self.reads}

    def inert(self):
        return ["decay"] if not self.reads else []

    def displacements(self):
        return [(old.id, new.id) for old, new in pairwise(self.items)]


def test_what_a_memory_says_is_asked_for_at_its_time_and_translated() -> None:
    _, report = _write_and_read(CFG, DATA, Superseding(), None, Record("r"))
    assert report.inert == ["decay"]  # before the scored read
    assert report.counters == {"reads": 1.0}  # after it, and before it is held to the rules
    assert report.displacements == {(0, 1), (1, 2), (2, 3)}


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
    data, record = replace(DATA, superseded_by=((0, 2), (1, 2))), Record("r")
    _, report = _write_and_read(CFG, data, Superseding(), None, record)
    _look_inside("name", data, report, record)
    assert shown.immune == [({(0, 1), (1, 2), (2, 3)}, {(0, 2), (1, 2)})]
    assert shown.files == [("name", {"reads": 1.0}, {}, {}, {"immune_precision": 0.25}, ["decay"])]
    assert record.metrics["immune_precision"] == 0.25
    assert record.metrics["memory_reads"] == 1
    assert record.tags["engram.inert"] == "decay"
    assert record.files == {"inside/plot.png": b"\x89PNG"}


@pytest.mark.parametrize(
    ("memory", "known"), [(Superseding(), ()), (InOrder(), ((0, 2),))], ids=["unknown", "silent"]
)
def test_no_share_is_taken_where_there_is_none(shown, memory, known) -> None:
    data, record = replace(DATA, superseded_by=known), Record("r")
    _, report = _write_and_read(CFG, data, memory, None, record)
    _look_inside("name", data, report, record)
    assert shown.immune == []
    assert "immune_precision" not in record.metrics


def test_pictures_are_files_of_a_run_too() -> None:
    logged = {}

    def log_artifact(run_id, local, place):
        logged[run_id, place, Path(local).name] = Path(local).read_bytes()

    store = Store.__new__(Store)
    store.client = SimpleNamespace(
        log_artifact=log_artifact,
        log_text=lambda run_id, text, file: logged.update({(run_id, file): text}),
    )
    for file, content in {"a/b/c.png": b"\x89PNG\r\n", "d.png": b"", "a/e.csv": "ä,\n"}.items():
        store._log_file("r", file, content)
    assert logged == {
        ("r", "a/b", "c.png"): b"\x89PNG\r\n",
        ("r", None, "d.png"): b"",
        ("r", "a/e.csv"): "ä,\n",
    }


# Oracles and indices


def test_an_oracle_needs_known_conflicts(compose) -> None:
    none = "dataset.conflict_rate=0"
    with pytest.raises(ConfigError) as refused:
        _data(compose("method=oracle_immune", none))
    assert str(refused.value).startswith(
        "method=oracle_immune is told the known conflicts, and dataset=synthetic has none"
    )
    assert _data(compose("method=oracle_immune")).superseded_by
    assert not _data(compose("method=coral", none)).superseded_by


def test_recall_of_an_approximate_index_is_taken_for_each_question(compose) -> None:
    class Missing(Dense):
        def index_recall(self, queries, k):
            return [len(query) / 100 + k for query in queries]

    memory = Missing(ties="oldest", embed=lambda texts: None, index=ExactIndex())
    graph = compose("method=dense", "index=hnsw", "k=5")
    lengths = [len(question.text) for question in QUESTIONS]
    assert _index_recall(graph, DATA, memory) == {
        "index_recall_at_5": [length / 100 + 5 for length in lengths]
    }
    assert _index_recall(compose("method=dense"), DATA, memory) == {}  # exact: nothing is missed
    assert _index_recall(graph, DATA, InOrder()) == {}


def test_further_metrics_of_questions_are_summarised_like_any() -> None:
    rankings = [Ranking(list(ITEMS[:2]), [2.0, 1.0]) for _ in QUESTIONS]
    more = {"index_recall_at_2": [1.0, 0.5, 0.75]}
    scored = score(DATA, rankings, k=2, reader="none", tag="t", more=more)
    assert scored.metrics["index_recall_at_2"] == pytest.approx(0.75)
    assert scored.metrics["index_recall_at_2_n"] == 3
    assert 0.5 <= scored.metrics["index_recall_at_2_ci_low"] < 0.75
    rows = [json.loads(line) for line in scored.files["per_question.jsonl"].splitlines()]
    assert [row["metrics"]["index_recall_at_2"] for row in rows] == [1.0, 0.5, 0.75]
    with pytest.raises(ValueError, match="zip"):
        score(DATA, rankings, k=2, reader="none", tag="t", more={"too_few": [1.0]})
