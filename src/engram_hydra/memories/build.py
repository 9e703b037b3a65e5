"""From a method's options to a memory."""

from __future__ import annotations

import inspect
import pkgutil
from typing import Any

import numpy as np
from omegaconf import DictConfig

from engram_hydra.config import constants_of
from engram_hydra.errors import ConfigError
from engram_hydra.memories.memory import Embed, Memory


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


def build_memory(method: DictConfig, embed: Embed | None, seed: int | None) -> Memory:
    """A new, empty memory.

    ``embed`` is given to classes that use vectors. ``seed`` (``None`` for a deterministic method)
    starts the one random stream that stochastic classes draw from.
    """
    cls = memory_class(method)
    arguments: dict[str, Any] = constants_of(method)
    if cls.uses_vectors:
        arguments["embed"] = embed
    if cls.stochastic:
        arguments["rng"] = np.random.default_rng(seed)
    try:
        inspect.signature(cls).bind(**arguments)
    except TypeError as error:
        raise ConfigError(
            f"{method._target_} can't be built from method={method.name}: {error};"
            f" it takes {', '.join(inspect.signature(cls).parameters)}."
        ) from error
    return cls(**arguments)
