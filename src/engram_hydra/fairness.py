"""The rules every method obeys, checked on what it returned: nothing is taken on trust."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from numbers import Real

from engram_hydra.datasets.dataset import Item
from engram_hydra.errors import MethodError
from engram_hydra.memories.memory import Hit, Memory

AUDITED = 8


def blind(items: Sequence[Item], salt: str) -> list[Item]:
    """The items under opaque ids, which tell a method nothing, not even the order."""

    def opaque(position: int) -> str:
        return hashlib.blake2b(f"{salt}:{position}".encode(), digest_size=8).hexdigest()

    return [replace(item, id=opaque(item.position)) for item in items]


def check_rankings(
    rankings: Sequence[Sequence[Hit]],
    memory: Memory,
    queries: Sequence[str],
    items: Sequence[Item],
    k: int,
    ties: str,
    *,
    full: bool,
) -> list[list[Hit]]:
    """Assert equal k, known and distinct ids, finite falling scores, and the tie rule.

    ``full``: every ranking must hold min(k, N) items, as those of the built-in methods do.
    Returns the rankings as lists; raises MethodError naming the query's index and the rule.
    """
    rankings = _lists(rankings)
    if len(rankings) != len(queries):
        raise MethodError(
            f"read() answered {len(rankings)} of {len(queries)} queries; it must answer each."
        )
    position = {item.id: item.position for item in items}
    for number, ranking in enumerate(rankings):
        problem = _problem(ranking, position, k, full) or _disorder(ranking, memory, position, ties)
        if problem:
            raise MethodError(f"read() broke a rule on query {number}: {problem}.")
    return rankings


def audit_reads(
    rankings: Sequence[Sequence[Hit]], memory: Memory, queries: Sequence[str], n: int
) -> None:
    """Read a few queries again, alone, in reverse and whole; each scored ranking must be its start.

    A memory that changed between reads, that ranks by what else is in the batch, or that orders the
    best k otherwise than the rest, is found out. Raises MethodError.
    """
    step = max(1, len(queries) // AUDITED)
    for number in reversed(range(0, len(queries), step)):
        scored = [hit.id for hit in rankings[number]]
        again = _lists(memory.read([queries[number]], n))
        if len(again) != 1 or [hit.id for hit in again[0][: len(scored)]] != scored:
            raise MethodError(
                f"query {number}, read again alone and to the end, begins with other items than in the"
                " scored batch: reads must leave the memory as it is, must not depend on the batch, and"
                " must be prefix-consistent."
            )


def _lists(rankings: Iterable[Iterable[Hit]]) -> list[list[Hit]]:
    try:
        return [list(ranking) for ranking in rankings]
    except TypeError as error:
        raise MethodError(
            f"read() must return one list of Hit(id, score) for each query: {error}."
        ) from error


def _sound(hit: Hit) -> bool:
    return isinstance(hit.id, str) and isinstance(hit.score, Real)


def _finite(score: float) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:  # a whole number that no float can hold
        return False


def _problem(ranking: Sequence[Hit], position: dict[str, int], k: int, full: bool) -> str | None:
    if not all(isinstance(hit, Hit) and _sound(hit) for hit in ranking):
        return "it holds something other than a Hit(id, score) of a string and a number"
    ids = [hit.id for hit in ranking]
    if len(ids) > k:
        return f"{len(ids)} items where at most k = {k} are allowed"
    if full and len(ids) < min(k, len(position)):
        return f"{len(ids)} items where min(k, N) = {min(k, len(position))} were to come"
    if len(set(ids)) < len(ids):
        return "an item came twice"
    unknown = next((i for i in ids if i not in position), None)
    if unknown is not None:
        return f"the id {unknown!r} was never written"
    if not all(_finite(hit.score) for hit in ranking):
        return "a score is not finite"
    return None


def _disorder(
    ranking: Sequence[Hit], memory: Memory, position: dict[str, int], ties: str
) -> str | None:
    scores = [hit.score for hit in ranking]
    if any(later > earlier for earlier, later in pairwise(scores)):
        return "a score is higher than the one before it"
    for score, tied in groupby(ranking, key=lambda hit: hit.score):
        positions = [position[hit.id] for hit in tied]
        if len(positions) > 1 and positions != _by_rule(positions, memory, ranking, position, ties):
            return f"items of equal score {score:.6g} do not stand {ties} first"
    return None


def _by_rule(
    positions: list[int],
    memory: Memory,
    ranking: Sequence[Hit],
    position: dict[str, int],
    ties: str,
) -> list[int]:
    """The tied positions as ``ranking.top_k`` orders them."""
    sign = 1 if ties == "oldest" else -1
    group = {position[h.id]: memory.tie_group(h.id) for h in ranking if position[h.id] in positions}
    place = {g: min(sign * p for p in positions if group[p] == g) for g in group.values()}
    return sorted(positions, key=lambda p: (place[group[p]], -p))
