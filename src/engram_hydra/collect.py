"""The runs that a report may be made of, by data set, and the options of the data."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from engram_hydra.errors import ConfigError, DataError
from engram_hydra.names import PLAIN, is_plain
from engram_hydra.report.cells import Run
from engram_hydra.tracking import Store

PER_QUESTION = "per_question.jsonl"

log = logging.getLogger(__name__)


def collect(store: Store, wanted: Any) -> dict[str, list[Run]]:
    """All runs of each data set: of ``wanted``, a name or a list of names, or of all that have runs.

    Those that were named stand in the order of their names' list, even without runs; otherwise by
    name, numbers in it by size. Raises ConfigError where ``wanted`` is neither.
    """
    names = _names(wanted)
    found: dict[str, list[Run]] = {name: [] for name in names}
    odd: dict[str, int] = {}
    for run in store.runs():
        name = run.data.tags.get("engram.dataset", "")
        if name and not is_plain(name):  # it would be part of the names of files
            odd[name] = odd.get(name, 0) + 1
        elif name in found or (name and not names):
            found.setdefault(name, []).append(_run(store, run))
    for name, count in odd.items():
        log.warning("%d runs are left out: no data set is called %r; use %s", count, name, PLAIN)
    if names:
        return found
    return {name: found[name] for name in sorted(found, key=_by_size)}


def check_known(runs: Mapping[str, Sequence[Run]]) -> None:
    """Raise ConfigError if a data set has neither runs nor options of its name: it was misspelt."""
    from difflib import get_close_matches

    from hydra.core.global_hydra import GlobalHydra

    for name, found in runs.items():
        if found or data_options(name) is not None:
            continue
        loader = GlobalHydra.instance().config_loader()
        known = sorted(loader.get_group_options("dataset"))
        near = get_close_matches(name, known) or known
        raise ConfigError(
            f"datasets={name}: there is no such data set, nor any run of one: did you mean"
            f" {' or '.join(near)}?"
        )


def _names(wanted: Any) -> list[str]:
    names = OmegaConf.to_container(wanted) if OmegaConf.is_config(wanted) else wanted
    names = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(
            f"datasets={wanted} names no data set: give one name, a list such as "
            "datasets=[fc_sh_6k,fc_mh_6k], or nothing for all that have runs."
        )
    for name in names:
        if not is_plain(name):
            raise ConfigError(f"datasets names {name!r}, which is no data set: use {PLAIN}.")
    return list(dict.fromkeys(names))


def _by_size(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _run(store: Store, run: Any) -> Run:
    info = run.info  # all that is kept of the rest of it
    return Run(
        run_id=info.run_id,
        started=info.start_time,
        tags=run.data.tags,
        metrics=run.data.metrics,
        per_question=lambda: _rows(store, info),
    )


def _rows(store: Store, info: Any) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(x) for x in store.read_artifact(info, PER_QUESTION).splitlines()]
        times = Counter(row["question_id"] for row in rows)
        for row in rows:
            row["kind"], row["metrics"].items()
        if repeated := [id_ for id_, count in times.items() if count > 1]:
            raise ValueError(f"question {repeated[0]} stands in it {times[repeated[0]]} times")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{PER_QUESTION} of run {info.run_id} is damaged ({error}): do the run again with "
            "existing=rerun."
        ) from error
    return rows


def methods() -> list[str]:
    """The names of all methods whose options are in the search path."""
    from hydra.core.global_hydra import GlobalHydra

    found: list[str] = GlobalHydra.instance().config_loader().get_group_options("method")
    return found


def data_options(dataset: str) -> DictConfig | None:
    """A data set's options as committed; None where no file of that name is in the search path."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode

    loader = GlobalHydra.instance().config_loader()
    try:
        cfg = loader.load_configuration("config", [f"dataset={dataset}"], RunMode.RUN)
    except HydraException:
        return None
    options: DictConfig = cfg.dataset
    return options
