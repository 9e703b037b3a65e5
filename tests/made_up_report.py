"""A small report of made-up figures, with texts that are harmful if a page does not escape them."""

from __future__ import annotations

from typing import Any

from engram_hydra.report import plots
from engram_hydra.report.document import (
    Block,
    Bullets,
    Drilldown,
    Grid,
    Heading,
    Paragraph,
    Verdict,
)

HARMFUL = "Is </script><script>window.harmed = true</script><!-- a 'tag' & <b>bold</b>?"
METHODS = ("bm25", "dense", "coral", "coral without settling")
HITS = {"bm25": (1, 0, 1), "dense": (1, 0, 1), "coral": (1, 0, 1), METHODS[3]: (0, 0, 1)}
QUESTIONS = ("What is the capital of Oz?", HARMFUL, "Who rules Narnia?")


def made_up_blocks() -> list[Block]:
    rows = [(name, f"{0.1 * n:.2f} [0.01, 0.52]", "") for n, name in enumerate(METHODS, start=8)]
    forest = [
        {
            "row": name,
            "against": against,
            "value": 0.1,
            "low": -0.1,
            "high": 0.3,
            "outcome": "not shown",
        }
        for name in METHODS
        for against in ("bm25", "dense")
    ]
    return [
        Heading("A made-up report", 1),
        Paragraph(f"{HARMFUL} Store: http://127.0.0.1:5000/#/experiments/1."),
        Heading("Verdicts", 2),
        Verdict("H1", HARMFUL, "supported", "A difference of 0.2 [0.1, 0.3].", ["Run 0123abcd"]),
        Verdict("H2", "It holds.", "undecided (ties)", "The tie rules disagree."),
        Heading("The table", 2),
        Grid(
            ("row", "hit", "wide " * 12),
            [(HARMFUL, "not run", "a long remark about the row, and why it has no value"), *rows],
        ),
        Heading("The plot", 2),
        plots.forest(forest),
        Bullets([HARMFUL]),
        Heading("Questions", 2),
        Drilldown("made_up", ("hit",), METHODS, [_question(n) for n in range(len(QUESTIONS))]),
    ]


def _question(number: int) -> dict[str, Any]:
    items = [
        {
            "id": "f1",
            "text": "Oz is ruled by <script>nobody</script>.",
            "gold": True,
            "stale": False,
        },
        {"id": "f2", "text": "Oz was a fairy tale.", "gold": False, "stale": True},
    ]
    return {
        "id": f"q{number}",
        "kind": "two-hop" if number else "single-hop",
        "question": QUESTIONS[number],
        "gold": ["Emerald City"],
        "lost_by": [METHODS[3]] if number == 0 else [],
        "answers": {
            method: {
                "metrics": {"hit": float(HITS[method][number])},
                "items": items,
                "answers": [],
            }
            for method in METHODS
        },
    }
