"""The schema of every option: names, types, and the values allowed.

Types are checked by Hydra as it composes; ranges, which Hydra does not know, by ``validation``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from engram_hydra.constraints import choice, number, switch

# Methods


@dataclass
class Method:
    _target_: str = MISSING
    name: str = MISSING
    ties: str = choice("oldest", "oldest", "newest")


@dataclass
class BM25(Method):
    k1: float = number(MISSING, ge=0)
    b: float = number(MISSING, ge=0, le=1)
    epsilon: float = number(MISSING, ge=0)


@dataclass
class Dense(Method):
    pass


@dataclass
class Tide(Method):
    w: float = number(MISSING, ge=0, le=1)
    half_life: float = number(MISSING, gt=0)


@dataclass
class HeirsOnly(Method):
    threshold: float = number(MISSING, ge=-1, le=1)


@dataclass
class Random(Method):
    pass


@dataclass
class Coral(Method):
    settling_exponent: float = number(MISSING, ge=0)
    founding_affinity: float = number(MISSING, gt=0, le=1)
    min_reef_size: int = number(MISSING, ge=1)
    outlier_z: float = number(MISSING, ge=0)
    resistance: float = number(MISSING, ge=0)
    fixed_cosine: float = number(MISSING, ge=-1, le=1)
    calcified_score: float = number(MISSING, ge=0, le=1)
    mass_split: float = number(MISSING, ge=0, le=1)
    maintenance_cost: float = number(MISSING, ge=0)
    lean_cycles: int = number(MISSING, ge=1)
    cycle_every: int | None = number(None, ge=1)
    heirs: bool = switch("no_heirs")
    calcification: bool = switch("no_calc")
    immune_response: bool = switch("no_immune")
    feeding: bool = switch("no_feeding")
    resist: bool = switch("no_resistance")
    reef_threshold: bool = switch("fixed_threshold")
    settling_noise: bool = switch("no_settling_noise")


@dataclass
class Custom(Method):
    params: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)  # its parts; off is ablation no_<name>


# Data sets


@dataclass
class Dataset:
    name: str = MISSING


@dataclass
class HubAddress:
    """A file of a hub data set at one commit."""

    repo: str = MISSING
    revision: str = MISSING
    path: str = MISSING


@dataclass
class PinnedFile:
    """Where a file lies below the data folder, its hash, and where it can be downloaded."""

    local: str = MISSING
    sha256: str = MISSING
    hub: HubAddress | None = None


@dataclass
class FactConsolidation(Dataset):
    source: str = MISSING
    serial: str = choice("keep", "keep", "strip")
    files: dict[str, PinnedFile] = field(default_factory=dict)  # forms of one table, any will do


@dataclass
class Synthetic(Dataset):
    facts: int = number(MISSING, ge=20, le=200_000)
    conflict_rate: float = number(MISSING, ge=0, le=0.9)
    single_hop: int = number(MISSING, ge=0)
    two_hop: int = number(MISSING, ge=0)
    # 10000 to 10009 belong to the calibration; no scored run may see them.
    seed: int = number(MISSING, ge=0, le=999)


# Everything else


@dataclass
class Embedder:
    name: str = MISSING
    model: str = MISSING
    revision: str = MISSING
    package: str | None = None
    path: str | None = None
    sha256: str = MISSING
    pooling: str = choice(MISSING, "mean", "cls")
    max_length: int = number(MISSING, ge=1)
    overflow: str = choice("truncate", "truncate", "chunk")
    dim: int = number(MISSING, ge=1)


@dataclass
class Index:
    name: str = choice(MISSING, "exact", "hnsw")


@dataclass
class Hnsw(Index):
    links: int = number(MISSING, ge=2, le=512)
    ef_construction: int = number(MISSING, ge=1)
    ef_search: int = number(MISSING, ge=1)


@dataclass
class Audit:
    name: str = MISSING
    pool: int | None = number(MISSING, ge=1)
    order: str = choice(MISSING, "own_score", "newest")


@dataclass
class Reader:
    name: str = choice(MISSING, "none", "newest")


@dataclass
class Tracking:
    uri: str = MISSING
    artifacts: str = MISSING
    experiment: str = MISSING


@dataclass
class Paths:
    root: str = MISSING
    outputs: str = MISSING
    mlruns: str = MISSING
    data: str | None = None
    cache: str = MISSING


@dataclass
class Config:
    """One run."""

    method: Method = MISSING
    dataset: Dataset = MISSING
    embedder: Embedder = MISSING
    index: Index = MISSING
    reader: Reader = MISSING
    audit: Audit = MISSING
    tracking: Tracking = MISSING
    paths: Paths = MISSING
    seed: int = number(MISSING, ge=0)
    k: int = number(MISSING, ge=1)


@dataclass
class Attribution:
    method: str = MISSING
    parts: list[str] = field(default_factory=list)  # names of its switches


@dataclass
class Sensitivity:
    metric: str = MISSING


@dataclass
class AggregateConfig:
    """The final job: which runs to select, and where the table goes."""

    dataset: Dataset = MISSING
    embedder: Embedder = MISSING
    reader: Reader = MISSING
    tracking: Tracking = MISSING
    paths: Paths = MISSING
    k: int = number(MISSING, ge=1)
    data_sha256: str | None = None
    attribution: Attribution = field(default_factory=Attribution)
    sensitivity: Sensitivity = field(default_factory=Sensitivity)


def register() -> None:
    """Tell Hydra every schema; the YAML files of ``conf/`` build on them."""
    store = ConfigStore.instance().store
    groups: dict[str, list[type]] = {
        "method": [BM25, Dense, Tide, HeirsOnly, Random, Coral, Custom],
        "dataset": [FactConsolidation, Synthetic],
        "index": [Index, Hnsw],
    }
    for group, options in groups.items():
        for option in options:
            store(group=f"schema/{group}", name=option.__name__.lower(), node=option)
    for one in [Config, Embedder, Audit, Reader, Tracking, Paths]:
        store(group="schema", name=one.__name__.lower(), node=one)
    store(group="schema", name="aggregate", node=AggregateConfig)


def schema_of(options: DictConfig) -> Any:
    """The dataclass that declares these options."""
    return OmegaConf.get_type(options)
