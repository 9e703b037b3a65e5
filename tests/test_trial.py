"""What a trial gives to a memory, and what it keeps to itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from omegaconf import OmegaConf

from engram_hydra.datasets.dataset import History, Item, Question
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import MethodError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.index import ExactIndex
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.memories.random import Random
from engram_hydra.trial import Trial, _index_recall, attempt, new_embedder, new_memory

import fake_model
from fake_model import FakeOptions

CFG = OmegaConf.create(
    {"k": 2, "method": {"ties": "oldest"}, "audit": {"pool": None, "order": "own_score"}}
)
ITEMS = tuple(Item(f"i{n}", n, f"Ada lives in Place{n}.") for n in range(4))
QUESTIONS = tuple(Question(f"q{n}", f"Where lives {n}?", ("Place3",), "x") for n in range(3))
HISTORY = History("tiny", ITEMS, QUESTIONS)

Try = Callable[..., Trial]


@pytest.fixture
def attempted(monkeypatch: pytest.MonkeyPatch) -> Try:
    """A trial of a memory that is given, exact whatever it is."""

    def of(
        memory: Memory, cfg: Any = CFG, history: History = HISTORY, embedder: Any = None
    ) -> Trial:
        monkeypatch.setattr("engram_hydra.trial.new_memory", lambda *given: memory)
        monkeypatch.setattr("engram_hydra.trial.is_approximate", lambda cfg: False)
        return attempt(cfg, history, "salt", embedder)

    return of


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


def test_what_a_method_does_to_its_items_and_queries_stays_its_own(attempted, monkeypatch) -> None:
    audited = []
    monkeypatch.setattr(
        "engram_hydra.trial.audit_reads", lambda hits, memory, queries, n: audited.extend(queries)
    )
    trial = attempted(Meddling())
    assert [ranking.positions for ranking in trial.rankings] == [[0, 1]] * 3
    assert audited == [question.text for question in QUESTIONS]


def test_a_method_sees_no_id_of_the_data(attempted) -> None:
    class Looking(InOrder):
        def write(self, items):
            super().write(items)
            self.seen = [item.id for item in items]

    first, second = Looking(), Looking()
    attempted(first)
    attempted(second, history=replace(HISTORY, id="other"))
    assert len(set(first.seen)) == 4
    assert not set(first.seen) & ({item.id for item in ITEMS} | set(second.seen))


def test_a_method_that_forges_ids_is_found_out(attempted) -> None:
    class Forging(InOrder):
        def write(self, items):
            for n, item in enumerate(items):
                object.__setattr__(item, "id", f"i{n}")
            super().write(items)

    with pytest.raises(
        MethodError, match=r"^read\(\) broke a rule .* the id 'i0' was never written"
    ):
        attempted(Forging())
    numbered = replace(HISTORY, number=7)  # one of several
    with pytest.raises(MethodError, match=r"^history tiny: read\(\) broke a rule"):
        attempted(Forging(), history=numbered)


def test_no_question_is_embedded_before_all_items_are_written(
    attempted, tmp_path, monkeypatch
) -> None:
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
    trial = attempted(memory, embedder=embedder)
    questions = {question.text for question in QUESTIONS}
    assert set(memory.seen) == {item.text for item in ITEMS}
    assert questions <= memory.before_read  # so that their embedding is not timed
    assert trial.truncated == 0


def test_only_methods_with_vectors_get_an_embedder(compose) -> None:
    embedder = new_embedder(compose("method=dense"))
    assert isinstance(embedder, Embedder)
    assert not embedder._known
    assert new_embedder(compose("method=bm25")) is None


def test_the_histories_of_a_set_have_random_streams_of_their_own(compose) -> None:
    def ranking(number: int | None, seed: int) -> list[str]:
        memory = new_memory(
            compose("method=random", f"seed={seed}"), replace(HISTORY, number=number), None
        )
        assert isinstance(memory, Random)
        memory.write([Item(f"i{n}", n, f"text {n}") for n in range(50)])
        return [hit.id for hit in memory.read(["?"], 50)[0]]

    every = [ranking(number, seed) for number in (0, 1, 2) for seed in (0, 1)]
    assert len(set(map(tuple, every))) == 6
    assert ranking(1, 1) == every[3]


# The audit


def audited(attempted: Try, order: str, pool: int | None, memory: Memory) -> list[list[int]]:
    cfg = OmegaConf.merge(CFG, OmegaConf.create({"audit": {"pool": pool, "order": order}}))
    return [ranking.positions for ranking in attempted(memory, cfg).rankings]


def test_an_audit_reads_a_pool_and_cuts_it_to_k(attempted) -> None:
    class Asked(InOrder):
        def read(self, queries, k):
            self.ks = [*getattr(self, "ks", []), k]
            return super().read(queries, k)

    plain, pooled = Asked(), Asked()
    assert audited(attempted, "own_score", None, plain) == [[0, 1]] * 3
    assert audited(attempted, "own_score", 3, pooled) == [[0, 1]] * 3
    assert (plain.ks[0], pooled.ks[0]) == (2, 3)
    assert audited(attempted, "newest", 3, Asked()) == [[2, 1]] * 3  # item 3 is not in the pool
    assert audited(attempted, "newest", 30, Asked()) == [[3, 2]] * 3


def test_an_audited_method_returns_no_more_than_its_pool(attempted) -> None:
    class Greedy(InOrder):
        def read(self, queries, k):
            return super().read(queries, k + 1)

    with pytest.raises(MethodError, match="4 items where at most k = 3 are allowed"):
        audited(attempted, "own_score", 3, Greedy())


# What a memory says of itself


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


def test_what_a_memory_says_is_asked_for_at_its_time_and_translated(attempted) -> None:
    report = attempted(Superseding()).report
    assert report.inert == ["decay"]  # before the scored read
    assert report.counters == {"reads": 1.0}  # after it, and before it is held to the rules
    assert report.displacements == {(0, 1), (1, 2), (2, 3)}


# Indices


def test_recall_of_an_approximate_index_is_taken_for_each_question(compose) -> None:
    class Missing(Dense):
        def index_recall(self, queries, k):
            return [len(query) / 100 + k for query in queries]

    memory = Missing(ties="oldest", embed=lambda texts: None, index=ExactIndex())
    graph, queries = compose("method=dense", "index=hnsw", "k=5"), ["Who?", "Where is it?"]
    assert _index_recall(graph, queries, memory) == [0.04 + 5, 0.12 + 5]
    assert _index_recall(compose("method=dense"), queries, memory) == []  # exact: nothing is missed
    assert _index_recall(graph, queries, InOrder()) == []
