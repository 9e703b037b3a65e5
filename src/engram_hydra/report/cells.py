"""Which runs stand in a table: the newest complete one of each cell, and why the others don't."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from engram_hydra.errors import ConfigError

DETERMINISTIC = "deterministic"


@dataclass(frozen=True)
class Run:
    """One tracked run.

    ``started`` is in ms since 1970. ``tags`` are the ``engram.*`` tags, all strings, and ``metrics``
    the logged ones. ``per_question`` loads the rows ``{"question_id", "kind", "metrics": {…}}``.
    """

    run_id: str
    started: int
    tags: Mapping[str, str]
    metrics: Mapping[str, float]
    per_question: Callable[[], list[dict[str, Any]]]


class CellKey(NamedTuple):
    """What tells the cells of a selection apart; ``seed`` is a number or ``deterministic``."""

    method: str
    ablation: str
    variant: str
    seed: str


@dataclass(frozen=True)
class Selection:
    """The runs of a table, one for each cell, and those left out with the reason."""

    cells: dict[CellKey, Run]
    left_out: list[tuple[Run, str]]


def select(
    runs: Iterable[Run],
    *,
    dataset: str,
    data_sha256: str | None,
    k: int,
    reader: str,
    embedder: str,
) -> Selection:
    """The newest complete run of each cell, over one data set, k, reader and embedder.

    Runs of one method stand together only if they share its constants and the code of its class; the
    newest decides, the older ones are left out.

    Runs on other data sets are passed over in silence. A method without vectors carries the embedder
    ``none`` and goes with any.

    Raises ConfigError if several versions of the data set are left and ``data_sha256`` (64 hex
    digits) does not say which one; a declared variant of the data does not count as a version.
    """
    left_out: list[tuple[Run, str]] = []
    candidates: list[Run] = []
    wanted = {"k": str(k), "reader": reader, "embedder": embedder}
    for run in runs:
        if _tag(run, "dataset") != dataset:
            continue
        reason = _unfit(run, wanted)
        if reason:
            left_out.append((run, reason))
        else:
            candidates.append(run)

    sha256 = data_sha256 or _only_version(candidates, dataset)
    newest: dict[CellKey, Run] = {}
    version: dict[tuple[str, str], str] = {}  # of a method (or variant): that of its newest run
    for run in sorted(candidates, key=lambda run: (run.started, run.run_id), reverse=True):
        if _tag(run, "data_sha256") != sha256:
            left_out.append((run, "other data hash"))
            continue
        method = _tag(run, "method_sha256")
        if version.setdefault((_tag(run, "method"), _tag(run, "variant")), method) != method:
            left_out.append((run, "older constants or code of the method"))
            continue
        key = CellKey(*(_tag(run, name) for name in CellKey._fields))
        if key in newest:
            left_out.append((run, f"superseded by {newest[key].run_id}"))
        else:
            newest[key] = run
    return Selection(dict(sorted(newest.items())), left_out)


def _tag(run: Run, name: str) -> str:
    return run.tags.get(f"engram.{name}", "")


def _unfit(run: Run, wanted: Mapping[str, str]) -> str:
    """Why the run is in no cell whatever its age and data, or an empty string."""
    if _tag(run, "complete") != "true":
        return "incomplete"
    if _tag(run, "exploratory") == "true":
        return "exploratory"
    if _tag(run, "audit") not in ("", "false"):
        return "audit"
    for name, value in wanted.items():
        if _tag(run, name) != value and not (name == "embedder" and _tag(run, name) == "none"):
            return f"other {name}"
    return ""


def _only_version(runs: list[Run], dataset: str) -> str:
    plain = [run for run in runs if not _tag(run, "variant")] or runs
    versions = sorted({_tag(run, "data_sha256") for run in plain})
    if len(versions) > 1:
        raise ConfigError(
            f"The runs on {dataset} saw {len(versions)} versions of its data, which no table may "
            f"mix: choose one of the hashes {', '.join(versions)} as data_sha256."
        )
    return versions[0] if versions else ""
