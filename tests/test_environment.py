"""What a run says of its surroundings."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

from engram_hydra import environment as module
from engram_hydra.environment import environment, peak_memory_mib, reset_peak_memory
from engram_hydra.source_tree import SourceTree


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


@pytest.mark.parametrize(
    ("tree", "commit", "dirty"),
    [(SourceTree("c" * 40, True), "c" * 40, True), (SourceTree("", None), None, None)],
)
def test_the_checkout_s_commit_or_none(monkeypatch, tree, commit, dirty):
    monkeypatch.setattr(module, "source_tree", lambda: tree)
    told = environment()
    assert (told["commit"], told["dirty"]) == (commit, dirty)


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
