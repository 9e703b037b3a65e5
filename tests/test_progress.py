"""Progress: a bar on a terminal, lines in a log, and every batch passed on."""

from __future__ import annotations

import io
import itertools
import logging
from collections.abc import Iterator

import pytest

from engram_hydra import progress
from engram_hydra.progress import reported

BATCHES = [["a"] * 16] * 9 + [["a"] * 3]


def embedding() -> Iterator[list[str]]:
    return reported(BATCHES, 147, "embedding", "texts", size=len)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    # No fixture: pytest's capture puts its own standard error in place before each test's body.
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    return stderr


def test_a_short_one_shows_no_bar_and_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stderr = terminal(monkeypatch)
    assert list(embedding()) == BATCHES
    assert stderr.getvalue().strip() == ""
    assert caplog.messages == ["embedding: 147 texts in 0 s"]


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    monkeypatch.setattr(progress, "BAR_AFTER", 0)
    list(embedding())
    assert "147/147" in stderr.getvalue()


def test_a_log_gets_a_line_every_half_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    # Each look at the clock finds it 10 seconds later.
    clock = itertools.count(0, 10)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    list(embedding())
    assert caplog.messages == [
        "embedding: 48 of 147 texts",
        "embedding: 96 of 147 texts",
        "embedding: 144 of 147 texts",
        "embedding: 147 texts in 110 s",
    ]


def test_one_part_alone_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert list(reported(["all"], 1, "remembering", "histories")) == ["all"]
    assert caplog.messages == []
