"""Made-up runs of every cell that the verdicts are decided from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engram_hydra.report.cells import Run
from engram_hydra.report.statements import load_statements

STATED = load_statements()
FC, TOP_1 = "fc_sh_6k", "answer_in_top_1"
Columns = Mapping[str, Sequence[float]]
Make = Callable[..., Run]


def right(*, of: int = 100, first: int = 0, count: int) -> list[float]:
    """Ones on ``count`` questions from the ``first`` on, zeros on the others."""
    return [float(first <= n < first + count) for n in range(of)]


BASE = {  # what each cell has right: Coral wins 30 over Dense, all of it by heirs, and ties Tide
    "coral": right(count=70),
    "no_heirs": right(count=40),
    "no_calc": right(count=70),
    "no_immune": right(count=40),
    "dense": right(count=40),
    "tide": right(count=70),
    **{f"tide_w_{w}": right(count=70) for w in ("0.00", "0.05", "0.10", "0.40")},
}


def made(
    make_run: Make,
    columns: Columns,
    metric: str = TOP_1,
    seeds: Sequence[int] = range(5),
    **tags: str,
) -> list[Run]:
    """The runs of the cells: Coral's under each seed, the others once."""
    tags = {"statements_sha256": STATED.sha256, **tags}
    runs = []
    for name, column in columns.items():
        given = {metric: column}
        if name in ("dense", "tide", "bm25"):
            runs.append(make_run(name, columns=given, **tags))
        elif name.startswith(("tide_w", "bm25_")):
            method = name.split("_")[0]
            runs.append(make_run(method, columns=given, variant=name, **tags))
        else:
            ablation = "none" if name == "coral" else name
            runs += [make_run("coral", ablation, s, columns=given, **tags) for s in seeds]
    return runs
