"""What a run ran on: versions, commit, threads, memory."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from engram_hydra.source_tree import source_tree


def environment() -> dict[str, Any]:
    """Python, platform, package versions, commit and threads of this process, ready for JSON."""
    tree = source_tree()
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "versions": _versions(),
        "commit": tree.commit or None,
        "dirty": tree.dirty,
        "threads": _threads(),
    }


def _versions() -> dict[str, str]:
    """Installed versions of this project and of every library it names, extras aside."""
    needed = [name for name in metadata.requires("engram-hydra") or [] if "extra ==" not in name]
    names = {re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0] for name in needed}
    return {name: _version(name) for name in sorted(names | {"engram-hydra", "torch"})}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _threads() -> dict[str, Any]:
    """Threads each library uses; libraries that this run did not load are not loaded for it."""
    threads: dict[str, Any] = {"cpus": os.cpu_count()}
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        if variable in os.environ:
            threads[variable] = os.environ[variable]
    if "faiss" in sys.modules:
        threads["faiss"] = sys.modules["faiss"].omp_get_max_threads()
    if "torch" in sys.modules:
        threads["torch"] = sys.modules["torch"].get_num_threads()
    return threads


def reset_peak_memory() -> None:
    """Start a new peak where the system allows it (Linux); elsewhere the peak is the process's."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory_mib() -> float | None:
    """Peak resident memory since the last reset, MiB; ``None`` where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return _peak_of_process()
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(match.group(1)) / 1024 if match else _peak_of_process()


def _peak_of_process() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
