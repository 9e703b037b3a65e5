"""What a method's options say of the method."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import schema_of
from engram_hydra.errors import ConfigError


def ablation_of(method: DictConfig) -> str:
    """The parts that are switched off, joined by ``+`` in the order of ``switches_of``; else ``none``."""
    constants = constants_of(method)
    return (
        "+".join(off for name, off in switches_of(method).items() if not constants[name]) or "none"
    )


def switches_of(method: DictConfig) -> dict[str, str]:
    """The method's switches, each with the name of the ablation that turns it off.

    They stand in the order of the schema; those of a custom method, each turned off by ``no_<name>``,
    in that of their names, which no command line can change.
    """
    own = {name: f"no_{name}" for name in sorted(map(str, method.get("switches", ())))}
    return own | {
        spec.name: spec.metadata["ablation"]
        for spec in fields(schema_of(method))
        if "ablation" in spec.metadata
    }


def constants_of(method: DictConfig) -> dict[str, Any]:
    """What the method's class takes: all options but ``_target_`` and ``name``.

    A custom method's ``params`` and ``switches`` are unpacked. Raises ConfigError where two options
    would go by one name.
    """
    constants: dict[str, Any] = OmegaConf.to_container(method, resolve=True)  # type: ignore[assignment]
    constants.pop("_target_")
    constants.pop("name")
    own = {group: constants.pop(group, {}) for group in ("params", "switches")}
    place = {name: f"method.{name}" for name in constants}
    for group, options in own.items():
        for name, value in options.items():
            if name in place:
                raise ConfigError(
                    f"method.{group}.{name} stands for {place[name]}: set that one only."
                )
            place[name] = f"method.{group}.{name}"
            constants[name] = value
    return constants
