"""What the schemas refuse beyond types, and what they say of a method."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass

import pytest
from hydra.errors import ConfigCompositionException
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf, open_dict

from engram_hydra.config import FactConsolidation, PinnedFile
from engram_hydra.constraints import choice, number
from engram_hydra.errors import ConfigError
from engram_hydra.options import ablation_of, constants_of
from engram_hydra.validation import validate


@dataclass
class Ranges:
    at_least_0: float = number(0.0, ge=0)
    above_0: float = number(1.0, gt=0)
    from_0_to_1: float = number(0.5, ge=0, le=1)
    whole: int = number(3, ge=1)
    none_or_whole: int | None = number(None, ge=1)
    word: str = choice("old", "old", "new")


INSIDE = {
    "at_least_0": [0.0, 1e300],
    "above_0": [1e-300, 7.0],
    "from_0_to_1": [0.0, 1.0],
    "whole": [1, 10**9],
    "none_or_whole": [None, 1],
    "word": ["old", "new"],
}
OUTSIDE = {
    "at_least_0": ([-1e-9], "a number at least 0"),
    "above_0": ([0.0, -1.0], "a number above 0"),
    "from_0_to_1": ([-0.01, 1.01], "a number at least 0 and at most 1"),
    "whole": ([0, -5], "a whole number at least 1"),
    "none_or_whole": ([0], "a whole number at least 1"),
    "word": (["", "OLD", "older"], "old or new"),
}
OWN = ["method=custom", "method._target_=x.Y"]
FLOATS = ["at_least_0", "above_0", "from_0_to_1"]


@pytest.mark.parametrize(("key", "value"), [(k, v) for k, vs in INSIDE.items() for v in vs])
def test_values_in_range_pass(key, value):
    validate(OmegaConf.structured(Ranges(**{key: value})))


@pytest.mark.parametrize(
    ("key", "value", "allowed"), [(k, v, words) for k, (vs, words) in OUTSIDE.items() for v in vs]
)
def test_values_out_of_range_are_refused_with_key_value_and_range(key, value, allowed):
    with pytest.raises(ConfigError) as refused:
        validate(OmegaConf.structured(Ranges(**{key: value})))
    message = str(refused.value)
    assert message.startswith(f"{key}={value} ")
    assert message.endswith(f"{allowed}.")


@pytest.mark.parametrize("key", FLOATS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_no_range_holds_what_is_not_finite(key, value):
    with pytest.raises(ConfigError, match=f"^{key}="):
        validate(OmegaConf.structured(Ranges(**{key: value})))


@given(value=st.floats(-2, 2))
def test_a_range_is_what_it_says(value):
    fits = {
        "at_least_0": value >= 0,
        "above_0": value > 0,
        "from_0_to_1": 0 <= value <= 1,
    }
    for key, allowed in fits.items():
        cfg = OmegaConf.structured(Ranges(**{key: value}))
        with nullcontext() if allowed else pytest.raises(ConfigError):
            validate(cfg)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["method=custom"], "method._target_ has no value: set it with method._target_="),
        (["~k"], "k has no value: set it with k="),
        (["~method"], "method has no value"),
        (["~tracking"], "tracking has no value"),
        (["+foo=1"], "foo is no option: a run takes method, dataset,"),
        (["+foo.bar=1"], "foo is no option"),
        (["+foo/bar=x"], "foo/bar is no option"),
        (["+method.foo=1"], "method.foo is no option: method takes _target_, name, ties,"),
        (["+paths.foo=null"], "paths.foo is no option: paths takes root, outputs,"),
        (
            ["dataset=fc_sh_6k", "+dataset.files.json.foo=1"],
            "dataset.files.json.foo is no option: dataset.files.json takes local, sha256, size,",
        ),
        (
            ["dataset=fc_sh_6k", "+dataset.files.parquet.hub.foo=1"],
            "dataset.files.parquet.hub.foo is no option",
        ),
        (["dataset=fc_sh_6k", "dataset.serial=drop"], "dataset.serial=drop is not allowed: choose"),
        (["method.calcified_score=1.5"], "method.calcified_score=1.5 is out of range"),
        (["embedder.max_length=0"], "embedder.max_length=0 is out of range"),
        (["dataset.conflict_rate=1"], "dataset.conflict_rate=1.0 is out of range"),
        (
            ["reader.name=oracle"],
            "reader.name=oracle is not allowed: choose none or newest or openai.",
        ),
        (["method=heirs_only", "method.threshold=1.1"], "method.threshold=1.1 is out of range"),
        (["index.name=flat"], "index.name=flat is not allowed: choose exact or hnsw."),
        (["+index.links=16"], "index.links is no option: index takes name."),
        (["index=hnsw", "index.links=1"], "index.links=1 is out of range: it must be a whole"),
        (["index=hnsw", "index.ef_search=0"], "index.ef_search=0 is out of range"),
        (["index=hnsw", "index.ef_construction=0"], "index.ef_construction=0 is out of range"),
        (["audit.order=oldest"], "audit.order=oldest is not allowed: choose own_score or newest."),
        (["audit=own_score", "audit.pool=0"], "audit.pool=0 is out of range"),
    ],
    ids=str,
)
def test_a_run_is_checked_to_its_last_key(compose, overrides, words):
    with pytest.raises(ConfigError) as refused:
        validate(compose(*overrides))
    assert str(refused.value).startswith(words)
    assert "\n" not in str(refused.value)


def test_a_missing_value_is_found_in_a_named_entry_too():
    files = {"mine": PinnedFile(local="x")}
    cfg = OmegaConf.structured(FactConsolidation(name="mine", source="x", files=files))
    with pytest.raises(ConfigError, match=r"^files\.mine\.sha256 has no value"):
        validate(cfg)


def test_the_final_job_is_checked_too(compose):
    validate(compose(config="aggregate"))
    for override in ("k=0", "~k", "+foo=1"):
        with pytest.raises(ConfigError):
            validate(compose(override, config="aggregate"))


def test_ones_own_params_are_free(compose):
    validate(compose("method=custom", "method._target_=x.Y", "+method.params={a: {b: [1, nan]}}"))


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ([], "none"),
        (["method.heirs=false"], "no_heirs"),
        (["method.settling_noise=false"], "no_settling_noise"),
        # in the schema's order, not the command line's
        (["method.calcification=false", "method.heirs=false"], "no_heirs+no_calc"),
        (["method=bm25"], "none"),
        (["method=custom", "method._target_=x.Y", "+method.params.heirs=false"], "none"),
        ([*OWN, "+method.switches={decay: true, pointer: true}"], "none"),
        ([*OWN, "+method.switches={decay: true, pointer: false}"], "no_pointer"),
        # in the order of their names
        ([*OWN, "+method.switches={pointer: false, decay: false}"], "no_decay+no_pointer"),
        (["method=oracle_immune", "ablation=[no_calc,no_heirs]"], "no_heirs+no_calc"),
    ],
    ids=str,
)
def test_the_ablation_names_what_is_off(compose, overrides, name):
    assert ablation_of(compose(*overrides).method) == name


def test_constants_are_what_the_class_takes(compose):
    assert constants_of(compose("method=bm25", "method.k1=2", "method.ties=newest").method) == {
        "k1": 2.0,
        "b": 0.75,
        "epsilon": 0.25,
        "tokenizer": "lower_split",
        "ties": "newest",
    }


def test_custom_params_are_unpacked_and_resolved(compose):
    cfg = compose(
        "method=custom", "method._target_=x.Y", "+method.params={alpha: 0.5, twice: '${k}'}", "k=7"
    )
    assert constants_of(cfg.method) == {"ties": "oldest", "alpha": 0.5, "twice": 7}
    assert cfg.method.params.alpha == 0.5  # and the options stay as they are


def test_ones_own_switches_are_unpacked_beside_the_params(compose):
    cfg = compose(*OWN, "+method.params.alpha=0.5", "+method.switches.pointer=false")
    assert constants_of(cfg.method) == {"ties": "oldest", "alpha": 0.5, "pointer": False}


@pytest.mark.parametrize("value", ["maybe", "null", "0.5"])
def test_a_switch_is_true_or_false(compose, value):
    with pytest.raises(ConfigCompositionException, match=r"method\.switches\.pointer"):
        compose(*OWN, f"+method.switches.pointer={value}")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            ["+method.params.a=1", "+method.switches.a=true"],
            "method.switches.a stands for method.params.a: set that one only.",
        ),
        (
            ["+method.params.ties=x"],
            "method.params.ties stands for method.ties: set that one only.",
        ),
        (["+method.switches.ties=true"], "method.switches.ties stands for method.ties"),
    ],
    ids=str,
)
def test_no_two_options_go_by_one_name(compose, more, words):
    with pytest.raises(ConfigError) as refused:
        constants_of(compose(*OWN, *more).method)
    assert str(refused.value).startswith(words)


# Options that do not go together

UNSEARCHED = ["bm25", "tide", "random", "heirs_only"]


@pytest.mark.parametrize("method", UNSEARCHED)
def test_a_method_that_searches_exactly_takes_no_other_index(compose, method):
    validate(compose(f"method={method}", "index=exact"))
    with pytest.raises(ConfigError) as refused:
        validate(compose(f"method={method}", "index=hnsw"))
    assert str(refused.value) == (
        f"index=hnsw does nothing for method={method}, which searches exactly: leave index=exact."
    )


def test_a_method_of_ones_own_takes_an_index_if_its_class_says_so(compose):
    own = "method=custom", "index=hnsw"
    validate(compose(*own, "method._target_=engram_hydra.memories.dense.Dense"))
    with pytest.raises(ConfigError, match=r"^index=hnsw does nothing for method=custom"):
        validate(compose(*own, "method._target_=engram_hydra.memories.bm25.BM25"))


@pytest.mark.parametrize("method", ["dense", "coral", "oracle_immune"])
def test_methods_that_search_an_index_take_either(compose, method):
    validate(compose(f"method={method}", "index=exact"))
    validate(compose(f"method={method}", "index=hnsw"))


@pytest.mark.parametrize("method", ["dense", "coral"])
def test_windows_are_searched_exactly(compose, method):
    validate(compose(f"method={method}", "embedder.overflow=chunk"))
    with pytest.raises(ConfigError) as refused:
        validate(compose(f"method={method}", "embedder.overflow=chunk", "index=hnsw"))
    assert str(refused.value) == (
        "index=hnsw holds one vector for each item, and embedder.overflow=chunk gives a long text"
        " several: set index=exact or embedder.overflow=truncate."
    )


def test_the_check_loads_nothing_heavy():
    code = (
        "import hydra, sys\n"
        "from engram_hydra import cli, conf_dir, config, validation\n"
        "config.register(); cli.register_resolvers()\n"
        "with hydra.initialize_config_dir(conf_dir.conf_dir(), version_base='1.3'):\n"
        "    validation.validate(hydra.compose('config', overrides=['index=hnsw']))\n"
        "print(sorted({'torch', 'mlflow', 'faiss', 'pandas', 'scipy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("audit", ["own_score", "newest_first"])
def test_a_pool_holds_at_least_k(compose, audit):
    validate(compose(f"audit={audit}", "k=30"))
    with pytest.raises(ConfigError, match=r"^audit\.pool=30 is smaller than k=31: "):
        validate(compose(f"audit={audit}", "k=31"))
    validate(compose(f"audit={audit}", "k=31", "audit.pool=31"))


@pytest.mark.parametrize("audit", ["none", "plain"])
def test_without_a_pool_k_is_free(compose, audit):
    validate(compose(f"audit={audit}", "k=100"))


def test_constants_do_not_change_with_the_options(compose):
    method = compose("method=tide").method
    constants = constants_of(method)
    with open_dict(method):
        method.w = 0.9
    assert constants["w"] == 0.2
