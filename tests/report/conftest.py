"""A factory of made-up runs, small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from engram_hydra.metrics.summary import summarise
from engram_hydra.report.cells import Run, select
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.verdicts import Verdict, verdicts
from made_up_cells import BASE, FC, STATED, made

SHA = "a" * 64


def _run(
    method: str = "coral",
    ablation: str = "none",
    seed: int | str = "deterministic",
    *,
    columns: Mapping[str, Sequence[float]] | None = None,
    ids: Sequence[str] | None = None,
    run_id: str | None = None,
    started: int = 0,
    logged: Mapping[str, float] | None = None,
    also: Mapping[str, float] | None = None,
    **tags: str,
) -> Run:
    """A run that logged ``columns`` (metric to one value per question), as the runner would.

    ``logged`` stands in place of all its metrics, ``also`` beside them.
    """
    columns = {"answer_in_top_1": [1.0, 0.0]} if columns is None else columns
    size = max(map(len, columns.values()), default=0)
    rows: list[dict[str, Any]] = [
        {
            "question_id": ids[n] if ids else f"q{n}",
            "kind": "single_hop",
            "metrics": {name: values[n] for name, values in columns.items()},
        }
        for n in range(size)
    ]
    defaults = {
        "method": method,
        "ablation": ablation,
        "seed": str(seed),
        "dataset": "fc_sh_6k",
        "embedder": "none" if method == "bm25" else "minilm",
        "reader": "newest",
        "k": "10",
        "data_sha256": SHA,
        "variant": "",
        "exploratory": "false",
        "overflow": "truncate",
        "complete": "true",
    }
    return Run(
        run_id=run_id or ".".join([method, ablation, str(seed), *_which(tags)]),
        started=started,
        tags={f"engram.{name}": value for name, value in {**defaults, **tags}.items()},
        metrics={**(summarise(rows) if logged is None else logged), **(also or {})},
        per_question=lambda: rows,
    )


def _which(tags: Mapping[str, str]) -> list[str]:
    return [tags[name] for name in ("variant", "audit_rule") if name in tags]


def _estimator(runs: Iterable[Run], **changes: Any) -> Estimator:
    wanted = {"dataset": "fc_sh_6k", "data_sha256": None, "k": 10, "reader": "newest"}
    return Estimator(select(runs, **{**wanted, "embedder": "minilm", **changes}))


@pytest.fixture(scope="session")
def estimate() -> Callable[..., Estimator]:
    """``estimate(runs)``: an estimator of the runs that a table of fc_sh_6k selects."""
    return _estimator


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    return _run


@pytest.fixture
def decided() -> Callable[..., dict[str, Verdict]]:
    """``decided(coral=…, dense=…)``: the primary verdicts where these cells replace the usual ones.

    ``None`` leaves a cell out; ``more`` are further runs.
    """

    def decide(
        *, more: Sequence[Run] = (), **changes: Sequence[float] | None
    ) -> dict[str, Verdict]:
        columns = {name: col for name, col in {**BASE, **changes}.items() if col is not None}
        estimator = _estimator([*made(_run, columns), *more])
        found = verdicts({FC: estimator}, STATED)
        rows = [(verdict.id, verdict.dataset, verdict.metric) for verdict in found]
        assert len({*rows}) == len(rows)
        return {verdict.id: verdict for verdict in found if verdict.role == "primary"}

    return decide
