"""What every test of a chat reader starts from."""

from __future__ import annotations

import os

import pytest

from chat_reading import KEY


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_TEST_KEY", KEY)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("OPENAI_"):
            monkeypatch.delenv(name)
