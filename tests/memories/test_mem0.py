"""Mem0 inside the harness: the same weights as Dense, exact ids, no network, nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engram_hydra.datasets.dataset import Item
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import ConfigError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.index import ExactIndex
from engram_hydra.memories.memory import Memory
from engram_hydra.memories.peers import mem0 as module
from engram_hydra.memories.peers.mem0 import Mem0

THINGS = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "sloe", "plum", "pear"]
TEXTS = [
    f"{n}. The {THINGS[n % 10]} stands by the {THINGS[n * 7 % 10]} of Ovel." for n in range(40)
]
QUERIES = ["What stands by the fig?", "Where is the oak?", "pears and plums"]


def test_without_the_package_it_says_what_to_install(monkeypatch, compose, tmp_path):
    monkeypatch.setitem(sys.modules, "mem0", None)
    module._mem0.cache_clear()
    embedder = Embedder(compose().embedder, tmp_path)
    with pytest.raises(ConfigError, match=r'`pip install "engram-hydra\[peers\]"`'):
        Mem0(ties="oldest", embed=embedder)
    module._mem0.cache_clear()


@pytest.fixture(scope="module")
def mem0() -> None:
    pytest.importorskip("mem0", reason="needs the extra peers: pip install 'engram-hydra[peers]'")


@pytest.fixture
def embedder(mem0, compose, vector_cache: Path) -> Embedder:
    return Embedder(compose().embedder, vector_cache / "vectors")


def ranked(memory: Memory, texts: list[str], k: int) -> list[list[str]]:
    memory.write([Item(f"id{n}", n, text) for n, text in enumerate(texts)])
    return [[hit.id for hit in hits] for hits in memory.read(QUERIES, k)]


@pytest.mark.slow
def test_it_ranks_by_the_cosines_of_the_same_model(embedder):
    theirs, ours = (
        Mem0(ties="oldest", embed=embedder),
        Dense(ties="oldest", embed=embedder, index=ExactIndex()),
    )
    assert ranked(theirs, TEXTS, 10) == ranked(ours, TEXTS, 10)
    for mine, its in zip(theirs.read(QUERIES, 10), ours.read(QUERIES, 10), strict=True):
        assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in its], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["oldest", "newest"])
def test_equal_texts_are_items_of_their_own_and_stand_by_the_tie_rule(embedder, ties):
    texts = [TEXTS[n % 2] for n in range(60)]
    memory = Mem0(ties=ties, embed=embedder)
    (first, *_) = ranked(memory, texts, 60)
    assert sorted(first) == sorted(f"id{n}" for n in range(60))
    half = [int(item[2:]) for item in first[:30]]
    assert half == sorted(half, reverse=ties == "newest")
    for k in (1, 7, 31):
        assert [hit.id for hit in memory.read(QUERIES[:1], k)[0]] == first[:k]


CHILD = """
import os, socket, sys
from pathlib import Path

def refused(*given):
    raise OSError("no network in here")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refused
from engram_hydra.conf_dir import conf_dir
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.peers.mem0 import Mem0
from omegaconf import OmegaConf

options = OmegaConf.load(Path(conf_dir()) / "embedder" / "minilm.yaml")
memory = Mem0(ties="oldest", embed=Embedder(options, Path("cache")))
memory.write([Item("a", 0, "The oak is old."), Item("b", 1, "")])
print([hit.id for hit in memory.read(["old oaks"], 5)[0]])
"""


@pytest.mark.slow
def test_it_asks_no_network_and_leaves_nothing_behind(mem0, tmp_path):
    for name in ("home", "temp", "here"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "temp"), "PATH": ""},
        cwd=tmp_path / "here",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['a']\n"  # an empty text is no memory to Mem0
    assert done.stderr == ""
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
