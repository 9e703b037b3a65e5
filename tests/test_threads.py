"""Threads: what a process is told, and what it passes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engram_hydra.threads import VARIABLES, shared_among, threads

LOADED = """
import faiss, numpy, torch, threadpoolctl
print(*{pool["num_threads"] for pool in threadpoolctl.threadpool_info()}, torch.get_num_threads())
"""


@pytest.fixture(autouse=True)
def untold(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_process_uses_what_it_is_told_else_the_cpus_it_may_use(monkeypatch):
    cpus = len(os.sched_getaffinity(0))
    assert threads() == cpus
    for told, number in {"3": 3, "1": 1, "0": cpus, "": cpus, "many": cpus, "2,1": cpus}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", told)
        assert threads() == number


@pytest.mark.parametrize(
    ("told", "processes", "each"), [(8, 2, 4), (8, 3, 2), (2, 5, 1), (1, 1, 1)]
)
def test_processes_share_threads_evenly_and_have_one_each(monkeypatch, told, processes, each):
    monkeypatch.setenv("OMP_NUM_THREADS", str(told))
    with shared_among(processes):
        assert {os.environ[name] for name in VARIABLES} == {str(each)}
    assert [os.environ.get(name) for name in VARIABLES] == [str(told), None, None]


def test_the_environment_is_as_before_after_an_error(monkeypatch):
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    with pytest.raises(KeyError), shared_among(2):
        raise KeyError
    assert [os.environ.get(name) for name in VARIABLES] == [None, None, "7"]


def test_every_library_of_a_started_process_obeys(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with shared_among(2):
        said = subprocess.check_output([sys.executable, "-c", LOADED], text=True)
    assert set(said.split()) == {"1"}
