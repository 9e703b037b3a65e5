"""A run and its gold in TREC's formats, so that other tools can check our metrics.

Formats: https://trec.nist.gov/data/qrels_eng/ and the README of trec_eval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engram_hydra.datasets.dataset import Item, Question
from engram_hydra.errors import DataError
from engram_hydra.metrics.answers import normalize


def run_lines(rankings: Mapping[str, Sequence[str]], n_items: int, tag: str) -> Iterator[str]:
    """Lines ``question Q0 item rank score tag``, without line ends.

    ``rankings`` gives each question's item ids, best first. The score is ``n_items`` - rank + 1, not
    the method's own: other tools re-sort by score, and would break its ties by id.

    Raises DataError if an id or the tag is empty or holds white space.
    """
    for question, ranking in rankings.items():
        for rank, item in enumerate(ranking, start=1):
            yield _line(question, "Q0", item, str(rank), str(n_items - rank + 1), tag)


def qrels_lines(
    questions: Sequence[Question], items: Sequence[Item], rankings: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Lines ``question 0 item relevance``, without line ends.

    Relevant (1) are the items of the whole data set that contain a gold answer after SubEM's
    normalisation. Retrieved items that don't are named with a 0, and so is the first item of all
    where a question has neither, so that no question drops out of another tool's average.

    Raises DataError if an id is empty or holds white space.
    """
    normal = [(item.id, normalize(item.text)) for item in items]
    order = {item.id: index for index, item in enumerate(items)}
    for question in questions:
        golds = {normalize(answer) for answer in question.answers}
        relevant = {id_ for gold in golds for id_, text in normal if gold in text}
        judged = relevant | set(rankings.get(question.id, ())) or {items[0].id}
        for id_ in sorted(judged, key=order.__getitem__):
            yield _line(question.id, "0", id_, str(int(id_ in relevant)))


def _line(*columns: str) -> str:
    for column in columns:
        if column.split() != [column]:
            raise DataError(
                f"The id {column!r} can't stand in a TREC file, whose columns are parted by white "
                "space: rename it without any."
            )
    return " ".join(columns)
