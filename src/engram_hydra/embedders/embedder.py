"""What a run embeds with: from memory, else from the cache on disk, else with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.encoder import Embedding, Encoder
from engram_hydra.embedders.options import Options
from engram_hydra.progress import reported


class Embedder:
    """Texts to unit vectors whose float64 dot products are exact (see ``encoder.on_grid``).

    One instance per run: it keeps what it has embedded. The weights are looked for, and the
    libraries imported, only when a text is not in the cache.
    """

    def __init__(self, options: Options, cache_dir: Path) -> None:
        """Loads nothing and touches no file yet."""
        self.dim = options.dim
        self._options = options
        self._cache = VectorCache(cache_dir, options)
        self._known: dict[str, Embedding] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 of shape (n, dim), one row per text in its order, for the caller to keep.

        Raises ``ModelError`` if the model is needed and can't be had, ``ConfigError`` if the cache
        can't be used.
        """
        self.warm(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._known[text].vector
        return vectors

    def warm(self, texts: Sequence[str]) -> None:
        """Bring ``texts`` into memory, so that embedding them takes no time to speak of.

        Raises what a call raises.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known |= self._cache.fetch(missing, self._encode)

    def truncated_fraction(self, texts: Sequence[str]) -> float:
        """The share of ``texts``, in [0, 1], cut to ``max_length`` word pieces; 0 if there are none.

        Raises what a call raises.
        """
        self.warm(texts)
        return sum(self._known[text].truncated for text in texts) / max(len(texts), 1)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._options)

    def _encode(self, texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
        # Under the cache's lock another process may turn out to have embedded them all.
        if texts:
            yield from reported(
                self._encoder.encode(texts), len(texts), "embedding", "texts", size=len
            )
