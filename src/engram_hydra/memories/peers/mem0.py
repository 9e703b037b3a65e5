"""Mem0 in raw mode: its own store and search over the texts as they are; no language model is asked.

Chhikara et al. 2025, arXiv:2504.19413; package ``mem0ai``, the extra ``peers``. Its published figures are
of another mode, in which a model extracts what to remember: they are no target for these.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

from engram_hydra.datasets.dataset import Item
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import ConfigError
from engram_hydra.memories.memory import Embed, Hit, Memory

USER = "reader"  # whose memories they are; Mem0 wants a name
SPARE = 20  # results beyond k, so that a tie at the cut seldom calls for more


class Mem0(Memory):
    """Mem0's ``add(infer=False)`` and ``search``, with its embedded Qdrant store in a temporary folder.

    It embeds each text by itself, with the run's own weights, and scores by cosine. It returns no item
    whose cosine is negative, nor one with an empty text, and may so return fewer than ``k``. Items of
    equal score come in the order of its store, so they are put into that of ``ties``, whole.
    """

    uses_vectors: ClassVar[bool] = True
    may_return_fewer: ClassVar[bool] = True

    def __init__(self, *, ties: str, embed: Embed) -> None:
        """Raises ConfigError where ``mem0ai`` is not installed, ModelError without the model."""
        if not isinstance(embed, Embedder):
            raise ConfigError("Mem0 embeds with a model of its own: give it an Embedder.")
        self.sign = 1 if ties == "oldest" else -1
        self.position: dict[str, int] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="mem0-", ignore_cleanup_errors=True)
        self.mem0 = _mem0().Memory.from_config(_config(self.folder.name, embed))
        self.mem0.vector_store._bm25_encoder = False  # else it would fetch one, where it could

    def write(self, items: Sequence[Item]) -> None:
        for item in items:
            self.position[item.id] = item.position
            self.mem0.add(item.text, user_id=USER, metadata={"item": item.id}, infer=False)

    def read(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._best(query, k, k + SPARE) if self.position else [] for query in queries]

    def _best(self, query: str, k: int, width: int) -> list[Hit]:
        """The ``k`` best of ``width`` results, of more where those at the cut may tie with others."""
        found: list[dict[str, Any]] = self.mem0.search(
            query, top_k=width, threshold=0.0, filters={"user_id": USER}
        )["results"]
        hits = [Hit(result["metadata"]["item"], result["score"]) for result in found]
        if len(hits) == width and hits[k - 1].score == hits[-1].score:
            return self._best(query, k, 4 * width)
        hits.sort(key=lambda hit: (-hit.score, self.sign * self.position[hit.id]))
        return hits[:k]


@cache
def _mem0() -> ModuleType:
    """Mem0, silent: with telemetry off, and its settings in a folder that goes with the process."""
    settings = tempfile.TemporaryDirectory(prefix="mem0-")
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = settings.name
    try:
        import mem0
    except ImportError as error:
        raise ConfigError(
            f'method=mem0 needs the package mem0ai ({error}): `pip install "engram-hydra[peers]"`.'
        ) from error
    module: ModuleType = mem0
    module.__dict__["engram_settings"] = settings  # lives as long as the module
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("mem0").setLevel(
        logging.ERROR
    )  # it asks for packages that raw mode does not use
    return module


def _config(folder: str, embed: Embedder) -> dict[str, Any]:
    store = {"path": f"{folder}/qdrant", "embedding_model_dims": embed.dim, "on_disk": True}
    model = {
        "model": str(embed.model_folder),
        "embedding_dims": embed.dim,
        "model_kwargs": {"device": "cpu", "local_files_only": True, "trust_remote_code": False},
    }
    return {
        "vector_store": {"provider": "qdrant", "config": store},
        "embedder": {"provider": "huggingface", "config": model},
        "llm": {"provider": "openai", "config": {"api_key": "none is ever asked"}},
        "history_db_path": f"{folder}/history.db",
    }
