"""conf/ itself: every option says what it is, composes, and does what its name says."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from engram_hydra import conf_dir as module
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import Coral, ablation_of
from engram_hydra.validation import validate

CONF = Path(conf_dir())
FILES = sorted(CONF.rglob("*.yaml"))


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
        for group in ("method", "dataset", "embedder", "reader", "tracking", "paths")
        for option in options(group)
    ],
)
def test_every_option_composes_and_passes(compose, override):
    group, _, option = override.partition("=")
    own = ["method._target_=my.Memory"] if option == "custom" else []
    cfg = compose(override, *own)
    validate(cfg)
    if group not in ("tracking", "paths"):
        assert cfg[group].name == option


@pytest.mark.parametrize("group", ["dataset", "embedder", "reader", "tracking", "paths"])
def test_every_option_suits_the_final_job(compose, group):
    for option in options(group):
        validate(compose(f"{group}={option}", config="aggregate"))


@pytest.mark.parametrize("method", ["coral", "tide"])
def test_the_calibration_composes(compose, method):
    cfg = compose(f"method={method}", config="calibrate")
    assert cfg.method.name == method
    assert cfg.calibration.steps


def test_all_fact_consolidation_sets_are_there_and_read_the_row_they_name(compose):
    names = {f"{kind}_{size}" for kind, size in product(["sh", "mh"], ["6k", "32k", "64k", "262k"])}
    assert {f"fc_{name}" for name in names} | {"synthetic"} == set(options("dataset"))
    for name in names:
        data = compose(f"dataset=fc_{name}").dataset
        assert data.source == f"factconsolidation_{name}"
        assert data.serial == "keep"
        assert {entry.sha256[:6] for entry in data.files.values()} == {"24d5c3", "d5168e"}


def test_the_defaults_are_the_protocol_s(compose):
    cfg = compose()
    chosen = {group: cfg[group].name for group in ("method", "dataset", "embedder", "reader")}
    assert chosen == {
        "method": "coral",
        "dataset": "synthetic",
        "embedder": "minilm",
        "reader": "newest",
    }
    assert (cfg.k, cfg.seed) == (10, 0)
    for method in options("method"):
        assert OmegaConf.load(CONF / "method" / f"{method}.yaml").ties == "oldest"


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


@pytest.mark.parametrize("ablation", [name for name in options("ablation") if name != "none"])
@pytest.mark.parametrize("method", [name for name in options("method") if name != "coral"])
def test_an_ablation_goes_with_no_other_method(compose, ablation, method):
    with pytest.raises(Exception, match="not in"):
        compose(f"method={method}", f"ablation={ablation}")


# Experiments


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_job_of_an_experiment_composes_and_passes(compose, experiment):
    cfg = compose(f"+experiment={experiment}", return_hydra_config=True)
    swept = cfg.hydra.sweeper.params or {}
    for key, values in swept.items():
        listed = str(values).split(",")
        assert len(set(listed)) == len(listed)
        for value in listed:
            validate(compose(f"+experiment={experiment}", f"{key}={value}"))


def test_the_experiments_are_what_the_table_needs(compose):
    def swept(experiment):
        cfg = compose(f"+experiment={experiment}", return_hydra_config=True)
        return {key: str(v).split(",") for key, v in cfg.hydra.sweeper.params.items()}

    seeds = ["0", "1", "2", "3", "4"]
    four = ["none", "no_heirs", "no_calc", "no_immune"]
    assert swept("ablations") == {"ablation": four, "seed": seeds}
    every = swept("all_ablations")
    assert sorted(every["ablation"]) == options("ablation")
    assert every["seed"] == seeds
    anchors = swept("anchors")
    assert set(anchors["method"]) == set(options("method")) - {"coral", "custom"}
    assert anchors["seed"] == seeds


def test_the_other_tie_rule_is_a_run_of_bm25(compose):
    plain, ties = values_of(compose("method=bm25")), values_of(compose("+experiment=bm25_ties"))
    assert {key: ties[key] for key in ties if ties[key] != plain[key]} == {"method.ties": "newest"}


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


@pytest.mark.parametrize("group", ["method", "ablation", "embedder", "reader", "experiment"])
def test_the_help_names_every_option(group):
    text = (CONF / "hydra" / "help" / "engram_hydra.yaml").read_text(encoding="utf-8")
    assert [name for name in options(group) if name not in text] == []
