"""What a schema can say of an option beyond its type, for ``validation`` and the ablations to read."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any


def number(
    default: Any, *, ge: float = -math.inf, gt: float = -math.inf, le: float = math.inf
) -> Any:
    """A number in a range: ``ge`` and ``le`` belong to it, ``gt`` does not."""
    return field(default=default, metadata={"ge": ge, "gt": gt, "le": le})


def choice(default: str, *allowed: str) -> Any:
    """One of a few words."""
    return field(default=default, metadata={"allowed": allowed})


def switch(part_off: str) -> Any:
    """A part of a method that is on as shipped; ``part_off`` names the ablation that turns it off."""
    return field(default=True, metadata={"ablation": part_off})
