"""Precision and recall of what a memory took to be superseded."""

from __future__ import annotations

from collections.abc import Collection

from engram_hydra.stats import wilson

Pair = tuple[int, int]


def immune_metrics(found: Collection[Pair], known: Collection[Pair]) -> dict[str, float]:
    """How well the displacements found match the conflicts known; pairs are (old, new) positions.

    ``known`` has each superseded fact with the next one of its slot; no fact has two that are next.
    A displacement is true if its new fact supersedes the old one, directly or further along the
    slot. ``immune_precision`` is the share of the displacements that are true, ``immune_recall`` the
    share of the superseded facts that a true one displaced; each with ``_ci_low`` and ``_ci_high``
    (95%, Wilson) and ``_n``. What is a share of nothing is not there.
    """
    true = _true(found, dict(known))
    metrics: dict[str, float] = {}
    for name, hits, n in (
        ("immune_precision", len(true), len(set(found))),
        ("immune_recall", len({old for old, _ in true}), len({old for old, _ in known})),
    ):
        if n:
            low, high = wilson(hits, n)
            metrics |= {name: hits / n, f"{name}_ci_low": low, f"{name}_ci_high": high}
            metrics[f"{name}_n"] = float(n)
    return metrics


def _true(found: Collection[Pair], following: dict[int, int]) -> set[Pair]:
    """The pairs whose old fact leads to the new one along ``following``.

    Each fact gets its slot's last fact and its distance to that: of two facts of a slot, the one
    nearer to the end is the later one.
    """
    end: dict[int, int] = {}
    distance: dict[int, int] = {}
    for start in following:
        path, fact = [], start
        while fact in following and fact not in end:
            path.append(fact)
            fact = following[fact]
        last, steps = end.get(fact, fact), distance.get(fact, 0)
        for earlier in reversed(path):
            steps += 1
            end[earlier], distance[earlier] = last, steps
    return {
        (old, new)
        for old, new in found
        if old in end and end[old] == end.get(new, new) and distance[old] > distance.get(new, 0)
    }
