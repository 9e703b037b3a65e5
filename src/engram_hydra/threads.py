"""Threads of the libraries that compute: how many this process may use, and its workers each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Read as a library is loaded; OpenMP's alone would do, if no one had set the others.
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def threads() -> int:
    """Threads of this process: OMP_NUM_THREADS, which launchers set, else one for each usable CPU."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    return len(usable(0)) if usable else os.cpu_count() or 1


@contextmanager
def shared_among(processes: int) -> Iterator[None]:
    """Processes that are started herein share this one's threads evenly, with one each at least."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, str(max(1, threads() // processes))))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
