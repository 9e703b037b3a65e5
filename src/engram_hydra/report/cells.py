"""Which runs stand in a table: the newest complete one of each cell, and why the others don't."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engram_hydra.errors import ConfigError
from engram_hydra.run_key import NOT_ASKED

DETERMINISTIC = "deterministic"
INCOMPLETE = "incomplete"
DIRTY = "dirty tree"
OTHER_DATA = "other data hash"
BAD_SEED = "malformed seed tag, which is neither a number nor deterministic"
OTHER_K = "other k"
OTHER_METHOD = "older constants or code of the method"
MAKES = {  # what a result follows from, by the tag that tells it
    "code_sha256": "code",
    "data_sha256": "data",
    "method_sha256": "constants or own code of the method",
}
UNTOLD = "options or weights"  # all else in a run's key, which has no tag of its own
SAME = 1e-9  # metrics of one run key that differ by more are told
GOES_WITH_ANY = {"embedder": "none", "overflow": "none", "reader": NOT_ASKED, "endpoint": ""}


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
    """What tells the cells of a selection apart.

    ``seed`` is a number or ``deterministic``; ``audit`` is the rule of an audit run, else empty.
    """

    method: str
    ablation: str
    variant: str
    seed: str
    audit: str = ""


class Changed(NamedTuple):
    """A run left out that gave other results than the one ``taken``; ``what`` it follows from changed."""

    run: Run
    taken: Run
    what: str
    results: str


@dataclass(frozen=True)
class Selection:
    """The runs of a table, one for each cell, those left out with the reason, and remarks on the taken.

    ``changed`` are runs left out whose cell has other results now, for another reason than chance.
    ``wanted`` are the tags that were selected by; ``chosen`` is false where nobody asked for the data
    set, so that it has no runs here.
    """

    cells: dict[CellKey, Run]
    left_out: list[tuple[Run, str]]
    remarks: list[tuple[Run, str]] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    wanted: Mapping[str, str] = field(default_factory=dict, compare=False)
    chosen: bool = True


def select(
    runs: Iterable[Run],
    *,
    dataset: str,
    data_sha256: str | None,
    k: int,
    reader: str,
    embedder: str,
    overflow: str = "truncate",
    endpoint: str = "",
    data_variants: Collection[str] = (),
    take_dirty: bool = False,
) -> Selection:
    """The newest complete run of each cell, over one data set, k, reader and embedder.

    Runs of one method stand together only if they share its constants and the code of its class; the
    newest decides, the older ones are left out. Audit runs are cells of their own. ``data_variants``
    are the declared variants that change the data: of each the newest run says which version counts.

    ``overflow`` is what the embedder did with long texts, ``endpoint`` where a reader's model was
    asked. Runs on other data sets are passed over in silence. A method without vectors carries the
    embedder ``none`` and goes with any, as does a run with nothing to answer, whose reader is ``n/a``.

    A run from a dirty tree, whose code no commit holds, is left out unless ``take_dirty``. A run that
    supersedes one with the same run key and other results has a remark that says so; where the keys
    differ, the older one is told under ``changed``.

    Raises ConfigError if several versions of the data set are left and ``data_sha256`` (64 hex
    digits) does not say which one; a declared variant of the data does not count as a version.
    """
    left_out: list[tuple[Run, str]] = []
    candidates: list[Run] = []
    wanted = {
        "k": str(k),
        "reader": reader,
        "embedder": embedder,
        "overflow": overflow,
        "endpoint": endpoint,
    }
    for run in runs:
        if _tag(run, "dataset") != dataset:
            continue
        reason = _unfit(run, wanted, take_dirty)
        if reason:
            left_out.append((run, reason))
        else:
            candidates.append(run)

    data = {"": data_sha256 or _only_version(candidates, dataset, data_variants)}
    newest: dict[CellKey, Run] = {}
    remarks: list[tuple[Run, str]] = []
    method: dict[
        tuple[str, str, bool], str
    ] = {}  # its version, by name, variant and whether audited
    for run in sorted(candidates, key=lambda run: (run.started, run.run_id), reverse=True):
        key = key_of(run)
        altered = key.variant if key.variant in data_variants else ""
        sha256 = _tag(run, "data_sha256")
        if data.setdefault(altered, sha256) != sha256:
            left_out.append((run, OTHER_DATA))
            continue
        sha256 = _tag(run, "method_sha256")
        if method.setdefault((key.method, key.variant, bool(key.audit)), sha256) != sha256:
            left_out.append((run, OTHER_METHOD))
            continue
        if key in newest:
            left_out.append((run, f"superseded by {newest[key].run_id}"))
            if _same_key(newest[key], run) and (told := _difference(newest[key], run)):
                text = f"differs from {run.run_id} that it supersedes: {told}"
                remarks.append((newest[key], text))
        else:
            newest[key] = run
    changed = [one for run in candidates for one in _changed(newest.get(key_of(run)), run)]
    return Selection(dict(sorted(newest.items())), left_out, remarks, changed, wanted)


def key_of(run: Run) -> CellKey:
    """The cell that the run's tags name, whether it stands in a table or not."""
    audit = _tag(run, "audit_rule") if _is_audit(run) else ""
    method, ablation, variant, seed = (_tag(run, name) for name in CellKey._fields[:4])
    return CellKey(method, ablation, variant, seed, audit)


def _is_audit(run: Run) -> bool:
    return _tag(run, "audit") not in ("", "false")


def _tag(run: Run, name: str) -> str:
    return run.tags.get(f"engram.{name}", "")


def is_dirty(run: Run) -> bool:
    """Whether the run's code or options were changed since its commit; unknown counts as no."""
    return _tag(run, "git_dirty") == "true"


def _difference(newer: Run, older: Run) -> str:
    """What the results of two runs of a cell disagree on, or an empty string.

    Only what is scored by question is compared, which names its ``_n``: times and costs always differ.
    """
    scored = {name for run in (newer, older) for name in run.metrics if f"{name}_n" in run.metrics}
    pairs = [(name, newer.metrics.get(name), older.metrics.get(name)) for name in sorted(scored)]
    differing = [
        f"{name} {_printed(new)}, was {_printed(old)}"
        for name, new, old in pairs
        if new is None or old is None or not abs(new - old) <= SAME
    ]
    if not differing:
        return ""
    more = f", and {len(differing) - 1} more" if len(differing) > 1 else ""
    return f"{differing[0]}{more}"


def _same_key(newer: Run, older: Run) -> bool:
    """Whether both should have the same results."""
    return _tag(newer, "run_key") != "" and _tag(newer, "run_key") == _tag(older, "run_key")


def _changed(taken: Run | None, run: Run) -> Iterator[Changed]:
    """What the run gave otherwise than the one in its cell, if it did, and what the two differ in."""
    if taken is None or taken is run or _same_key(taken, run):
        return
    if results := _difference(taken, run):
        what = [name for tag, name in MAKES.items() if _tag(taken, tag) != _tag(run, tag)]
        yield Changed(run, taken, " and ".join(what) or UNTOLD, results)


def _printed(value: float | None) -> str:
    return "not logged" if value is None else f"{value:.6g}"


def _unfit(run: Run, wanted: Mapping[str, str], take_dirty: bool) -> str:
    """Why the run is in no cell whatever its age and data, or an empty string."""
    if _tag(run, "complete") != "true":
        return INCOMPLETE
    if _tag(run, "exploratory") == "true":
        return "exploratory"
    if not re.fullmatch(rf"{DETERMINISTIC}|[0-9]{{1,18}}", _tag(run, "seed")):
        return BAD_SEED
    if _is_audit(run) and not _tag(run, "audit_rule"):
        return "audit without a rule"
    for name, value in wanted.items():
        if _tag(run, name) not in (value, GOES_WITH_ANY.get(name)):
            return f"other {name}"
    return DIRTY if is_dirty(run) and not take_dirty else ""


def _only_version(runs: list[Run], dataset: str, data_variants: Collection[str]) -> str:
    unaltered = [run for run in runs if _tag(run, "variant") not in data_variants]
    plain = [run for run in unaltered if not _tag(run, "variant") and not _is_audit(run)]
    versions = sorted({_tag(run, "data_sha256") for run in plain or unaltered})
    if len(versions) > 1:
        raise ConfigError(
            f"The runs on {dataset} saw {len(versions)} versions of its data, which no table may "
            f"mix: choose one of the hashes {', '.join(versions)} as data_sha256."
        )
    return versions[0] if versions else ""
