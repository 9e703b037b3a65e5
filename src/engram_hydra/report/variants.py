"""The declared variants that change one constant: the grid of the sensitivity check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from engram_hydra.conf_dir import conf_dir

METHODS = ("coral", "tide")


@dataclass(frozen=True)
class Change:
    """A variant with one constant of a method at another value; ``method`` is empty for the data's."""

    variant: str
    method: str
    constant: str
    value: Any
    shipped: Any

    @property
    def factor(self) -> str:
        """``half``, ``double``, ``x0.67`` of the committed value; empty where that is no number."""
        if not isinstance(self.shipped, (int, float)):
            return ""
        factor = self.value / self.shipped
        return {0.5: "half", 2.0: "double"}.get(factor, f"x{factor:.3g}")

    @property
    def label(self) -> str:
        return f"{self.constant} {self.value}"


def changes(dataset: Mapping[str, Any]) -> list[Change]:
    """Coral's, then Tide's, then those of the data set, whose options as shipped are ``dataset``.

    They stand in the order of the constants' files, and by value.
    """
    conf = Path(conf_dir())
    shipped: dict[str, Mapping[str, Any]] = {
        method: OmegaConf.load(conf / "method" / f"{method}.yaml")  # type: ignore[misc]
        for method in METHODS
    }
    shipped[""] = dataset
    found = []
    for file in (conf / "variant").glob("*.yaml"):
        content: Any = OmegaConf.to_container(OmegaConf.load(file))
        chosen = {
            group: option
            for entry in content.pop("defaults", [])
            for group, option in entry.items()
        }
        method = chosen.pop("override /method", "")
        set_ = [(group, *pair) for group, options in content.items() for pair in options.items()]
        if chosen or len(set_) != 1:
            continue
        [(group, constant, value)] = set_
        if group == ("method" if method else "dataset") and constant in shipped.get(method, {}):
            found.append(Change(file.stem, method, constant, value, shipped[method][constant]))
    owners = list(shipped)
    return sorted(
        found,
        key=lambda c: (owners.index(c.method), list(shipped[c.method]).index(c.constant), c.value),
    )
