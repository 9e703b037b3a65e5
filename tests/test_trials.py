"""All histories of a run: in one process or several, with the same results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
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


def lengthened(one: History) -> History:
    """A history of about a megabyte, which no pipe holds."""
    return replace(one, items=tuple(replace(item, text=item.text * 3000) for item in one.items))


BIG = replace(DATA, histories=tuple(lengthened(one) for one in DATA.histories))


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
    """Breaks a rule, or dies, on histories of certain lengths; or sleeps on all."""

    def __init__(
        self, *, ties: str, too_much_at: int = 0, dies_at: int = 0, sleeps: bool = False
    ) -> None:
        self.too_much_at, self.dies_at, self.sleeps = too_much_at, dies_at, sleeps

    def write(self, items: Sequence[Item]) -> None:
        self.items = items
        if len(items) == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.sleeps:
            print(f"pid {os.getpid()}", flush=True)
            time.sleep(60)

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        n = k + 1 if len(self.items) == self.too_much_at else k
        return [[Hit(item.id, -float(i)) for i, item in enumerate(self.items[:n])] for _ in queries]


def unruly(compose: Any, monkeypatch: pytest.MonkeyPatch, *overrides: str) -> DictConfig:
    monkeypatch.syspath_prepend(os.path.dirname(__file__))  # noqa: PTH120  # as sys.path has it
    cfg = compose("method=custom", "method._target_=test_trials.Unruly", *overrides)
    assert isinstance(cfg, DictConfig)
    return cfg


@pytest.mark.parametrize("data", [DATA, BIG], ids=["small", "big"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_rule_names_the_history(compose, monkeypatch, workers: int, data: Dataset) -> None:
    cfg = unruly(compose, monkeypatch, "+method.params.too_much_at=24", f"workers={workers}")
    with pytest.raises(MethodError, match=r"^history q4: .* 11 items where at most k = 10"):
        run_trials(cfg, data)


@pytest.mark.parametrize("data", [DATA, BIG], ids=["small", "big"])
def test_a_worker_that_dies_is_told(compose, monkeypatch, data: Dataset) -> None:
    cfg = unruly(compose, monkeypatch, "+method.params.dies_at=23", "workers=2")
    with pytest.raises(EngramError, match=r"one of 2 worker processes died.*smaller workers="):
        run_trials(cfg, data)


SLEEPY = """
import signal
import sys
from hydra import compose, initialize_config_dir
from engram_hydra import config
from engram_hydra.cli import register_resolvers
from engram_hydra.conf_dir import conf_dir
from engram_hydra.trials import run_trials
from test_trials import BIG

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs of the background
    config.register()
    register_resolvers()
    own = ["method=custom", "method._target_=test_trials.Unruly", "+method.params.sleeps=true"]
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        cfg = compose("config", [*own, "workers=2"])
    try:
        run_trials(cfg, BIG)
    except KeyboardInterrupt as error:
        kept = error  # and with it all that the run had, as whoever reports it does
        sys.exit(130)
"""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_no_worker_outlives_its_parent(tmp_path: Path, how: signal.Signals, code: int) -> None:
    script = tmp_path / "sleepy.py"
    script.write_text(SLEEPY)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path
    ) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline().split()[1]) for _ in range(2)]
        parent.send_signal(how)
        deadline = time.monotonic() + 20
        while any(map(alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(map(alive, workers))
        assert parent.wait(timeout=20) == code


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
