from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from engram_hydra.datasets.dataset import Item, Question
from engram_hydra.datasets.digest import content_sha256

ITEMS = (Item("a", 0, "Ann lives in Örby."), Item("b", 1, "Bo sails.", time="2026-01-02T03:04:00"))
QUESTION = Question("q", "Where does Ann live?", ("Örby",), "single_hop", current=0, stale=(1,))


def test_is_the_sha256_of_the_documented_json() -> None:
    expected = (
        rb'{"items":[["Ann lives in \u00d6rby.",null],["Bo sails.","2026-01-02T03:04:00"]],'
        rb'"questions":[{"answers":["\u00d6rby"],"current":0,"id":"q","kind":"single_hop",'
        rb'"stale":[1],"text":"Where does Ann live?"}]}'
    )
    assert content_sha256(ITEMS, [QUESTION]) == hashlib.sha256(expected).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"id": "r"},
        {"text": "Where is Ann?"},
        {"answers": ("Örby", "Orby")},
        {"kind": "two_hop"},
        {"current": None},
        {"stale": ()},
    ],
)
def test_every_field_of_a_question_counts(change: dict[str, object]) -> None:
    changed = replace(QUESTION, **change)  # type: ignore[arg-type]
    assert content_sha256(ITEMS, [changed]) != content_sha256(ITEMS, [QUESTION])


def test_text_time_and_order_of_items_count() -> None:
    first, second = ITEMS
    others = [
        (second, first),
        (replace(first, text="Ann left."), second),
        (first, replace(second, time=None)),
    ]
    digests = {content_sha256(items, [QUESTION]) for items in (ITEMS, *others)}
    assert len(digests) == 4


def test_ids_and_positions_of_items_do_not_count() -> None:
    renamed = (replace(ITEMS[0], id="z", position=7), ITEMS[1])
    assert content_sha256(renamed, [QUESTION]) == content_sha256(ITEMS, [QUESTION])
