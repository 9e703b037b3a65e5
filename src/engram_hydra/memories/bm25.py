"""BM25 over whole texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engram_hydra.datasets.dataset import Item
from engram_hydra.memories.memory import Hit, Memory
from engram_hydra.memories.ranking import top_k

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi

TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "lower_split": lambda text: text.lower().split(),
    "split_space": lambda text: text.split(" "),
}


class BM25(Memory):
    """Okapi BM25 as ``rank_bm25.BM25Okapi`` computes it.

    Args:
        k1: how soon repeated words saturate, at least 0.
        b: how much long texts are held back, 0 to 1.
        epsilon: floor of a common word's weight, as a share of the mean weight.
        tokenizer: ``lower_split`` for ``text.lower().split()``, ``split_space`` for ``text.split(" ")``,
            as LongMemEval's own script has it.
        ties: ``oldest`` or ``newest`` first among equal scores.
    """

    def __init__(self, *, k1: float, b: float, epsilon: float, tokenizer: str, ties: str) -> None:
        self.constants = {"k1": k1, "b": b, "epsilon": epsilon}
        self.tokenize = TOKENIZERS[tokenizer]
        self.ties = ties
        self.ids: list[str] = []
        self.tokens: list[list[str]] = []
        self.index: BM25Okapi | None = None

    def write(self, items: Sequence[Item]) -> None:
        self.ids.extend(item.id for item in items)
        self.tokens.extend(self.tokenize(item.text) for item in items)
        self.index = None  # word weights depend on all texts

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if self.index is None and any(self.tokens):
            from rank_bm25 import BM25Okapi

            self.index = BM25Okapi(self.tokens, **self.constants)
        rankings = []
        for query in queries:
            scores = (
                np.zeros(len(self.ids))  # no text holds a single word
                if self.index is None
                else self.index.get_scores(self.tokenize(query))
            )
            best = top_k(scores, k, self.ties)
            rankings.append([Hit(self.ids[i], float(scores[i])) for i in best])
        return rankings
