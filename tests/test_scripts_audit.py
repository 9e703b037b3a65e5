"""What the audit of the dependencies makes of what pip-audit says."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import audit

SOUND = {"name": "a", "version": "1.0", "vulns": []}
SKIPPED = {"name": "c", "skip_reason": "not found"}
BAD = {
    "name": "b",
    "version": "2.0",
    "vulns": [
        {"id": "PYSEC-2026-1", "fix_versions": ["2.1", "3.0"], "aliases": []},
        {"id": "GHSA-x", "fix_versions": [], "aliases": []},
    ],
}


def stub(out: Any = None, error: str = "", code: int = 0) -> tuple[str, ...]:
    """A command that says this, in pip-audit's place."""
    text = "" if out is None else json.dumps({"dependencies": out, "fixes": []})
    script = f"import sys; print({text!r}); print({error!r}, file=sys.stderr); sys.exit({code})"
    return (sys.executable, "-c", script)


def test_a_known_vulnerability_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(stub([SOUND, BAD], "Found 2 known vulnerabilities", 1)) == 1
    assert capsys.readouterr().out == (
        "b 2.0: PYSEC-2026-1, mended in 2.1, 3.0\n"
        "b 2.0: GHSA-x, mended in no version yet\n"
        "dependencies: 2 audited, 0 not known there.\n"
    )


def test_none_passes_and_says_what_was_not_audited(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(stub([SOUND, SKIPPED])) == 0
    assert capsys.readouterr().out == "dependencies: 1 audited, 1 not known there.\n"


@pytest.mark.parametrize(
    "error",
    [
        "Traceback\nrequests.exceptions.ConnectionError: Max retries exceeded",
        "ERROR:pip_audit._cli:Could not connect to OSV's vulnerability feed",
        "pip_audit._service.interface.ServiceError",
    ],
)
def test_without_a_network_it_says_so_in_a_line_and_passes(
    capsys: pytest.CaptureFixture[str], error: str
) -> None:
    assert audit.main(stub(error=error, code=1)) == 0
    out = capsys.readouterr().out
    assert out.startswith("dependencies: not audited: no network (")
    assert out.count("\n") == 1


def test_a_service_that_does_not_answer_holds_nothing_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "SECONDS", 0.1)
    assert audit.main((sys.executable, "-c", "import time; time.sleep(30)")) == 0
    assert "not audited: no network" in capsys.readouterr().out


@pytest.mark.parametrize("error", ["No module named pip_audit", "invalid requirements input", ""])
def test_a_tool_that_fails_by_itself_fails(capsys: pytest.CaptureFixture[str], error: str) -> None:
    assert audit.main(stub(error=error, code=1)) == 1
    assert "pip-audit failed" in capsys.readouterr().err
