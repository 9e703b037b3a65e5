"""A browser for the tests that need one, and where its screenshots go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


def _without(what: str) -> None:
    """Skips where there is no browser; where the tests decide what lands, that is a failure."""
    reason = f"needs {what}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright.

    It closes with its module: while it is open an event loop runs in this thread, in which no
    later test could start one of its own.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("Playwright: pip install playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        _without("Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """The folder ``ENGRAM_SCREENSHOTS`` if set, else the test's own."""
    folder = Path(os.environ.get("ENGRAM_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
