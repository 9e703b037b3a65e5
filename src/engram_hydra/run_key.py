"""What makes two runs the same run, and what a run is called."""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import LongMemEval, schema_of
from engram_hydra.memories.build import memory_class
from engram_hydra.options import ablation_of, constants_of, switches_of

NOT_ASKED = "n/a"


def seed_of(cfg: DictConfig) -> int | None:
    """The seed where it can change the result; ``None`` where the run is deterministic."""
    stochastic = memory_class(cfg.method).is_stochastic(constants_of(cfg.method))
    return int(cfg.seed) if stochastic or is_approximate(cfg) else None


def embedder_of(cfg: DictConfig) -> str:
    """The embedder's name; ``none`` for a method without vectors."""
    return str(cfg.embedder.name) if memory_class(cfg.method).uses_vectors else "none"


def index_of(cfg: DictConfig) -> str:
    """The index's name; ``none`` for a method that searches none."""
    return str(cfg.index.name) if memory_class(cfg.method).uses_index else "none"


def is_approximate(cfg: DictConfig) -> bool:
    """Whether the search may miss an item: by a graph, which is drawn from the seed."""
    return index_of(cfg) not in ("none", "exact")


def reader_of(cfg: DictConfig) -> str:
    """The reader's name, with its model if it has one; ``n/a`` where the data are not to be answered."""
    if issubclass(schema_of(cfg.dataset), LongMemEval):
        return NOT_ASKED
    return reader_label(cfg.reader)


def reader_label(reader: DictConfig) -> str:
    """The reader's name, with its model if it has one."""
    return f"{reader.name}:{reader.model}" if "model" in reader else str(reader.name)


def config_key(cfg: DictConfig) -> str:
    """Digest of every option that can change the result, and of no other."""
    identity = _what_counts(cfg)
    identity["seed"] = seed_of(cfg)
    if embedder_of(cfg) == "none":
        del identity["embedder"]
    if index_of(cfg) == "none":
        del identity["index"]
    if reader_of(cfg) == NOT_ASKED:
        del identity["reader"]
    return _digest(identity)


def _what_counts(options: Any) -> Any:
    """The options as plain values, without those that their schemas set aside."""
    if not isinstance(options, DictConfig) or not is_dataclass(schema := schema_of(options)):
        return OmegaConf.to_container(options) if OmegaConf.is_config(options) else options
    return {
        spec.name: _what_counts(options[spec.name])
        for spec in fields(schema)
        if "aside" not in spec.metadata
    }


def run_key(cfg: DictConfig, data_sha256: str, code_sha256: str) -> str:
    """Digest of all that a run's result follows from: options, data, weights and code."""
    return _digest([config_key(cfg), method_sha256(cfg.method), data_sha256, code_sha256])


def method_sha256(method: DictConfig) -> str:
    """Digest of a method's constants, its switches aside, and of the file its class stands in.

    Runs of one method stand in one table only if they share it. The file counts for classes outside
    this package, whose own files ``code_sha256`` covers.
    """
    switches = switches_of(method)
    constants = {k: v for k, v in constants_of(method).items() if k not in switches}
    source = None
    cls = memory_class(method)
    if not cls.__module__.startswith("engram_hydra."):
        file = inspect.getsourcefile(cls)
        source = file and hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return _digest([method._target_, constants, source])


def code_sha256() -> str:
    """Digest of this package's Python files, names and contents."""
    package = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def run_name(cfg: DictConfig, variant: str = "") -> str:
    """``coral/no_heirs/fc_mh_6k/seed3``, and what is not as usual (variant, index, audit): for people."""
    seed = seed_of(cfg)
    parts = [cfg.method.name, ablation_of(cfg.method), cfg.dataset.name]
    parts.append("deterministic" if seed is None else f"seed{seed}")
    if variant:
        parts.append(variant)
    elif is_approximate(cfg):
        parts.append(cfg.index.name)
    if cfg.audit.name != "none":
        parts.append(f"audit_{cfg.audit.name}")
    return "/".join(parts)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
