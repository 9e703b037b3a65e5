"""Which runs count as declared: as shipped, a declared variant, or exploratory."""

from __future__ import annotations

import shutil
from pathlib import Path

import hydra
import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf, open_dict

from engram_hydra.conf_dir import conf_dir
from engram_hydra.declared import declaration
from engram_hydra.errors import ConfigError
from engram_hydra.validation import validate

AS_SHIPPED = (True, "", False)
VARIANTS = sorted(file.stem for file in (Path(conf_dir()) / "variant").glob("*.yaml"))


METHODS = ["coral", "bm25", "dense", "tide", "random", "oracle_immune", "heirs_only"]
OWN = ("method=custom", "method._target_=engram_hydra.memories.dense.Dense")


def said_of(cfg, seed=0):
    HydraConfig.instance().set_config(cfg)
    with open_dict(cfg):
        del cfg["hydra"]
    validate(cfg)
    said = declaration(cfg, seed)
    return said.as_shipped, said.variant, said.exploratory


@pytest.fixture
def declared(compose):
    """What ``declaration`` says of a job with these overrides, as (as_shipped, variant, exploratory)."""

    def say(*overrides, seed=0):
        return said_of(compose(*overrides, return_hydra_config=True), seed)

    yield say
    HydraConfig.instance().cfg = None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", ["synthetic", "fc_mh_262k"])
@pytest.mark.parametrize("embedder", ["minilm", "bge_small"])
def test_every_option_as_committed_is_as_shipped(declared, method, dataset, embedder):
    overrides = f"method={method}", f"dataset={dataset}", f"embedder={embedder}"
    assert declared(*overrides) == AS_SHIPPED


@pytest.mark.parametrize(
    "overrides",
    [
        ["ablation=no_heirs"],
        ["method.heirs=false", "method.resist=false"],  # parts are no constants
        ["k=3"],
        ["reader=none"],
        ["paths.root=/elsewhere"],
        ["tracking.experiment=other"],
        ["embedder.path=/weights"],  # the hash says what they are, wherever they lie
        ["embedder.package=null"],
        ["method=tide", "method.w=0.20"],  # the committed value, said again
        ["method=bm25", "method.k1=1.5", "method.ties=oldest"],
        ["dataset.facts=450"],
        ["method=oracle_immune", "ablation=no_heirs"],
        ["index=exact"],
        ["audit=own_score"],  # a tag of its own keeps it out of every other table
        ["audit=newest_first", "audit.pool=30"],
        ["k=20", "audit=plain"],
    ],
    ids=str,
)
def test_what_does_not_count(declared, overrides):
    assert declared(*overrides) == AS_SHIPPED


@pytest.mark.parametrize(
    ("overrides", "as_shipped"),
    [
        (["method=tide", "method.w=0.21"], False),
        (["method.cycle_every=10"], False),
        (["ablation=no_heirs", "method.outlier_z=9"], False),
        (["method.ties=newest"], False),  # declared for BM25 only
        (["method=bm25", "method.ties=newest", "method.k1=2"], False),  # more than the variant
        (["method=tide", "method.w=0.1", "method.half_life=0.25"], False),
        (["method=bm25", "method.ties=newest", "dataset=fc_sh_6k", "dataset.serial=strip"], False),
        (["dataset.facts=60"], True),
        (["dataset.seed=1"], True),
        (["dataset=fc_sh_6k", "dataset.source=factconsolidation_sh_32k"], True),
        (["dataset=fc_sh_6k", "dataset.files.json.sha256=00"], True),
        (["embedder.max_length=64"], True),
        (["embedder.sha256=00"], True),
        (["embedder.revision=main"], True),
        ([*OWN], False),
        ([*OWN, "method.name=mine"], False),
        (["method=oracle_immune", "method.outlier_z=7.0"], False),  # declared for Coral only
        (
            ["method=oracle_immune", "method.lean_cycles=4"],
            False,
        ),  # not its own file's, but Coral's
        (["method=heirs_only", "method.threshold=0.6"], False),
        (["index=hnsw", "index.links=16"], True),
        (["index=hnsw", "index.ef_search=128"], True),
        (["index=hnsw", "method.outlier_z=7.0"], False),  # two variants at once are none
        (["audit=own_score", "audit.pool=50"], True),
        (["audit=own_score", "audit.order=newest"], True),
        (["audit.pool=30"], True),
    ],
    ids=str,
)
def test_anything_else_is_exploratory(declared, overrides, as_shipped):
    assert declared(*overrides) == (as_shipped, "", True)


@pytest.mark.parametrize(
    ("seed", "exploratory"), [(0, False), (4, False), (5, True), (99, True), (None, False)]
)
def test_only_the_seeds_of_the_table_are_declared(declared, seed, exploratory):
    assert declared("method=random", seed=seed) == (True, "", exploratory)
    variant = declared("method=tide", "method.w=0.1", seed=seed)
    assert variant == (False, "tide_w_0.10", exploratory)


def home(name):
    """Options that a variant goes with, beside those it sets itself."""
    return ["dataset=fc_mh_32k"] if name == "serial_strip" else []


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_declared_under_its_name(declared, name):
    shipped = name in ("as_shipped", "serial_strip", "index_hnsw")  # they leave the method alone
    said = "" if name == "as_shipped" else name  # which changes nothing
    assert declared(*home(name), f"variant={name}", seed=None) == (shipped, said, False)
    assert declared(*home(name), f"variant={name}", seed=5)[2]


@pytest.mark.parametrize("name", [name for name in VARIANTS if name.startswith("coral_")])
def test_a_part_may_be_off_under_a_variant(declared, name):
    assert declared(f"variant={name}", "ablation=no_heirs") == (False, name, False)


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        (["method=bm25", "method.ties=newest"], "bm25_ties_newest"),
        (["method=tide", "method.w=0"], "tide_w_0.00"),
        (["method=tide", "method.w=0.40"], "tide_w_0.40"),
        (["method=tide", "method.half_life=0.25"], "tide_half_life_half"),
        (["method.outlier_z=7"], "coral_outlier_z_double"),
        (["method.lean_cycles=2", "ablation=no_calc"], "coral_lean_cycles_half"),
        (["variant=bm25_ties_newest"], "bm25_ties_newest"),
        (["dataset=fc_sh_6k", "dataset.serial=strip"], "serial_strip"),
        (["dataset=fc_mh_6k", "dataset.serial=strip", "method=bm25"], "serial_strip"),
        (["method=dense", "index=hnsw"], "index_hnsw"),
        (["index=hnsw", "index.ef_search=64", "ablation=no_heirs"], "index_hnsw"),
    ],
    ids=str,
)
def test_a_variant_is_found_however_its_values_were_set(declared, overrides, name):
    assert declared(*overrides)[1:] == (name, False)


def test_a_variant_of_one_method_is_none_of_another(declared):
    """The value is what both take, the name says whose variant it is."""
    assert declared("variant=bm25_ties_newest", "method=tide") == (False, "", True)
    assert declared("variant=coral_outlier_z_half", "method=oracle_immune") == (False, "", True)


def test_no_two_variants_set_the_same(compose):
    def told(name):
        cfg = OmegaConf.to_container(compose(*home(name), f"variant={name}"), resolve=True)
        return str({key: value for key, value in cfg.items() if key not in ("paths", "tracking")})

    assert len({told(name) for name in VARIANTS}) == len(VARIANTS)


def test_tides_curve_is_the_declared_one_with_the_shipped_point_on_it(declared):
    """The points of H2's check; a sixth, or a missing one, would change what was declared."""
    values = [float(name.removeprefix("tide_w_")) for name in VARIANTS if "tide_w_" in name]
    (shipped,) = {0.0, 0.05, 0.1, 0.2, 0.4} - set(values)
    assert len(values) == 4
    assert declared("method=tide", f"method.w={shipped}") == AS_SHIPPED


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["method.name=bm25"], "method.name=bm25 would let method=coral pass for another"),
        (["method.name=mine"], "method=coral"),
        (["dataset.name=fc_sh_6k"], "dataset.name=fc_sh_6k would let dataset=synthetic pass"),
        (["embedder.name=bge_small"], "embedder.name=bge_small would let embedder=minilm pass"),
        (["index.name=hnsw"], "index.name=hnsw would let index=exact pass for another"),
        (["audit.name=plain"], "audit.name=plain would let audit=none pass for another"),
        (
            [*OWN, "method.name=coral"],
            "method.name=coral is the name of another method: choose one of your own",
        ),
    ],
    ids=str,
)
def test_no_option_passes_for_another(declared, overrides, words):
    with pytest.raises(ConfigError) as refused:
        declared(*overrides)
    assert words in str(refused.value)


@pytest.fixture
def own_method(tmp_path):
    """Writes ``method/mine.yaml`` into a folder of one's own; the override that adds the folder."""

    def write(content, name="mine"):
        (tmp_path / "method").mkdir()
        (tmp_path / "method" / f"{name}.yaml").write_text(content)
        return f"hydra.searchpath=[file://{tmp_path}]"

    return write


CUSTOM = (
    "defaults: [/schema/method/custom@_here_, _self_]\n"
    "_target_: engram_hydra.memories.dense.Dense\n"
    "name: mine\n"
)


def test_a_method_file_of_ones_own_is_as_its_file_says(declared, own_method):
    folder = own_method(f"{CUSTOM}params: {{alpha: 0.5}}\n")
    assert declared(folder, "method=mine") == AS_SHIPPED
    assert declared(folder, "method=mine", "method.params.alpha=1") == (False, "", True)
    assert declared(folder, "method=mine", "+method.params.beta=1") == (False, "", True)
    # what the file leaves out is as the schema says
    assert declared(folder, "method=mine", "method.ties=newest") == (False, "", True)


def test_ones_own_switches_do_not_count(declared, own_method):
    folder = own_method(f"{CUSTOM}switches: {{pointer: true}}\n")
    assert declared(folder, "method=mine") == AS_SHIPPED
    assert declared(folder, "method=mine", "method.switches.pointer=false") == AS_SHIPPED


@pytest.mark.parametrize("parent", ["bm25", "bm25@_here_", "/method/bm25@_here_"])
def test_a_method_file_may_build_on_another(declared, own_method, parent):
    folder = own_method(f"defaults: [{parent}, _self_]\nname: mine\nk1: 2.0\n")
    assert declared(folder, "method=mine") == AS_SHIPPED
    assert declared(folder, "method=mine", "method.k1=1.5") == (False, "", True)
    assert declared(folder, "method=mine", "method.b=1.0") == (False, "", True)


@pytest.mark.parametrize("name", ["a b", "a/b", "'ä'", "a|b", "'a,b'"])
def test_a_name_must_fit_into_tables_and_files(declared, name):
    with pytest.raises(ConfigError, match=r"use letters, digits and _ \. - only"):
        declared(*OWN, f"method.name={name}")


@pytest.mark.parametrize(
    "name", ["Dense", "BM25", "coral", "oracle_immune", "heirs_only", "Heirs_Only"]
)
def test_a_method_of_ones_own_takes_no_name_that_is_taken(declared, own_method, name):
    words = f"method.name={name} is the name of another method: choose one of your own"
    with pytest.raises(ConfigError, match=words):
        declared(*OWN, f"method.name={name}")
    if name in ("Dense", "BM25", "Heirs_Only"):  # of the others' names there are shipped files
        folder = own_method(CUSTOM.replace("mine", name), name)
        with pytest.raises(ConfigError, match=words):
            declared(folder, f"method={name}")


@pytest.mark.parametrize("name", ["mine", "mine-2.0", "my_dense", "custom"])
def test_a_name_of_ones_own_is_taken(declared, name):
    own = (*OWN, f"method.name={name}")
    assert declared(*own) == (False, "", True)


def test_another_conf_folder_does_not_make_other_constants_as_shipped(compose, tmp_path):
    """As under --config-path."""
    shutil.copytree(conf_dir(), tmp_path / "conf")
    tide = tmp_path / "conf" / "method" / "tide.yaml"
    assert "\nw: 0.2" in tide.read_text()
    tide.write_text(tide.read_text().replace("\nw: 0.2", "\nw: 0.3"))
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(config_dir=str(tmp_path / "conf"), version_base="1.3"):
        cfg = hydra.compose("config", overrides=["method=tide"], return_hydra_config=True)
    assert cfg.method.w == pytest.approx(0.3)
    assert said_of(cfg) == (False, "", True)
    HydraConfig.instance().cfg = None


def test_a_file_of_ones_own_does_not_pass_for_another_method(declared, own_method):
    folder = own_method(CUSTOM.replace("name: mine", "name: coral"))
    with pytest.raises(ConfigError, match=r"method\.name=coral would let method=mine"):
        declared(folder, "method=mine")
