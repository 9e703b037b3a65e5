"""A run and its gold in TREC's formats, so that other tools can check our metrics.

Formats: https://trec.nist.gov/data/qrels_eng/ and the README of trec_eval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from engram_hydra.errors import DataError


def run_lines(question_id: str, ranked_ids: Sequence[str], n_items: int, tag: str) -> Iterator[str]:
    """Lines ``question Q0 item rank score tag`` of one question, without line ends.

    ``ranked_ids`` are the retrieved items', best first. The score is ``n_items`` - rank + 1, not the
    method's own: other tools re-sort by score, and would break its ties by id.

    Raises DataError if an id or the tag is empty or holds white space.
    """
    for rank, item_id in enumerate(ranked_ids, start=1):
        yield _line(question_id, "Q0", item_id, str(rank), str(n_items - rank + 1), tag)


def qrels_lines(
    question_id: str,
    item_ids: Sequence[str],
    relevant: Collection[int],
    retrieved: Collection[int],
) -> Iterator[str]:
    """Lines ``question 0 item relevance`` of one question, without line ends.

    ``item_ids`` are all items', and the others positions among them. Retrieved items that are not
    relevant are named with a 0, and so is the first item of all where a question has neither, so
    that no question drops out of another tool's average.

    Raises DataError if an id is empty or holds white space.
    """
    relevant = set(relevant)
    for position in sorted(relevant | set(retrieved) or {0}):
        yield _line(question_id, "0", item_ids[position], str(int(position in relevant)))


def _line(*columns: str) -> str:
    for column in columns:
        if column.split() != [column]:
            raise DataError(
                f"The id {column!r} can't stand in a TREC file, whose columns are parted by white "
                "space: rename it without any."
            )
    return " ".join(columns)
