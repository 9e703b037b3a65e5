"""Writing and reading memories, against the bare FAISS index that they could do no better than.

``python benchmarks/coral.py`` prints one line per measurement. All runs in one process on one
thread, on 384-wide vectors of the ``synthetic`` generator's vector mode.
"""

from __future__ import annotations

from statistics import median

import faiss
from table import head, line
from vector_mode import Facts, hnsw, in_turns, maker, on_one_thread, ratio

ROUNDS = 5
FACTS = 18_332  # as many as the largest scored set has
QUERIES = 1_000
K = 10
AS_FAST = 0.8
CORAL_READ = 1.5
READ = 1.2


def writes(facts: Facts) -> None:
    coral = maker("coral", "exact", facts.embed)
    taken = in_turns(
        ROUNDS,
        {
            "faiss": lambda: hnsw(facts.vectors, inner_product=False),
            "coral": lambda: coral().write(facts.items),
        },
    )
    ours, bare = (FACTS / median(taken[side]) for side in ("coral", "faiss"))
    share = ratio(taken["faiss"], taken["coral"])
    line(
        f"`coral`, `index=exact`: writing {FACTS:,}",
        f"{ours:,.0f} a second",
        f"`IndexHNSWFlat(384, 32)` add {bare:,.0f} a second",
        f"at least {AS_FAST} of it: {share:.2f}",
        share >= AS_FAST,
    )


def reads(facts: Facts, index: str, methods: dict[str, float]) -> None:
    """``methods`` by name, each with how many times the bare search it may take."""
    if index == "exact":
        bare = faiss.IndexFlatIP(facts.vectors.shape[1])
        bare.add(facts.vectors)
    else:
        bare = hnsw(facts.vectors)
    memories = {method: maker(method, index, facts.embed)() for method in methods}
    for each in memories.values():
        each.write(facts.items)
        each.read(facts.questions[:1], K)  # what is computed once after a write
    sides = {
        method: lambda each=each: each.read(facts.questions, K) for method, each in memories.items()
    }
    taken = in_turns(ROUNDS, {"faiss": lambda: bare.search(facts.queries, K), **sides})
    for method, most in methods.items():
        times = ratio(taken[method], taken["faiss"])
        line(
            f"`{method}`, `index={index}`: {QUERIES:,} reads at k = {K}",
            f"{median(taken[method]):.3f} s",
            f"`{type(bare).__name__}` search {median(taken['faiss']):.3f} s",
            f"at most {most} times: {times:.2f}",
            times <= most,
        )


def main() -> None:
    on_one_thread()
    faiss.omp_set_num_threads(1)
    head()
    facts = Facts(FACTS, QUERIES)
    writes(facts)
    reads(facts, "exact", {"coral": CORAL_READ, "dense": READ, "tide": READ})
    reads(facts, "hnsw", {"coral": CORAL_READ, "dense": READ})
    print(
        f"\nMedians of {ROUNDS}, the ratio's too, on one thread; vectors are looked up in a table."
    )


if __name__ == "__main__":
    main()
