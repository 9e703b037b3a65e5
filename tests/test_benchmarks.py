"""The benchmarks still run; their figures are taken by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
def test_the_soak_runs_at_a_small_size():
    done = subprocess.run(
        [sys.executable, FOLDER / "soak.py", "--facts", "3000"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "writing 3,000:" in done.stdout and "peak memory:" in done.stdout


@pytest.mark.slow
def test_every_benchmark_imports_what_it_needs():
    for script in sorted(FOLDER.glob("*.py")):
        code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import {script.stem}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
