"""What an embedder's configuration says."""

from __future__ import annotations

from typing import Protocol


class Options(Protocol):
    """The fields of one embedder's configuration.

    ``model`` and ``revision`` are its hub id and commit. The weights are looked for in the folder
    ``path``, else in the Python ``package`` (which has a ``get_model_path()``), else on the hub;
    ``sha256`` (64 hex digits) is that of ``model.safetensors`` wherever it came from. ``pooling`` says
    how word pieces become one vector: by their ``mean``, or as that of ``cls``.
    ``max_length`` counts word pieces, the model's two special ones included: the model's window.
    ``overflow`` says what becomes of longer texts: ``truncate`` cuts them off there, ``chunk`` embeds
    overlapping windows of them. ``dim`` is the number of components of a vector.
    """

    name: str
    model: str
    revision: str
    package: str | None
    path: str | None
    sha256: str
    pooling: str
    max_length: int
    overflow: str
    dim: int
