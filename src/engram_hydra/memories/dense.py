"""Dense retrieval: nearest vectors by inner product."""

from __future__ import annotations

from typing import ClassVar

from engram_hydra.memories.index import Index
from engram_hydra.memories.memory import Embed
from engram_hydra.memories.vectors import VectorMemory


class Dense(VectorMemory):
    """The items whose vectors are nearest the query's."""

    uses_index: ClassVar[bool] = True

    def __init__(self, *, ties: str, embed: Embed, index: Index) -> None:
        super().__init__(ties=ties, embed=embed, index=index)
