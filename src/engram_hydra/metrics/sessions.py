"""LongMemEval's retrieval metrics of one question, as the official code computes them.

Source: ``src/retrieval/eval_utils.py`` of github xiaowu0162/LongMemEval at commit 9e0b455. Ids are the
official ones, of which a haystack may hold one twice. ``ranked_ids`` are those retrieved, best first,
``haystack_ids`` those of all items in any order, ``k`` is at least 1; values are from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2

from engram_hydra.errors import DataError

RECALL_CUTS = (1, 3, 5, 10)
NDCG_CUTS = (5, 10)


def session_metrics(
    ranked_ids: Sequence[str], haystack_ids: Sequence[str], gold_ids: Collection[str], k: int
) -> dict[str, float]:
    """Every metric with a cut of at most ``k``, by the name it is logged under.

    ``mrr`` looks at the first ``k``. Raises DataError without gold, of which everything would be
    recalled.
    """
    if not gold_ids:
        raise DataError("A question has no gold session, so nothing can be recalled: exclude it.")
    metrics = {"mrr": mrr(ranked_ids[:k], gold_ids)}
    for cut in RECALL_CUTS:
        if cut <= k:
            metrics[f"recall_any_at_{cut}"] = recall_any(ranked_ids, gold_ids, cut)
            metrics[f"recall_all_at_{cut}"] = recall_all(ranked_ids, gold_ids, cut)
    for cut in NDCG_CUTS:
        if cut <= k:
            metrics[f"ndcg_any_at_{cut}"] = ndcg_any(ranked_ids, haystack_ids, gold_ids, cut)
    if k >= 10:
        metrics["ndcg_std_at_10"] = ndcg_std(ranked_ids, haystack_ids, gold_ids, 10)
    return metrics


def recall_any(ranked_ids: Sequence[str], gold_ids: Collection[str], k: int) -> float:
    """1 if any gold id is in the top ``k``, else 0; 0 without gold."""
    return float(not set(gold_ids).isdisjoint(ranked_ids[:k]))


def recall_all(ranked_ids: Sequence[str], gold_ids: Collection[str], k: int) -> float:
    """1 if every gold id is in the top ``k``, else 0; 1 without gold."""
    return float(set(gold_ids) <= set(ranked_ids[:k]))


def ndcg_any(
    ranked_ids: Sequence[str], haystack_ids: Sequence[str], gold_ids: Collection[str], k: int
) -> float:
    """The official NDCG, whose ranks 1 and 2 weigh the same: DCG = rel_1 + sum_{i>=2} rel_i / log2(i).

    The ideal is the best ``k`` of the whole haystack. A repeated id counts as often as it stands there.
    0 if the haystack has no gold.
    """
    return _ndcg(ranked_ids, haystack_ids, gold_ids, [1.0, *(log2(i) for i in range(2, k + 1))])


def ndcg_std(
    ranked_ids: Sequence[str], haystack_ids: Sequence[str], gold_ids: Collection[str], k: int
) -> float:
    """``ndcg_any`` with the usual discount: DCG = sum_i rel_i / log2(i + 1).

    Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418, in the form that trec_eval uses.
    """
    return _ndcg(ranked_ids, haystack_ids, gold_ids, [log2(i + 1) for i in range(1, k + 1)])


def mrr(ranked_ids: Sequence[str], gold_ids: Collection[str]) -> float:
    """The reciprocal rank of the first gold id, 0 where none was retrieved; its mean is the MRR."""
    for rank, ranked_id in enumerate(ranked_ids, start=1):
        if ranked_id in gold_ids:
            return 1 / rank
    return 0.0


def _ndcg(
    ranked_ids: Sequence[str],
    haystack_ids: Sequence[str],
    gold_ids: Collection[str],
    discounts: Sequence[float],
) -> float:
    """DCG over the ideal one, at as many ranks as there are discounts."""
    golds = sum(haystack_id in gold_ids for haystack_id in haystack_ids)
    ideal = sum(1 / discount for discount in discounts[:golds])
    gain = sum(
        1 / discount
        for ranked_id, discount in zip(ranked_ids, discounts, strict=False)
        if ranked_id in gold_ids
    )
    return gain / ideal if ideal else 0.0
