"""Substring exact match (SubEM), as MemoryAgentBench computes it, quirks included.

Source: ``utils/eval_other_utils.py`` of github HUST-AI-HYZ/MemoryAgentBench at commit 455306d; its
normalisation is that of SQuAD (Rajpurkar et al. 2016, arXiv 1606.05250).
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PREFIX = "Answer:"
_PREFIXED_LINE = re.compile(rf"{_PREFIX}(.*)", re.IGNORECASE)
_PREFIX_AT_START = re.compile(rf"^{_PREFIX}", re.IGNORECASE)


def normalize(text: str) -> str:
    """Lower-case ``text``, drop ASCII punctuation, then English articles, then surplus white space.

    A text of nothing but articles and punctuation becomes empty, and so is found in every text.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def parse_answer(text: str) -> str:
    """The answer in a model's output: what follows the first ``Answer:`` (any case) on its line.

    A second prefix is stripped. Without a prefix it is the first line, which may be empty.
    """
    prefixed = _PREFIXED_LINE.search(text)
    line = prefixed[1] if prefixed else text.split("\n", 1)[0]
    return _PREFIX_AT_START.sub("", line.strip()).strip()


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether any of ``answers`` is a substring of ``text``, both normalised."""
    normal = normalize(text)
    return any(normalize(answer) in normal for answer in answers)


def subem(prediction: str, golds: Sequence[str]) -> bool:
    """SubEM of one prediction: the better of the raw and the parsed output."""
    return holds_answer(prediction, golds) or holds_answer(parse_answer(prediction), golds)
