"""Whether a run is one that was declared before it ran: as shipped, a declared variant, or exploratory."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import schema_of
from engram_hydra.errors import ConfigError
from engram_hydra.options import switches_of
from engram_hydra.run_key import is_approximate

TABLE_SEEDS = range(5)
COMPARED = (
    "method",
    "dataset",
    "embedder",
    "index",
    "reader",
    "audit",
)  # groups that change a result


@dataclass(frozen=True)
class Declaration:
    """``as_shipped``: every constant of the method is the committed one, whatever is switched off.

    ``variant`` is the name of the declared variant, or empty. ``undeclared`` says what makes a run
    exploratory, so that it stands in no table and no verdict; empty for all others.
    """

    as_shipped: bool
    variant: str
    undeclared: tuple[str, ...] = ()

    @property
    def exploratory(self) -> bool:
        return bool(self.undeclared)


def declaration(cfg: DictConfig, seed: int | None) -> Declaration:
    """Compare a run's options with the committed ones of the same names.

    ``seed`` is ``None`` for deterministic methods. Raises ConfigError where an option goes by the
    name of another.
    """
    choices, folders = _choices(cfg), _folders()
    differences: dict[str, Any] = {}
    if is_approximate(cfg):  # a difference even with the values in its file
        differences["index"] = cfg.index.name
    for group in COMPARED:
        shipped = _committed(group, choices[group], folders)
        _check_name(cfg[group].name, group, choices[group])
        differences |= _differences(cfg[group], shipped, group)
    differences |= _other_file(cfg.dataset)
    variant = "" if not differences else _variant(differences, cfg.method.name)
    undeclared = () if variant else tuple(differences)
    if seed is not None and seed not in TABLE_SEEDS:
        undeclared += ("seed",)
    return Declaration(
        not any(key.startswith("method.") for key in differences), variant, undeclared
    )


def _choices(cfg: DictConfig) -> dict[str, str]:
    """The option that was chosen of each group: what Hydra says, else what each calls itself."""
    from hydra.core.hydra_config import HydraConfig

    if HydraConfig.initialized():
        return dict(HydraConfig.get().runtime.choices)
    return {group: cfg[group].name for group in COMPARED}


def _folders() -> list[Path]:
    """The folders options come from: the shipped one first, whatever else Hydra was told to search."""
    from hydra.core.hydra_config import HydraConfig

    shipped = Path(conf_dir())
    if not HydraConfig.initialized():
        return [shipped]
    sources = HydraConfig.get().runtime.config_sources
    return [shipped, *(Path(source.path) for source in sources if source.schema == "file")]


def _committed(group: str, option: str, folders: list[Path]) -> dict[str, Any]:
    """What the option's file says, with the files it builds on (schemas aside)."""
    file = next(
        (f for f in (folder / group / f"{option}.yaml" for folder in folders) if f.is_file()), None
    )
    if file is None:
        return {}
    content: Any = OmegaConf.to_container(OmegaConf.load(file))
    below: dict[str, Any] = {}
    for entry in content.pop("defaults", []):
        if isinstance(entry, str) and entry != "_self_" and not entry.startswith("/schema/"):
            parent, _, name = entry.removesuffix("@_here_").strip("/").rpartition("/")
            below |= _committed(parent or group, name, folders)
    return {**below, **content}


def _check_name(name: str, group: str, option: str) -> None:
    """A name must say which option it is: tables and files go by it."""
    if name != option and option != "custom":
        raise ConfigError(
            f"{group}.name={name} would let {group}={option} pass for another: leave {group}.name as it is."
        )
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise ConfigError(
            f"{group}.name={name} can't stand in tables and files: use letters, digits and _ . - only."
        )
    shipped = {file.stem for file in (Path(conf_dir()) / group).glob("*.yaml")} - {"custom"}
    others = {other.lower() for other in shipped}
    if name.lower() in others and not (name == option and option in shipped):
        raise ConfigError(
            f"{group}.name={name} is the name of another {group}: choose one of your own."
        )


def _differences(options: DictConfig, shipped: dict[str, Any], group: str) -> dict[str, Any]:
    """Options whose value is not the committed one.

    The parts that ablations switch do not count, nor what changes no result or selects a table.
    """
    free = {
        spec.name
        for spec in fields(schema_of(options))
        if {"aside", "selected"} & set(spec.metadata)
    }
    free |= {*switches_of(options), "switches"}
    values: Any = OmegaConf.to_container(options, resolve=True)
    # On the schema, whose defaults stand for what the file leaves out, at any depth.
    on_schema = OmegaConf.merge(OmegaConf.structured(schema_of(options)), shipped)
    committed: Any = OmegaConf.to_container(on_schema)
    return {
        f"{group}.{name}": value
        for name, value in values.items()
        if name not in free and value != committed[name]
    }


def _other_file(dataset: DictConfig) -> dict[str, Any]:
    """The data set's own file, unless it is held to one of the hashes that are pinned."""
    path = dataset.get("path")
    pinned = {form.sha256 for form in dataset.get("files", {}).values()}
    return {"dataset.path": path} if path and dataset.sha256 not in pinned else {}


def _variant(differences: dict[str, Any], method: str) -> str:
    """The declared variant that sets exactly these values (for this method, if it names one), or ''."""
    for file in sorted((Path(conf_dir()) / "variant").glob("*.yaml")):
        content: Any = OmegaConf.to_container(OmegaConf.load(file))
        values: dict[str, Any] = {}
        for entry in content.pop("defaults", []):
            ((override, option),) = entry.items()
            values[override.removeprefix("override /")] = option
        named = values.pop("method", method)
        for group, options in content.items():
            values |= {f"{group}.{name}": value for name, value in options.items()}
        if (values, named) == (differences, method):
            return file.stem
    return ""
