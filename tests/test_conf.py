"""conf/ itself: every option says what it is, composes, and does what its name says."""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest
from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.types import HydraContext
from hydra.utils import instantiate
from omegaconf import OmegaConf

from engram_hydra import conf_dir as module
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import Coral, Tide
from engram_hydra.datasets.longmemeval import pilot_ids
from engram_hydra.options import ablation_of
from engram_hydra.validation import validate

CONF = Path(conf_dir())
FILES = sorted(CONF.rglob("*.yaml"))
OWN = {  # what only the user can say
    "method=custom": ["method._target_=my.Memory"],
    "reader=openai": ["reader.model=mine"],
    "tracking=server": ["tracking.uri=http://127.0.0.1:5000"],
}


def options(group):
    return sorted(file.stem for file in (CONF / group).glob("*.yaml"))


def flat(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def values_of(cfg):
    return dict(flat(OmegaConf.to_container(cfg, resolve=True)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CONF)))
def test_every_file_opens_with_a_comment_that_says_what_it_is(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    first = next(line for line in lines if not line.startswith("# @package"))
    assert first.startswith("# ")
    assert len(first.split()) > 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CONF)))
def test_no_option_has_a_name_that_yaml_reads_as_something_else(file):
    read = OmegaConf.to_container(OmegaConf.create(f"name: {file.stem}"))["name"]
    assert read == file.stem


@pytest.mark.parametrize(
    "override",
    [
        f"{group}={option}"
        for group in (
            "method",
            "dataset",
            "embedder",
            "index",
            "reader",
            "audit",
            "tracking",
            "paths",
        )
        for option in options(group)
    ],
)
def test_every_option_composes_and_passes(compose, override):
    group, _, option = override.partition("=")
    cfg = compose(override, *OWN.get(override, []))
    validate(cfg)
    if group not in ("tracking", "paths"):
        assert cfg[group].name == option


@pytest.mark.parametrize("group", ["embedder", "reader", "tracking", "paths"])
def test_every_option_suits_the_final_job(compose, group):
    for option in options(group):
        own = OWN.get(f"{group}={option}", [])
        validate(compose(f"{group}={option}", *own, config="aggregate"))


@pytest.mark.parametrize("method", ["coral", "tide"])
def test_the_calibration_composes(compose, method):
    cfg = compose(f"method={method}", config="calibrate")
    assert cfg.method.name == method
    assert cfg.calibration.steps


def test_all_fact_consolidation_sets_are_there_and_read_the_row_they_name(compose):
    names = {f"{kind}_{size}" for kind, size in product(["sh", "mh"], ["6k", "32k", "64k", "262k"])}
    assert {f"fc_{name}" for name in names} == {o for o in options("dataset") if o[:3] == "fc_"}
    for name in names:
        data = compose(f"dataset=fc_{name}").dataset
        assert data.source == f"factconsolidation_{name}"
        assert data.serial == "keep"
        assert {entry.sha256[:6] for entry in data.files.values()} == {"24d5c3", "d5168e"}


def test_the_longmemeval_sets_are_the_protocol_s(compose, engram_data):
    whole, pilot, sample = (
        compose(f"dataset=longmemeval_{name}").dataset for name in ("s", "s_pilot", "sample")
    )
    for each in (whole, pilot, sample):
        assert (each.granularity, each.roles) == ("session", "user")
        assert (each.path, each.sha256) == (None, None)
    assert whole.files == pilot.files
    assert (whole.only, sample.only) == (None, None)
    ids = json.loads((engram_data / "longmemeval" / "question_ids.json").read_text("utf-8"))
    assert list(pilot.only) == pilot_ids(ids)


def test_the_defaults_are_the_protocol_s(compose):
    cfg = compose()
    chosen = {
        group: cfg[group].name
        for group in ("method", "dataset", "embedder", "index", "reader", "audit")
    }
    assert chosen == {
        "method": "coral",
        "dataset": "synthetic",
        "embedder": "minilm",
        "index": "exact",  # of every scored run
        "reader": "newest",
        "audit": "none",
    }
    assert (cfg.k, cfg.seed) == (10, 0)
    for method in options("method"):
        own = OWN.get(f"method={method}", [])
        assert compose(f"method={method}", *own).method.ties == "oldest"


def test_runs_and_table_look_in_the_same_store(compose):
    run, table = compose(), compose(config="aggregate")
    assert run.tracking == table.tracking
    assert (run.k, run.reader.name, run.embedder.name) == (
        table.k,
        table.reader.name,
        table.embedder.name,
    )


# Ablations


def test_every_part_of_coral_has_its_ablation_and_there_are_no_others():
    parts = [spec.metadata["ablation"] for spec in fields(Coral) if "ablation" in spec.metadata]
    assert len(set(parts)) == len(parts)
    assert sorted([*parts, "none"]) == options("ablation")


@pytest.mark.parametrize("ablation", options("ablation"))
def test_an_ablation_switches_the_part_it_names_and_nothing_else(compose, ablation):
    whole, without = values_of(compose()), compose(f"ablation={ablation}")
    validate(without)
    assert ablation_of(without.method) == ablation
    values = values_of(without)
    changed = {key: values[key] for key in values if values[key] != whole[key]}
    assert values.keys() == whole.keys()
    part = {
        spec.metadata["ablation"]: spec.name
        for spec in fields(Coral)
        if "ablation" in spec.metadata
    }
    expected = {} if ablation == "none" else {f"method.{part[ablation]}": False}
    assert changed == expected


NO_CORAL = [name for name in options("method") if name not in ("coral", "oracle_immune")]


@pytest.mark.parametrize("ablation", [name for name in options("ablation") if name != "none"])
@pytest.mark.parametrize("method", NO_CORAL)
def test_an_ablation_goes_with_no_other_method(compose, ablation, method):
    with pytest.raises(Exception, match="not in"):
        compose(f"method={method}", f"ablation={ablation}")


def test_the_oracle_is_coral_of_another_class(compose):
    coral, oracle = values_of(compose()), values_of(compose("method=oracle_immune"))
    assert coral.keys() == oracle.keys()
    differing = {key for key in coral if coral[key] != oracle[key]}
    assert differing == {"method._target_", "method.name"}


# Variants


def changed_by(compose, variant):
    """What a variant sets, beside the method's own values."""
    cfg = compose(f"variant={variant}")
    plain = values_of(compose(f"method={cfg.method.name}", f"dataset={cfg.dataset.name}"))
    values = values_of(cfg)
    return {key: values[key] for key in values if key not in plain or values[key] != plain[key]}


CAPPED = {"coral_fixed_cosine_double": 1.0, "coral_lean_cycles_half": 2}  # each file says why
NOT_NUMBERS = {"cycle_every"}  # as shipped there are no cycles: nothing to halve


@pytest.mark.parametrize(
    ("method", "constant"),
    [
        (method, spec.name)
        for method, schema in (("coral", Coral), ("tide", Tide))
        for spec in fields(schema)
        if "ge" in spec.metadata and spec.name not in NOT_NUMBERS
    ],
)
def test_every_constant_of_coral_and_tide_is_halved_and_doubled(compose, method, constant):
    shipped = compose(f"method={method}").method[constant]
    for word, factor in (("half", 0.5), ("double", 2)):
        name = f"{method}_{constant}_{word}"
        if constant == "w":  # two points of its curve
            name = f"tide_w_{shipped * factor:.2f}"
        expected = CAPPED.get(name, shipped * factor)
        assert changed_by(compose, name) == {f"method.{constant}": expected}
        validate(compose(f"variant={name}"))
        assert compose(f"variant={name}").method.name == method


def test_capped_values_are_as_near_as_can_be(compose):
    coral = compose().method
    assert coral.fixed_cosine * 2 > 1  # no cosine is more
    assert coral.lean_cycles % 2 == 1  # no whole number is half of it


def test_the_other_variants_set_what_they_name(compose):
    halves = {f"coral_{spec.name}_{word}" for spec in fields(Coral) for word in ("half", "double")}
    others = set(options("variant")) - halves - {"tide_half_life_half", "tide_half_life_double"}
    curve = {f"tide_w_{w}": {"method.w": float(w)} for w in ("0.00", "0.05", "0.10", "0.40")}
    expected = curve | {"bm25_ties_newest": {"method.ties": "newest"}}
    expected["bm25_split_space"] = {"method.tokenizer": "split_space"}
    expected["as_shipped"] = {}
    assert others == {*expected, "serial_strip", "index_hnsw"}
    for name, values in expected.items():
        assert changed_by(compose, name) == values
    for method in ("dense", "coral"):
        assert (
            compose(f"method={method}", "variant=index_hnsw").index == compose("index=hnsw").index
        )
    for dataset in ("fc_sh_6k", "fc_mh_262k"):
        cfg = compose(f"dataset={dataset}", "variant=serial_strip")
        validate(cfg)
        plain, values = values_of(compose(f"dataset={dataset}")), values_of(cfg)
        assert {key for key in plain if plain[key] != values[key]} == {"dataset.serial"}
        assert values["dataset.serial"] == "strip"


@pytest.mark.parametrize("variant", options("variant"))
def test_a_variant_says_where_it_belongs(compose, variant):
    """A variant of one method does not go with another that lacks its constants."""
    if variant.startswith(("coral_", "tide_")):
        with pytest.raises(Exception, match="not in"):
            compose(f"variant={variant}", "method=bm25")


# Experiments


def jobs(compose, experiment, *arguments):
    """The overrides of each job of an experiment's sweep, those of the command line last."""
    cfg = compose(f"+experiment={experiment}", return_hydra_config=True)
    assert cfg.hydra.mode.name == "MULTIRUN"
    sweeper = instantiate(cfg.hydra.sweeper)
    sweeper.hydra_context = HydraContext(GlobalHydra.instance().config_loader(), Callbacks())
    return sweeper.jobs([f"+experiment={experiment}", *arguments])


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_job_of_an_experiment_composes_and_passes(compose, experiment):
    every = jobs(compose, experiment)
    # Composing takes a while, and seeds differ in nothing that could be refused.
    for job in {tuple(word for word in job if not word.startswith("seed=")) for job in every}:
        validate(compose(*job))


SEEDS = {"0", "1", "2", "3", "4"}
NAMED = ("none", "no_heirs", "no_calc", "no_immune")
COMPARED = ("bm25", "dense", "tide")


def swept(compose, experiment, *keys):
    """What the experiment's jobs set ``keys`` to, None where they leave one, all of it with all seeds."""
    taken = set()
    for job in jobs(compose, experiment):
        values = dict(word.split("=", 1) for word in job)
        assert set(values) <= {*keys, "seed", "+experiment"}
        taken.add((values["seed"], *(values.get(key) for key in keys)))
    assert taken == {(seed, *values) for seed in SEEDS for _, *values in taken}
    return {values[0] if len(keys) == 1 else tuple(values) for _, *values in taken}


def test_the_experiments_are_what_the_table_needs(compose):
    assert swept(compose, "ablations", "ablation") == set(NAMED)
    assert swept(compose, "all_ablations", "ablation") == set(options("ablation"))
    assert swept(compose, "anchors", "method", "variant") == {
        *((method, None) for method in (*COMPARED, "random")),
        (None, "bm25_ties_newest"),
    }


def test_subem_is_for_every_length_coral_with_its_parts_and_what_it_is_compared_with(compose):
    rows = {("coral", part) for part in NAMED} | {(method, None) for method in COMPARED}
    lengths = {name for name in options("dataset") if name.startswith("fc_")}
    assert len(lengths) == 8
    assert swept(compose, "subem", "dataset", "method", "ablation") == {
        (dataset, *row) for dataset in lengths for row in rows
    }
    for job in jobs(compose, "subem", "reader=none"):
        assert job[-1] == "reader=none"
    assert compose(*job).reader.name == "none"


def test_the_factorial_is_every_combination_of_heirs_and_calcification(compose):
    named = {}
    for job in jobs(compose, "factorial"):
        method = compose(*job).method
        assert method.immune_response
        named[ablation_of(method)] = (method.heirs, method.calcification)
    assert named == {
        "none": (True, True),
        "no_heirs": (False, True),
        "no_calc": (True, False),
        "no_heirs+no_calc": (False, False),
    }
    assert len(swept(compose, "factorial", "ablation")) == 4


def test_the_ceilings_are_runs_of_two_methods(compose):
    assert swept(compose, "ceilings", "method") == {"oracle_immune", "heirs_only"}


def test_the_audit_has_every_rule_on_both_sides(compose):
    rules = set(options("audit")) - {"none"}
    both = set(product(("dense", "coral"), rules))
    assert swept(compose, "audit", "method", "audit") == both


def test_the_sensitivity_runs_hold_every_declared_change_of_a_constant(compose):
    """Each beside what it is compared with."""
    coral = {name for name in options("variant") if name.startswith("coral_")}
    only_there = {"coral_fixed_cosine_double", "coral_fixed_cosine_half"}  # acts nowhere else
    tide = {name for name in options("variant") if name.startswith("tide_")}
    parts = ("none", "no_heirs", "no_calc")
    assert swept(compose, "sensitivity", "variant", "ablation") == {
        *product((coral - only_there) | {"as_shipped"}, parts),
        *product(only_there | {"as_shipped"}, ["fixed_threshold"]),
        *product(tide, [None]),
    }


def test_facts_without_serial_numbers_are_run_as_those_with_them(compose):
    rows = {("coral", part) for part in NAMED} | {(m, None) for m in (*COMPARED, "random")}
    keys = ("variant", "dataset", "method", "ablation")
    assert swept(compose, "sensitivity_serial", *keys) == {
        ("serial_strip", dataset, *row) for dataset in ("fc_sh_6k", "fc_mh_6k") for row in rows
    }


# Where it is found, and what --help says of it


def test_conf_is_found_in_the_package_else_in_the_checkout(tmp_path, monkeypatch):
    package = tmp_path / "checkout" / "src" / "engram_hydra"
    package.mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(package / "conf_dir.py"))
    assert conf_dir() == str(tmp_path / "checkout" / "conf")
    (package / "conf").mkdir()
    assert conf_dir() == str(package / "conf")


def test_this_conf_is_that_of_the_code_under_test():
    assert CONF.is_absolute()
    assert (CONF / "config.yaml").is_file()


@pytest.mark.parametrize(
    "group", ["method", "ablation", "embedder", "index", "reader", "audit", "experiment"]
)
def test_the_help_names_every_option(group):
    text = (CONF / "hydra" / "help" / "engram_hydra.yaml").read_text(encoding="utf-8")
    assert [name for name in options(group) if name not in text] == []
