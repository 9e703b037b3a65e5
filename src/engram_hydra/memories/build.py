"""From a method's options to a memory."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Sequence
from typing import Any

import numpy as np
from omegaconf import DictConfig

from engram_hydra.errors import ConfigError
from engram_hydra.memories.index import ExactIndex, HnswIndex, Index
from engram_hydra.memories.memory import Embed, Memory
from engram_hydra.options import constants_of


def memory_class(method: DictConfig) -> type[Memory]:
    """The class that ``method._target_`` names.

    Raises ConfigError where it can't be imported or is no ``Memory``.
    """
    try:
        cls = pkgutil.resolve_name(method._target_)
    except Exception as error:  # whatever importing a stranger's module may raise
        reason = " ".join(str(error.__cause__ or error).split())
        raise ConfigError(
            f"method._target_={method._target_} can't be imported: {reason}."
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Memory)):
        raise ConfigError(
            f"method._target_={method._target_} is no memory: subclass engram_hydra.memories.memory.Memory."
        )
    if inspect.isabstract(cls):
        raise ConfigError(
            f"method._target_={method._target_} is no whole memory: it lacks"
            f" {' and '.join(sorted(cls.__abstractmethods__))}."
        )
    return cls


def build_memory(
    method: DictConfig,
    embed: Embed | None,
    seed: int | Sequence[int] | None,
    *,
    index: DictConfig | None = None,
    superseded_by: Sequence[tuple[int, int]] = (),
) -> Memory:
    """A new, empty memory.

    ``embed`` is given to classes that use vectors, an empty index of the kind ``index`` (exact where
    None) to those that use one, and ``superseded_by``, the known (old, new) positions, to those that
    see conflicts. ``seed`` (as ``numpy.random.default_rng`` takes it; ``None`` for a deterministic run)
    starts the one random stream that stochastic classes draw from, and an approximate index's own.
    Raises ConfigError where the options are not what the class takes.
    """
    cls = memory_class(method)
    given: dict[str, Any] = {}
    if cls.uses_vectors:
        given["embed"] = embed
    if cls.uses_index:
        given["index"] = _build_index(index, seed)
    if cls.sees_conflicts:
        given["superseded_by"] = tuple(superseded_by)
    if cls.stochastic:
        given["rng"] = np.random.default_rng(seed)
    constants = constants_of(method)
    if taken := sorted(constants.keys() & given.keys()):
        raise ConfigError(
            f"method={method.name} has an option {taken[0]}, under which its class is given"
            " something else: call the option otherwise."
        )
    arguments = constants | given
    try:
        inspect.signature(cls).bind(**arguments)
    except TypeError as error:
        raise ConfigError(
            f"{method._target_} can't be built from method={method.name}: {error};"
            f" it takes {', '.join(inspect.signature(cls).parameters)}."
        ) from error
    return cls(**arguments)


def _build_index(index: DictConfig | None, seed: int | Sequence[int] | None) -> Index:
    if index is None or index.name == "exact":
        return ExactIndex()
    assert seed is not None  # a run with an approximate index is never deterministic
    own = seed if isinstance(seed, int) else int(np.random.SeedSequence(seed).generate_state(1)[0])
    return HnswIndex(index.links, index.ef_construction, index.ef_search, own)
