"""All histories of a run: in one process or several, with the same results."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any

import pytest
from omegaconf import DictConfig

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.errors import EngramError, MethodError
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.trial import Trial
from engram_hydra.trials import run_trials

WORDS = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "box", "may", "sloe", "plum", "pear"]


def history(number: int) -> History:
    items = tuple(
        Item(f"s{n}", n, " ".join(WORDS[(number + n * step) % 12] for step in range(1, 5)))
        for n in range(20 + number)
    )
    question = Question(f"q{number}", WORDS[number % 12], ("x",), "kind", gold=(number,))
    documents = tuple(item.id for item in items)
    return History(f"q{number}", items, (question,), documents=documents, number=number)


DATA = Dataset("made up", tuple(history(number) for number in range(7)), "ab" * 32, "here")


def results(trials: Sequence[Trial]) -> list[Any]:
    return [(trial.rankings, trial.report, trial.truncated, trial.index_recall) for trial in trials]


@pytest.mark.parametrize("method", ["bm25", "random"])
def test_the_number_of_workers_changes_nothing(compose, method: str) -> None:
    alone = run_trials(compose(f"method={method}", "seed=3"), DATA)
    shared = run_trials(compose(f"method={method}", "seed=3", "workers=3"), DATA)
    assert results(shared) == results(alone)
    assert [len(trial.rankings) for trial in alone] == [1] * 7
    assert len({tuple(trial.rankings[0].positions) for trial in alone}) > 2


class Unruly(Memory):
    """Breaks a rule, or dies, on histories of certain lengths."""

    def __init__(self, *, ties: str, too_much_at: int = 0, dies_at: int = 0) -> None:
        self.too_much_at, self.dies_at = too_much_at, dies_at

    def write(self, items: Sequence[Item]) -> None:
        self.items = items
        if len(items) == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        n = k + 1 if len(self.items) == self.too_much_at else k
        return [[Hit(item.id, -float(i)) for i, item in enumerate(self.items[:n])] for _ in queries]


def unruly(compose: Any, monkeypatch: pytest.MonkeyPatch, *overrides: str) -> DictConfig:
    monkeypatch.syspath_prepend(os.path.dirname(__file__))  # noqa: PTH120  # as sys.path has it
    cfg = compose("method=custom", "method._target_=test_trials.Unruly", *overrides)
    assert isinstance(cfg, DictConfig)
    return cfg


@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_rule_names_the_history(compose, monkeypatch, workers: int) -> None:
    cfg = unruly(compose, monkeypatch, "+method.params.too_much_at=24", f"workers={workers}")
    with pytest.raises(MethodError, match=r"^history q4: .* 11 items where at most k = 10"):
        run_trials(cfg, DATA)


def test_a_worker_that_dies_is_told(compose, monkeypatch) -> None:
    cfg = unruly(compose, monkeypatch, "+method.params.dies_at=23", "workers=2")
    with pytest.raises(EngramError, match=r"one of 2 worker processes died.*smaller workers="):
        run_trials(cfg, DATA)
