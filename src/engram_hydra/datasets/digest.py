"""The digest of a data set's content, for sets that no pinned file identifies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from engram_hydra.datasets.dataset import Item, Question


def content_sha256(items: Sequence[Item], questions: Sequence[Question]) -> str:
    """SHA-256 (64 lowercase hex digits) of what a method reads and what a scorer compares.

    Covers, in order, each item's text and time, and each question's id, text, answers, kind,
    current and stale. Item ids and positions are left out: a memory never sees the one, and the
    order stands for the other. The bytes are JSON with sorted keys, no spaces and ASCII escapes, so
    the digest is the same on every machine and Python.
    """
    content = {
        "items": [[item.text, item.time] for item in items],
        "questions": [
            {
                "id": question.id,
                "text": question.text,
                "answers": list(question.answers),
                "kind": question.kind,
                "current": question.current,
                "stale": list(question.stale),
            }
            for question in questions
        ],
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
