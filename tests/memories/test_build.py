"""From options to a memory, and what is said where there is no way."""

from __future__ import annotations

import numpy as np
import pytest

from engram_hydra.errors import ConfigError
from engram_hydra.memories.bm25 import BM25
from engram_hydra.memories.build import build_memory, memory_class
from engram_hydra.memories.coral.archipelago import Archipelago
from engram_hydra.memories.coral.oracle import OracleImmune
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.heirs_only import HeirsOnly
from engram_hydra.memories.index import ExactIndex, HnswIndex
from engram_hydra.memories.random import Random
from engram_hydra.memories.tide import Tide
from engram_hydra.options import constants_of

OWN_MEMORIES = """
from engram_hydra.memories.memory import Memory

class Plain(Memory):
    def __init__(self, **given):
        self.given = given
    def write(self, items): pass
    def read(self, queries, k): return [[] for _ in queries]

class Drawing(Plain):
    stochastic = True
    uses_vectors = True

class Searching(Plain):
    uses_index = True

class Told(Plain):
    sees_conflicts = True

class Picky(Plain):
    def __init__(self, *, ties, alpha): pass

class Failing(Plain):
    def __init__(self, *, ties): raise TypeError("inside the constructor")

class Half(Memory):
    def write(self, items): pass

class NoMemory:
    pass

def function(): pass
"""


@pytest.fixture
def own(compose, tmp_path, monkeypatch):
    """Options of a class in a module of one's own."""
    (tmp_path / "own_memories.py").write_text(OWN_MEMORIES)
    (tmp_path / "own_broken.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    return lambda target, *more: compose("method=custom", f"method._target_={target}", *more).method


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("bm25", BM25),
        ("dense", Dense),
        ("tide", Tide),
        ("random", Random),
        ("coral", Archipelago),
        ("oracle_immune", OracleImmune),
        ("heirs_only", HeirsOnly),
    ],
)
def test_every_method_of_conf_builds(compose, name, cls):
    method = compose(f"method={name}").method
    assert memory_class(method) is cls
    memory = build_memory(method, lambda texts: np.ones((len(texts), 2), np.float32), 0)
    assert type(memory) is cls


def test_constants_reach_the_memory(compose):
    memory = build_memory(compose("method=tide", "method.w=0.7").method, lambda texts: None, None)
    assert (memory.w, memory.half_life, memory.ties) == (0.7, 0.5, "oldest")


def test_vectors_and_random_numbers_go_only_to_who_asks(own):
    def embed(texts):
        raise AssertionError

    plain = build_memory(own("own_memories.Plain", "+method.params.a=1"), embed, None)
    assert plain.given == {"ties": "oldest", "a": 1}
    drawing = build_memory(own("own_memories.Drawing"), embed, 3)
    assert set(drawing.given) == {"ties", "embed", "rng"}
    assert drawing.given["embed"] is embed
    expected = np.random.default_rng(3).random(4)
    assert drawing.given["rng"].random(4).tolist() == expected.tolist()


def test_an_index_goes_only_to_who_asks(own, compose):
    def given(target, **more):
        return build_memory(own(target), None, 7, **more).given

    hnsw = compose("method=dense", "index=hnsw", "index.links=8", "index.ef_search=32").index
    assert set(given("own_memories.Plain", index=hnsw)) == {"ties"}
    graph = given("own_memories.Searching", index=hnsw)
    assert set(graph) == {"ties", "index"}
    index = graph["index"]
    assert type(index) is HnswIndex
    assert (index.links, index.ef_construction, index.width, index.seed) == (8, 40, 32, 7)
    for exact in (compose("method=dense").index, None):
        assert type(given("own_memories.Searching", index=exact)["index"]) is ExactIndex


def test_each_memory_has_an_index_of_its_own(compose):
    method = compose("method=dense").method
    assert build_memory(method, None, None).index is not build_memory(method, None, None).index


def test_the_known_conflicts_go_only_to_an_oracle(own, compose):
    known = ((0, 3), (2, 5))
    told = build_memory(own("own_memories.Told"), None, None, superseded_by=known)
    assert told.given == {"ties": "oldest", "superseded_by": known}
    plain = build_memory(own("own_memories.Plain"), None, None, superseded_by=known)
    assert plain.given == {"ties": "oldest"}
    oracle = compose("method=oracle_immune").method
    assert build_memory(oracle, None, 0, superseded_by=known).supersedes == {3: 0, 5: 2}


def test_ones_own_switches_reach_the_class_by_name(own):
    method = own("own_memories.Plain", "+method.params.a=1", "+method.switches.pointer=false")
    assert build_memory(method, None, None).given == {"ties": "oldest", "a": 1, "pointer": False}


@pytest.mark.parametrize(
    ("target", "option"),
    [
        ("Searching", "+method.params.index=5"),
        ("Drawing", "+method.params.rng=5"),
        ("Drawing", "+method.switches.embed=true"),
        ("Told", "+method.params.superseded_by=[]"),
    ],
)
def test_no_option_stands_for_what_the_class_is_given(own, target, option):
    name = option.partition("=")[0].rpartition(".")[2]
    words = f"method=mine has an option {name}, under which its class is given something else"
    with pytest.raises(ConfigError, match=words):
        build_memory(own(f"own_memories.{target}", "method.name=mine", option), None, 0)
    if name == "index":  # a class that is given none may call an option so
        build_memory(own("own_memories.Plain", option), None, None)


def test_each_memory_has_a_stream_a_stream_of_its_own(compose):
    method = compose("method=random").method
    entropy = [build_memory(method, None, seed).entropy for seed in (0, 0, 1)]
    assert entropy[0] == entropy[1] != entropy[2]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module.Thing", "can't be imported: No module named 'no_such_module'"),
        ("own_memories.Missing", "can't be imported"),
        ("own_broken.Thing", "can't be imported: No module named 'no_such_library'"),
        ("own_memories.function", "is no memory"),
        ("nothing", "can't be imported"),
        ("''", "can't be imported"),
        ("own_memories.NoMemory", "is no memory: subclass engram_hydra.memories.memory.Memory"),
        ("own_memories.Half", "is no whole memory: it lacks read"),
    ],
)
def test_a_class_that_is_no_memory_is_refused(own, target, words):
    with pytest.raises(ConfigError) as refused:
        memory_class(own(target))
    message = str(refused.value)
    assert message.startswith(f"method._target_={target.strip(chr(39))} ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "missing a required argument: 'alpha'"),
        (["+method.params={alpha: 1, beta: 2}"], "unexpected keyword argument 'beta'"),
    ],
)
def test_params_that_do_not_fit_are_refused_and_the_right_ones_named(own, more, words):
    with pytest.raises(ConfigError) as refused:
        build_memory(own("own_memories.Picky", "method.name=mine", *more), None, None)
    assert words in str(refused.value)
    assert "method=mine" in str(refused.value)
    assert str(refused.value).endswith("it takes ties, alpha.")


def test_a_module_is_looked_for_without_a_word(own, caplog):
    """Hydra's own way of finding a class logs what it then raises, a second time."""
    with pytest.raises(ConfigError):
        memory_class(own("no_such_module.Thing"))
    assert not caplog.records


def test_a_bug_inside_a_constructor_stays_a_bug(own):
    with pytest.raises(TypeError, match="inside the constructor"):
        build_memory(own("own_memories.Failing"), None, None)


def test_what_constants_of_says_is_what_each_class_takes(compose):
    """Every option of a method's YAML is a parameter of its class, and none is left to a default."""
    import inspect

    given = {"embed", "index", "rng"}
    for name in ("bm25", "dense", "tide", "random", "coral", "heirs_only"):
        method = compose(f"method={name}").method
        taken = set(inspect.signature(memory_class(method)).parameters) - given
        assert taken == set(constants_of(method))
