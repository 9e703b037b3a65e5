"""The model itself: texts to vectors, the same bits whatever else is embedded with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_hydra.embedders import weights
from engram_hydra.embedders.options import Options
from engram_hydra.embedders.windows import Span, windows
from engram_hydra.errors import ModelError

ROWS = 16  # of a batch
LONG = 64  # word pieces of a row above which a batch has fewer
ROWS_IF_LONG = 4  # which keep the processor as busy; and groups of long texts are small
GRID = 2.0**24
TOKENIZED_AT_ONCE = 512


class Embedding(NamedTuple):
    """A text's unit vector, float32 of shape (dim,), and whether the text was cut to fit."""

    vector: NDArray[np.float32]
    truncated: bool


class Encoder:
    """A sentence-transformers model on the CPU, whatever else the machine has.

    The last bits of a vector depend on the shape of the batch it was computed in. So texts are
    grouped by their exact number of word pieces, and all batches of one length have exactly as many
    rows (the last of a group is filled up with its first text). A text's vector then depends on the
    text alone: not on the order, the other texts, or the number of threads.
    """

    def __init__(self, options: Options) -> None:
        """Load the pinned weights; raises ``ModelError`` if that can't be done."""
        folder = weights.find(options)
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._model = SentenceTransformer(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The model in {folder} can't be loaded ({error}): put the complete files of "
                f"{options.model} there."
            ) from error
        transformer: Any = self._model[0]
        positions: int = transformer.auto_model.config.max_position_embeddings
        if options.max_length > positions:
            raise ModelError(
                f"embedder.max_length={options.max_length} is more than the {positions} word "
                f"pieces {options.model} can read: set it to at most {positions}."
            )
        pooling = getattr(self._model[1], "pooling_mode", None) if len(self._model) > 1 else None
        if pooling not in (options.pooling, (options.pooling,)):
            raise ModelError(
                f"The model in {folder} pools its word pieces by {pooling}, not by "
                f"{options.pooling}: put the files of {options.model} there, or set embedder.pooling."
            )
        self._model.max_seq_length = options.max_length
        self._options = options

    def encode(self, texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
        """Each of the distinct ``texts`` once, at most 16 at a time, in an order of its own.

        Raises ``ModelError`` if the vectors don't have ``dim`` components.
        """
        longest = self._options.max_length
        groups: dict[int, list[tuple[str, bool]]] = defaultdict(list)
        for text, pieces in zip(texts, self._word_pieces(texts), strict=True):
            groups[min(pieces, longest)].append((text, pieces > longest))
        for pieces, group in sorted(groups.items()):
            rows = ROWS if pieces <= LONG else ROWS_IF_LONG
            for start in range(0, len(group), rows):
                batch = group[start : start + rows]
                vectors = self._vectors([text for text, _ in batch], rows)
                yield {
                    text: Embedding(vector, truncated)
                    for (text, truncated), vector in zip(batch, vectors, strict=True)
                }

    def windows(self, text: str) -> list[Span]:
        """Where the windows of a text that does not fit begin and end in it, in characters.

        Each, embedded as a text of its own, fits. Raises ``ModelError`` if the tokenizer can't say
        where its word pieces lie.
        """
        tokenizer = self._model.tokenizer
        if not tokenizer.is_fast:
            raise ModelError(
                f"The tokenizer of {self._options.model} does not say where its word pieces lie in a "
                f"text: set embedder.overflow=truncate."
            )
        tokens = tokenizer(
            text,
            add_special_tokens=False,
            truncation=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        pieces, words = tokens["offset_mapping"], tokens.word_ids()
        longest = self._options.max_length
        room = max(1, longest - tokenizer.num_special_tokens_to_add())
        while True:
            spans = [(pieces[a][0], pieces[b - 1][1]) for a, b in windows(words, room)]
            # Part of a word may fall into more pieces than it had in the word.
            over = max(self._word_pieces([text[a:b] for a, b in spans])) - longest
            if over <= 0 or room == 1:
                return spans
            room = max(1, room - over)

    def _word_pieces(self, texts: Sequence[str]) -> Iterator[int]:
        for start in range(0, len(texts), TOKENIZED_AT_ONCE):
            tokens = self._model.tokenizer(
                list(texts[start : start + TOKENIZED_AT_ONCE]),
                truncation=False,
                padding=False,
                verbose=False,
            )
            yield from map(len, tokens["input_ids"])

    def _vectors(self, texts: list[str], rows: int) -> NDArray[np.float32]:
        full = texts + texts[:1] * (rows - len(texts))
        vectors = self._model.encode(full, batch_size=rows, show_progress_bar=False)
        if vectors.shape[1] != self._options.dim:
            raise ModelError(
                f"{self._options.model} gives vectors of {vectors.shape[1]} components, but "
                f"embedder.dim={self._options.dim}: set embedder.dim to {vectors.shape[1]}."
            )
        return on_grid(vectors[: len(texts)])


def on_grid(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of shape (n, dim) scaled to length 1, each component a multiple of 2**-24.

    Such a component is exact in float32. A product of two is a multiple of 2**-48, and no partial
    sum of a dot product reaches 2 (Cauchy-Schwarz), so every partial sum fits the 53 bits of a
    float64: in float64, dot products are exact, and equal in any order of summation, with any
    library. The price is an error of at most 2**-25 per component.
    """
    rows = vectors.astype(np.float64)
    rows /= np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
    snapped: NDArray[np.float32] = (np.rint(rows * GRID) / GRID).astype(np.float32)
    return snapped
