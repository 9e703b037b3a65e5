"""Which commit the code and its options are of, and whether they were changed since."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SECONDS = 10  # a git that hangs, on a network drive or for a prompt, holds no run up for longer
COUNTED = ("src", "conf")  # what a result may follow from
ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")  # set within hooks: another repository's


@dataclass(frozen=True)
class SourceTree:
    """``commit`` is 40 or 64 hex digits, or empty; ``dirty`` is None where that can't be told.

    Dirty: a tracked file below src/ or conf/ differs from the commit. Untracked files do not count,
    as for ``git describe --dirty``.
    """

    commit: str
    dirty: bool | None


UNKNOWN = SourceTree("", None)


def source_tree() -> SourceTree:
    """The checkout that this code runs from; unknown for an installed package, or without git.

    Never raises for what git does or lacks.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return UNKNOWN
    status = _status(root)
    commit = next((line.split()[2] for line in status if line.startswith("# branch.oid ")), "")
    if not commit or commit == "(initial)":
        return UNKNOWN
    return SourceTree(commit, any(not line.startswith("#") for line in status))


def _status(root: Path) -> list[str]:
    """The lines of git's own status: of its header, and one for each changed file."""
    command = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2"]
    own = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    try:
        done = subprocess.run(
            [*command, "--branch", "--untracked-files=no", "--", *COUNTED],
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
            env=own,
            timeout=SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()
