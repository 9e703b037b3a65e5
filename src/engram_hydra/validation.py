"""What a type cannot refuse: numbers out of range, words not allowed, options that do not go together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import Config, schema_of
from engram_hydra.errors import ConfigError
from engram_hydra.memories.build import memory_class
from engram_hydra.names import PLAIN, is_plain
from engram_hydra.readers.chat_options import check
from engram_hydra.run_key import NOT_ASKED, reader_of
from engram_hydra.secrets import refuse_in_options
from engram_hydra.tracking import flatten


def validate(cfg: DictConfig) -> None:
    """Hold every option of a run to its schema, and to the others.

    Raises ConfigError naming the key, its value and what is allowed.
    """
    for key, value, spec in _declared(cfg, ""):
        meta = spec.metadata
        if "allowed" in meta and value not in meta["allowed"]:
            raise ConfigError(
                f"{key}={value} is not allowed: choose {' or '.join(meta['allowed'])}."
            )
        if "ge" in meta and value is not None and not _in_range(value, meta):
            raise ConfigError(f"{key}={value} is out of range: it must be {_range(spec)}.")
    refuse_in_options(flatten(OmegaConf.to_container(cfg, resolve=True)))  # type: ignore[arg-type]
    if schema_of(cfg) is Config:
        _go_together(cfg)


def _go_together(cfg: DictConfig) -> None:
    """Refuse what each option allows and all of them together do not."""
    if not is_plain(cfg.dataset.name):  # it becomes part of the report's files' names
        raise ConfigError(f"dataset.name={cfg.dataset.name} is not allowed: use {PLAIN}.")
    if cfg.dataset.get("sha256") and not cfg.dataset.path:
        raise ConfigError("dataset.sha256 is of a file of your own: set dataset.path to it, too.")
    if "base_url" in cfg.reader:
        check(cfg.reader)
        if reader_of(cfg) == NOT_ASKED:
            raise ConfigError(
                f"reader={cfg.reader.name} has nothing to answer on dataset={cfg.dataset.name}, which"
                " is scored on retrieval: leave the reader as it is, or take FactConsolidation."
            )
    index, audit = cfg.index.name, cfg.audit
    if index != "exact" and not memory_class(cfg.method).uses_index:
        raise ConfigError(
            f"index={index} does nothing for method={cfg.method.name}, which searches exactly:"
            " leave index=exact."
        )
    if index != "exact" and cfg.embedder.overflow == "chunk":
        raise ConfigError(
            f"index={index} holds one vector for each item, and embedder.overflow=chunk gives a long"
            " text several: set index=exact or embedder.overflow=truncate."
        )
    if audit.pool is not None and audit.pool < cfg.k:
        raise ConfigError(
            f"audit.pool={audit.pool} is smaller than k={cfg.k}: the pool is cut to k items,"
            " so let it hold at least as many."
        )


def _declared(cfg: DictConfig, prefix: str) -> Iterator[tuple[str, Any, Field[Any]]]:
    """Every option of ``cfg`` and below it: its key, its value, and what its schema says of it."""
    specs = {spec.name: spec for spec in fields(schema_of(cfg))}
    names = [str(name) for name in cfg]
    for name in names:
        if name not in specs:
            owner = prefix.rstrip(".") or "a run"
            raise ConfigError(f"{prefix}{name} is no option: {owner} takes {', '.join(specs)}.")
    for name, spec in specs.items():
        key = f"{prefix}{name}"
        if name not in names or OmegaConf.is_missing(cfg, name):
            raise ConfigError(f"{key} has no value: set it with {key}=…")
        yield key, cfg[name], spec
        yield from _below(cfg[name], key)


def _below(value: Any, key: str) -> Iterator[tuple[str, Any, Field[Any]]]:
    if not isinstance(value, DictConfig):
        return
    if schema_of(value) is not dict:
        yield from _declared(value, f"{key}.")
    else:
        for name in value:
            yield from _below(value[name], f"{key}.{name!s}")


def _in_range(value: float, meta: Any) -> bool:
    return math.isfinite(value) and meta["ge"] <= value <= meta["le"] and meta["gt"] < value


def _range(spec: Field[Any]) -> str:
    words = {"ge": "at least", "gt": "above", "le": "at most"}
    ends = {word: spec.metadata[end] for end, word in words.items()}
    bounds = " and ".join(f"{word} {end:g}" for word, end in ends.items() if math.isfinite(end))
    kind = "a whole number" if "int" in str(spec.type) else "a number"
    return f"{kind} {bounds}".strip()
