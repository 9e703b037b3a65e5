"""What a run says of its surroundings."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from engram_hydra import environment as module
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory


def test_it_is_ready_for_json_and_names_what_matters():
    told = json.loads(json.dumps(environment()))
    assert told["python"] == platform.python_version()
    assert told["threads"]["cpus"] >= 1
    assert {"platform", "machine", "commit", "dirty"} <= set(told)


def test_versions_are_the_installed_ones_of_the_libraries_that_compute():
    versions = environment()["versions"]
    for name in ("numpy", "faiss-cpu", "torch", "rank-bm25", "sentence-transformers", "mlflow"):
        assert versions[name] == metadata.version(name)
    assert versions["engram-hydra"] == metadata.version("engram-hydra")
    assert "pytest" not in versions  # tools that change no result


def test_a_library_that_is_missing_is_said_to_be(monkeypatch):
    monkeypatch.setattr(module.metadata, "requires", lambda name: ["no-such-library>=1; x == 'y'"])
    assert environment()["versions"]["no-such-library"] == "not installed"


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one commit, of which this code seems to be part."""
    file = tmp_path / "src" / "engram_hydra" / "environment.py"
    file.parent.mkdir(parents=True)
    file.write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(module, "__file__", str(file))
    return tmp_path


def test_a_checkout_has_a_commit_and_is_clean_or_dirty(checkout):
    told = environment()
    assert told["commit"] == git(checkout, "rev-parse", "HEAD")
    assert told["dirty"] is False
    (checkout / "new.py").write_text("")
    assert environment()["dirty"] is True


def test_an_installed_package_has_no_commit_even_inside_another_checkout(checkout, monkeypatch):
    installed = checkout / "lib" / "site-packages" / "engram_hydra" / "environment.py"
    installed.parent.mkdir(parents=True)
    installed.write_text("")
    monkeypatch.setattr(module, "__file__", str(installed))
    told = environment()
    assert told["commit"] is None
    assert told["dirty"] is None


def test_without_git_there_is_no_commit(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout))
    assert environment()["commit"] is None


def test_looking_loads_no_library():
    code = (
        "import sys\n"
        "from engram_hydra.environment import environment\n"
        "threads = environment()['threads']\n"
        "print(sorted({'torch', 'faiss', 'mlflow'} & (set(sys.modules) | set(threads))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_threads_are_those_of_the_loaded_libraries(monkeypatch):
    import faiss

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    threads = environment()["threads"]
    assert threads["faiss"] == faiss.omp_get_max_threads()
    assert threads["OMP_NUM_THREADS"] == "3"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux starts a new peak")
def test_the_peak_is_that_since_the_last_reset():
    reset_peak_memory()
    before = peak_memory_mib()
    block = np.ones(100 * 2**17)  # 100 MiB
    with_block = peak_memory_mib()
    assert 90 < with_block - before < 150
    del block
    assert peak_memory_mib() >= with_block - 1
    reset_peak_memory()
    assert peak_memory_mib() < with_block - 90


def test_without_proc_the_peak_is_the_process_s_own(monkeypatch):
    def missing(self, *arguments, **more):
        raise FileNotFoundError(str(self))

    told = peak_memory_mib()
    monkeypatch.setattr(module.Path, "read_text", missing)
    monkeypatch.setattr(module.Path, "write_text", missing)
    reset_peak_memory()
    assert 0.5 * told < peak_memory_mib() < 100 * told  # MiB too
