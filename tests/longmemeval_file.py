"""Invented histories in LongMemEval's schema, as a file."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

THINGS = [
    "oak",
    "elm",
    "ash",
    "fir",
    "yew",
    "bay",
    "fig",
    "sloe",
    "plum",
    "pear",
    "quince",
    "medlar",
]
TYPES = ("single-session-user", "multi-session", "knowledge-update")


def turn(role: str, content: str, **mark: object) -> dict[str, object]:
    return {"role": role, "content": content, **mark}


def entry(number: int, sessions: int = 14) -> dict[str, Any]:
    """One question about a history of its own, of which one session, or two, hold the answer."""
    rng = random.Random(number)
    thing, place = THINGS[number % 12], f"place {number}"
    ids = [f"filler_{number}_{n}" for n in range(sessions)]
    talks = [
        [
            turn("user", f"Tell me of the {rng.choice(THINGS)} and the {rng.choice(THINGS)}."),
            turn("assistant", "It is a tree."),
        ]
        for _ in ids
    ]
    golds = rng.sample(range(sessions), 1 + number % 2)
    for gold in golds:
        ids[gold] = f"answer_{number}_{gold}"
        talks[gold].append(turn("user", f"My {thing} stands at {place}.", has_answer=True))
    return {
        "question_id": f"q{number:02d}",
        "question_type": TYPES[number % 3],
        "question": f"Where does my {thing} stand?",
        "answer": place,
        "question_date": "2026/03/01 (Sun) 10:00",
        "haystack_session_ids": ids,
        "haystack_dates": [f"2026/01/{1 + n:02d} (Thu) 09:30" for n in range(sessions)],
        "haystack_sessions": talks,
        "answer_session_ids": [ids[gold] for gold in golds],
    }


def write(folder: Path, entries: list[dict[str, Any]]) -> Path:
    path = folder / "histories.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path
