"""What makes two runs the same run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from omegaconf import OmegaConf, open_dict

from engram_hydra import run_key as module
from engram_hydra.run_key import (
    code_sha256,
    config_key,
    embedder_of,
    index_of,
    is_approximate,
    method_sha256,
    run_key,
    run_name,
    seed_of,
)

ELSEWHERE = {"paths", "tracking"}  # groups that say where, not what
ANOTHER = {
    "method._target_": "test_run_key_memory.Mine",
    "method.cycle_every": 5,
    "audit.pool": 40,
    "dataset.only": ["x"],
    "dataset.files.json.size": 1,
    "dataset.files.parquet.size": 1,
    "reader.prompt_price": 1.0,
    "reader.completion_price": 1.0,
    "reader.prompt.json.size": 1,
    "reader.prompt.templates.size": 1,
}
FOUND = {  # and keys that do, or that say how fast
    *("embedder.path", "embedder.package", "dataset.path", "dataset.sha256", "workers"),
    *("existing", "fail_fast"),
    *("reader.api_key_env", "reader.concurrency", "reader.timeout", "reader.retries"),
    *("reader.prompt_price", "reader.completion_price"),
}


def leaves(tree, prefix=""):
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if (
            name in ("hub", "github") and value is None
        ):  # no options, rather than one without a value
            continue
        if isinstance(value, dict):
            yield from leaves(value, f"{key}.")
        else:
            yield key, value


def another(key, value):
    """A value of the same type that is not this one."""
    if key in ANOTHER:
        return ANOTHER[key]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return f"{value or ''}x"


def key_with(cfg, key, value):
    changed = cfg.copy()
    with open_dict(changed):
        OmegaConf.update(changed, key, value)
    return config_key(changed)


@pytest.mark.parametrize(
    "overrides",
    [
        ["method=random"],
        ["method=bm25"],
        ["method=dense", "dataset=fc_sh_6k"],
        ["method=tide", "embedder=bge_small"],
        ["method=coral", "dataset=fc_mh_32k"],
        ["method=coral", "ablation=no_settling_noise"],
        ["method=coral", "ablation=no_settling_noise", "index=hnsw"],
        ["method=dense", "index=hnsw", "audit=own_score"],
        ["method=oracle_immune", "audit=newest_first"],
        ["method=heirs_only"],
        ["method=tide", "dataset=longmemeval_sample"],
        ["method=bm25", "dataset=fc_sh_6k", "reader=openai", "reader.model=m"],
    ],
    ids=str,
)
def test_each_value_counts_exactly_if_it_can_change_the_result(
    compose, overrides, tmp_path, monkeypatch
):
    (tmp_path / "test_run_key_memory.py").write_text(
        "from engram_hydra.memories.coral.archipelago import Archipelago\n"
        "class Mine(Archipelago):\n"
        "    @classmethod\n"
        "    def is_stochastic(cls, constants): return True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    cfg = compose(*overrides)
    before = config_key(cfg)
    values = dict(leaves(OmegaConf.to_container(cfg, resolve=True)))
    assert len(values) > 20
    for key, value in values.items():
        group = key.split(".")[0]
        ignored = group in ELSEWHERE or key in FOUND
        ignored |= group == "embedder" and cfg.method.name in ("bm25", "random")
        ignored |= group == "reader" and cfg.dataset.name.startswith("longmemeval")
        ignored |= group == "index" and cfg.method.name not in ("dense", "coral", "oracle_immune")
        drawn = cfg.method.name == "random" or cfg.method.get("settling_noise", False)
        ignored |= key == "seed" and not (drawn or cfg.index.name == "hnsw")
        assert (key_with(cfg, key, another(key, value)) == before) is ignored, key


def test_added_params_count(compose):
    own = ["method=custom", "method._target_=engram_hydra.memories.dense.Dense"]
    keys = {
        config_key(compose(*own, *more))
        for more in ([], ["+method.params.a=1"], ["+method.params.a=2"], ["+method.params.b=1"])
    }
    assert len(keys) == 4


def test_the_order_of_options_does_not_count(compose):
    own = "method=custom", "method._target_=engram_hydra.memories.dense.Dense"
    one = compose(*own, "+method.params={a: 1, b: {c: 2, d: 3}}")
    other = compose(*own, "+method.params={b: {d: 3, c: 2}, a: 1}")
    assert config_key(one) == config_key(other)


@pytest.mark.parametrize(
    ("overrides", "seed", "embedder", "name"),
    [
        (["method=coral"], 3, "minilm", "coral/none/synthetic/seed3"),
        (
            ["method=coral", "ablation=no_immune"],
            3,
            "minilm",
            "coral/no_immune/synthetic/seed3",
        ),
        (
            ["method=coral", "ablation=no_settling_noise"],
            None,
            "minilm",
            "coral/no_settling_noise/synthetic/deterministic",
        ),
        (["method=random"], 3, "none", "random/none/synthetic/seed3"),
        (["method=bm25"], None, "none", "bm25/none/synthetic/deterministic"),
        (
            ["method=tide", "embedder=bge_small", "dataset=fc_mh_6k"],
            None,
            "bge_small",
            "tide/none/fc_mh_6k/deterministic",
        ),
        (
            ["method=coral", "ablation=[no_calc,no_heirs]"],
            3,
            "minilm",
            "coral/no_heirs+no_calc/synthetic/seed3",
        ),
        (["method=dense", "index=hnsw"], 3, "minilm", "dense/none/synthetic/seed3/hnsw"),
        (
            ["method=coral", "ablation=no_settling_noise", "index=hnsw"],
            3,
            "minilm",
            "coral/no_settling_noise/synthetic/seed3/hnsw",
        ),
        (
            ["method=dense", "audit=own_score"],
            None,
            "minilm",
            "dense/none/synthetic/deterministic/audit_own_score",
        ),
        (["method=oracle_immune"], 3, "minilm", "oracle_immune/none/synthetic/seed3"),
        (["method=heirs_only"], None, "minilm", "heirs_only/none/synthetic/deterministic"),
    ],
    ids=str,
)
def test_seed_embedder_and_name(compose, overrides, seed, embedder, name):
    cfg = compose(*overrides, "seed=3")
    assert seed_of(cfg) == seed
    assert embedder_of(cfg) == embedder
    assert run_name(cfg) == name


@pytest.mark.parametrize("method", ["dense", "coral", "oracle_immune"])
def test_an_index_is_named_where_one_is_searched(compose, method):
    exact, graph = compose(f"method={method}"), compose(f"method={method}", "index=hnsw")
    assert (index_of(exact), is_approximate(exact)) == ("exact", False)
    assert (index_of(graph), is_approximate(graph)) == ("hnsw", True)


@pytest.mark.parametrize("method", ["bm25", "tide", "random", "heirs_only"])
def test_no_index_is_named_where_none_is_searched(compose, method):
    cfg = compose(f"method={method}")
    assert (index_of(cfg), is_approximate(cfg)) == ("none", False)


def test_seed_0_is_a_seed(compose):
    assert seed_of(compose("method=random", "seed=0")) == 0
    assert run_name(compose("method=random", "seed=0")).endswith("/seed0")


def test_data_and_code_count(compose):
    cfg = compose("method=bm25")
    keys = {run_key(cfg, "a", "b"), run_key(cfg, "b", "a"), run_key(cfg, "a", "c")}
    assert len(keys) == 3
    assert run_key(cfg, "a", "b") in keys
    assert run_key(compose("method=bm25", "k=3"), "a", "b") not in keys


def test_a_method_is_its_constants_whatever_is_switched_off_and_whatever_it_is_called(compose):
    whole = method_sha256(compose("method=coral").method)
    for same in (["ablation=no_heirs"], ["ablation=no_settling_noise"], ["k=3"], ["method.name=x"]):
        assert method_sha256(compose("method=coral", *same).method) == whole
    others = [["method.outlier_z=9"], ["method.ties=newest"], ["method.cycle_every=5"]]
    digests = {method_sha256(compose("method=coral", *other).method) for other in others}
    assert len(digests | {whole}) == 4
    # Two classes of the same constants.
    assert (
        len({method_sha256(compose(f"method={name}").method) for name in ("dense", "random")}) == 2
    )


def test_ones_own_switches_are_parts_and_no_constants(compose):
    own = "method=custom", "method._target_=engram_hydra.memories.dense.Dense"
    with_part = compose(*own, "+method.params.a=1", "+method.switches.pointer=true")
    without = compose(*own, "+method.params.a=1", "+method.switches.pointer=false")
    assert method_sha256(with_part.method) == method_sha256(without.method)
    assert config_key(with_part) != config_key(without)
    assert run_name(without) == "custom/no_pointer/synthetic/deterministic"
    other = compose(*own, "+method.params.a=2", "+method.switches.pointer=true")
    assert method_sha256(other.method) != method_sha256(with_part.method)


def test_a_method_of_ones_own_is_its_file_too(compose, tmp_path, monkeypatch):
    file = tmp_path / "test_run_key_own.py"
    file.write_text("from engram_hydra.memories.dense import Dense\nclass Mine(Dense): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    cfg = compose("method=custom", "method._target_=test_run_key_own.Mine")
    before = method_sha256(cfg.method), run_key(cfg, "data", "code")
    assert (method_sha256(cfg.method), run_key(cfg, "data", "code")) == before
    file.write_text(file.read_text() + "# another\n")
    after = method_sha256(cfg.method), run_key(cfg, "data", "code")
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_the_key_is_the_same_in_every_process(compose, tmp_path):
    overrides = ["method=coral", "dataset=fc_sh_6k", "seed=3"]
    code = (
        "import hydra\n"
        "from engram_hydra import cli, conf_dir, config, run_key\n"
        "config.register(); cli.register_resolvers()\n"
        "with hydra.initialize_config_dir(conf_dir.conf_dir(), version_base='1.3'):\n"
        f"    cfg = hydra.compose('config', overrides={overrides!r})\n"
        "print(run_key.run_key(cfg, 'data', run_key.code_sha256()))\n"
    )
    here = run_key(compose(*overrides), "data", code_sha256())
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,  # another paths.root
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == here


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the place of this one."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "run_key.py").write_text("a = 1\n")
    (tmp_path / "sub" / "b.py").write_text("b = 2\n")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "run_key.py"))
    return tmp_path


def test_code_is_the_names_and_contents_of_its_python_files(package):
    digests = [code_sha256()]

    def changed():
        digests.append(code_sha256())
        return len(set(digests)) == len(digests)

    (package / "sub" / "b.py").write_text("b = 3\n")
    assert changed()
    (package / "sub" / "b.py").rename(package / "sub" / "c.py")
    assert changed()
    (package / "sub" / "c.py").rename(package / "c.py")
    assert changed()
    (package / "new.py").write_text("")
    assert changed()
    (package / "new.py").write_text("a = 1\n")
    (package / "run_key.py").write_text("")
    assert changed()


def test_code_is_nothing_else(package):
    before = code_sha256()
    (package / "notes.txt").write_text("x")
    (package / "sub" / "b.pyc").write_bytes(b"x")
    os.utime(package / "run_key.py", (0, 0))
    assert code_sha256() == before
