"""The schema of every option: names, types, and the values allowed.

Types are checked by Hydra as it composes; ranges, which Hydra does not know, by ``validation``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from engram_hydra.constraints import aside, choice, number, selected, switch

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
    tokenizer: str = choice(MISSING, "lower_split", "split_space")


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
class Mem0(Method):
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
class GitHubAddress:
    """A file of a GitHub repository at one commit; ``base`` is the server of raw files."""

    repo: str = MISSING
    commit: str = MISSING
    path: str = MISSING
    base: str = MISSING


@dataclass
class PinnedFile:
    """Where a file lies below the data folder, its hash and size, and where it can be downloaded."""

    local: str = MISSING
    sha256: str | None = MISSING
    size: int | None = None
    hub: HubAddress | None = None
    github: GitHubAddress | None = None


@dataclass
class FileSet(Dataset):
    """A data set that is read from a file: one of ``files``, or one of the user's own."""

    files: dict[str, PinnedFile] = field(default_factory=dict)  # forms of one table, any will do
    path: str | None = aside(None)
    sha256: str | None = aside(None)  # of the file at path


@dataclass
class FactConsolidation(FileSet):
    source: str = MISSING
    serial: str = choice("keep", "keep", "strip")


@dataclass
class LongMemEval(FileSet):
    granularity: str = choice("session", "session", "turn")
    roles: str = choice("user", "user", "both")
    only: list[str] | None = None  # ids of questions


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
    package: str | None = aside(None)
    path: str | None = aside(None)
    sha256: str = MISSING
    overflow: str = selected(choice("truncate", "truncate", "chunk"))
    pooling: str = choice(MISSING, "mean", "cls")
    max_length: int = number(MISSING, ge=1)
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
    name: str = choice(MISSING, "none", "newest", "openai")


@dataclass
class OpenAI(Reader):
    base_url: str = selected(MISSING)
    model: str = selected(MISSING)
    api_key_env: str = aside(MISSING)
    temperature: float = number(MISSING, ge=0, le=2)
    max_tokens: int = number(MISSING, ge=1)
    concurrency: int = aside(number(MISSING, ge=1, le=256))
    timeout: float = aside(number(MISSING, gt=0))
    retries: int = aside(number(MISSING, ge=0, le=20))
    prompt_price: float | None = aside(number(None, ge=0))
    completion_price: float | None = aside(number(None, ge=0))
    prompt: dict[str, PinnedFile] = field(default_factory=dict)  # forms of one file, any will do


@dataclass
class Tracking:
    uri: str = MISSING
    artifacts: str | None = MISSING  # a folder or address for files; null leaves it to the server
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
    tracking: Tracking = aside(MISSING)
    paths: Paths = aside(MISSING)
    seed: int = number(MISSING, ge=0)
    k: int = number(MISSING, ge=1)
    workers: int = aside(number(MISSING, ge=1, le=256))
    existing: str = aside(choice(MISSING, "skip", "rerun", "fail"))
    fail_fast: bool = aside(MISSING)


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

    embedder: Embedder = MISSING
    reader: Reader = MISSING
    tracking: Tracking = MISSING
    paths: Paths = MISSING
    datasets: Any = None  # a name, a list of names, or all that have runs
    k: int = number(MISSING, ge=1)
    data_sha256: list[str] = field(default_factory=list)
    dirty: str = choice("ignore", "ignore", "take")
    strict: bool = False
    log: bool = True
    attribution: Attribution = field(default_factory=Attribution)
    sensitivity: Sensitivity = field(default_factory=Sensitivity)


def register() -> None:
    """Tell Hydra every schema; the YAML files of ``conf/`` build on them."""
    store = ConfigStore.instance().store
    groups: dict[str, list[type]] = {
        "method": [BM25, Dense, Tide, HeirsOnly, Random, Coral, Mem0, Custom],
        "dataset": [FactConsolidation, LongMemEval, Synthetic],
        "index": [Index, Hnsw],
        "reader": [Reader, OpenAI],
    }
    for group, options in groups.items():
        for option in options:
            store(group=f"schema/{group}", name=option.__name__.lower(), node=option)
    for one in [Config, Embedder, Audit, Tracking, Paths]:
        store(group="schema", name=one.__name__.lower(), node=one)
    store(group="schema", name="aggregate", node=AggregateConfig)


def schema_of(options: DictConfig) -> Any:
    """The dataclass that declares these options."""
    return OmegaConf.get_type(options)
