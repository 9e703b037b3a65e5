"""What a run gives to a method, and what it keeps to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from omegaconf import OmegaConf

from engram_hydra.datasets.dataset import Dataset, Item, Question
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import MethodError
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.runner import _write_and_read
from engram_hydra.tracking import Record

import fake_model
from fake_model import FakeOptions

CFG = OmegaConf.create({"k": 2, "method": {"ties": "oldest"}})
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
    rankings = _write_and_read(CFG, DATA, Meddling(), None, Record("r"))
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
