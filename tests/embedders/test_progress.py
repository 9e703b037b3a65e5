"""Progress: a bar on a terminal, lines in a log, and every batch passed on."""

from __future__ import annotations

import io
import itertools
import logging

import pytest

from engram_hydra.embedders import progress
from engram_hydra.embedders.progress import reported

BATCHES = [["a"] * 16] * 9 + [["a"] * 3]


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
    assert list(reported(BATCHES, 147)) == BATCHES
    assert stderr.getvalue().strip() == ""
    assert caplog.messages == ["embedded 147 texts in 0 s"]


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    monkeypatch.setattr(progress, "BAR_AFTER", 0)
    list(reported(BATCHES, 147))
    assert "147/147" in stderr.getvalue()


def test_a_log_gets_a_line_every_half_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    # Each look at the clock finds it 10 seconds later.
    clock = itertools.count(0, 10)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    list(reported(BATCHES, 147))
    assert caplog.messages == [
        "embedded 48 of 147 texts",
        "embedded 96 of 147 texts",
        "embedded 144 of 147 texts",
        "embedded 147 texts in 110 s",
    ]
