"""A stand-in for an embedding model: vectors out of a text's hash, at once and without weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engram_hydra.embedders.encoder import Embedding, on_grid


@dataclass
class FakeOptions:
    """Options whose model is nowhere: what loads it fails."""

    name: str = "fake"
    model: str = "nobody/nothing"
    revision: str = "0" * 40
    package: str | None = None
    path: str | None = "/nonexistent/model"
    sha256: str = "0" * 64
    pooling: str = "mean"
    max_length: int = 256
    overflow: str = "truncate"
    dim: int = 8


def embedding(text: str) -> Embedding:
    """The embedding of one text; one with an exclamation mark counts as cut."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    vector = np.random.default_rng(seed).normal(size=(1, 8)).astype(np.float32)
    return Embedding(on_grid(vector)[0], "!" in text)


def encode(texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
    """What an encoder yields: batches of at most 16."""
    for start in range(0, len(texts), 16):
        yield {text: embedding(text) for text in texts[start : start + 16]}
