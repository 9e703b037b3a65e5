"""What a schema can say of an option beyond its type, for ``validation`` and the ablations to read."""

from __future__ import annotations

import math
from dataclasses import Field, field
from typing import Any


def number(
    default: Any, *, ge: float = -math.inf, gt: float = -math.inf, le: float = math.inf
) -> Any:
    """A number in a range: ``ge`` and ``le`` belong to it, ``gt`` does not."""
    return field(default=default, metadata={"ge": ge, "gt": gt, "le": le})


def choice(default: str, *allowed: str) -> Any:
    """One of a few words."""
    return field(default=default, metadata={"allowed": allowed})


def aside(spec: Any) -> Any:
    """An option that says where or how something is done, and changes no result; or its default."""
    return _marked(spec, "aside")


def selected(spec: Any) -> Any:
    """An option that changes results and is free like k: a table is of one value; or its default."""
    return _marked(spec, "selected")


def _marked(spec: Any, mark: str) -> Any:
    if not isinstance(spec, Field):
        return field(default=spec, metadata={mark: True})
    return field(default=spec.default, metadata={**spec.metadata, mark: True})


def switch(part_off: str) -> Any:
    """A part of a method that is on as shipped; ``part_off`` names the ablation that turns it off."""
    return field(default=True, metadata={"ablation": part_off})
