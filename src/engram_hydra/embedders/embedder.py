"""What a run embeds with: from memory, else from the cache on disk, else with the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engram_hydra.embedders import weights
from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.encoder import Embedding, Encoder, on_grid
from engram_hydra.embedders.options import Options
from engram_hydra.embedders.window_cache import WindowCache
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
        self._window_cache = WindowCache(self._cache.file)
        self._known: dict[str, Embedding] = {}
        self._windows: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 of shape (n, dim), one row per text in its order, for the caller to keep.

        Of a text that is longer than the model's window, the vector of its beginning, or under
        ``overflow=chunk`` the sum of those of its ``windows``, scaled to length 1. Raises
        ``ModelError`` if the model is needed and can't be had, ``ConfigError`` if the cache can't be
        used.
        """
        vectors = self.queries(texts)
        for row, windows in self.windows(texts).items():
            vectors[row] = on_grid(windows.sum(axis=0, dtype=np.float64, keepdims=True))[0]
        return vectors

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, but of a long text always the vector of its beginning: queries stay truncated."""
        self._warm(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._known[text].vector
        return vectors

    def windows(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        """The vectors of the windows of each long text, shape (m, dim), by its place in ``texts``.

        Windows are overlapping parts of the text, each embedded as a text of its own (see
        ``windows.windows``). Empty unless ``overflow=chunk``; a text that fits has none. Raises what
        a call raises.
        """
        if self._options.overflow != "chunk":
            return {}
        self.warm(texts)
        return {row: self._windows[text] for row, text in enumerate(texts) if text in self._windows}

    def warm(self, texts: Sequence[str]) -> None:
        """Bring ``texts`` into memory, so that embedding them takes no time to speak of.

        Raises what a call raises.
        """
        self._warm(texts)
        if self._options.overflow == "chunk":
            self._warm_windows(texts)

    def truncated_fraction(self, texts: Sequence[str]) -> float:
        """The share of ``texts``, in [0, 1], longer than ``max_length`` word pieces; 0 if there are none.

        They are cut there, or under ``overflow=chunk`` embedded in windows. Raises what a call raises.
        """
        self._warm(texts)
        return sum(self._known[text].truncated for text in texts) / max(len(texts), 1)

    def _warm(self, texts: Sequence[str]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known |= self._cache.fetch(missing, self._encode)

    def _warm_windows(self, texts: Sequence[str]) -> None:
        missing = [
            text
            for text in dict.fromkeys(texts)
            if self._known[text].truncated and text not in self._windows
        ]
        if not missing:
            return
        windows = self._window_cache.fetch(missing, lambda text: self._encoder.windows(text))
        found = self._cache.fetch([*dict.fromkeys(chain(*windows.values()))], self._encode)
        for text, parts in windows.items():
            self._windows[text] = np.stack([found[part].vector for part in parts])

    @property
    def model_folder(self) -> Path:
        """Where the pinned model lies, for who embeds by other means; raises ``ModelError``."""
        return weights.find(self._options)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._options)

    def _encode(self, texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
        # Under the cache's lock another process may turn out to have embedded them all.
        if texts:
            yield from reported(
                self._encoder.encode(texts), len(texts), "embedding", "texts", size=len
            )
