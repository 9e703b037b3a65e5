"""How the cost of writing grows with the history, against FAISS's own growth.

``python benchmarks/growth.py`` takes about five minutes a round, five rounds unless told otherwise.
One process, one thread, 384-wide vectors of the ``synthetic`` generator's vector mode.
"""

from __future__ import annotations

import argparse
from statistics import median

import faiss
from table import head, line
from vector_mode import Facts, hnsw, in_turns, maker, on_one_thread

SMALL, LARGE = 20_000, 200_000
MOST = 1.2


def main() -> None:
    on_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="medians are of so many")
    rounds = parser.parse_args().rounds
    faiss.omp_set_num_threads(1)

    small, large = Facts(SMALL), Facts(LARGE)
    coral_small = maker("coral", "hnsw", small.embed)
    coral_large = maker("coral", "hnsw", large.embed)
    times = in_turns(
        rounds,
        {
            "faiss small": lambda: hnsw(small.vectors),
            "coral small": lambda: coral_small().write(small.items),
            "faiss large": lambda: hnsw(large.vectors),
            "coral large": lambda: coral_large().write(large.items),
        },
    )
    taken = {side: median(seconds) for side, seconds in times.items()}
    ours = taken["coral large"] / taken["coral small"]
    bare = taken["faiss large"] / taken["faiss small"]
    head()
    line(
        f"`coral`, `index=hnsw`: writing {LARGE:,} over writing {SMALL:,}",
        f"{taken['coral large']:.1f} s / {taken['coral small']:.1f} s = {ours:.1f}",
        f"`IndexHNSWFlat` add {taken['faiss large']:.1f} s / {taken['faiss small']:.1f} s"
        f" = {bare:.1f}",
        f"at most {MOST} times the growth: {ours / bare:.2f}",
        ours <= MOST * bare,
    )
    print(f"\nMedians of {rounds}, on one thread; vectors are looked up in a table.")


if __name__ == "__main__":
    main()
