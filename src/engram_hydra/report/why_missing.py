"""Why a report has no run of what it wants: none was made, it was not asked for, or it is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from engram_hydra.conf_dir import conf_dir
from engram_hydra.report.cells import Selection, key_of
from engram_hydra.report.estimates import Cell
from engram_hydra.report.estimator import Estimator

NOT_SELECTED = "not selected"
IGNORED = "ignored: "
_SAYS_NOTHING = (
    "exploratory",
    "superseded",
)  # such a run is not of the cell, or its cell is filled


def why_missing(selection: Selection, cell: Cell) -> str:
    """``not selected``, ``ignored: other k``, or empty where the cell has no run that was left out."""
    if not selection.chosen:
        return NOT_SELECTED
    reasons = {
        reason: None
        for run, reason in selection.left_out
        if not reason.startswith(_SAYS_NOTHING)
        and (key := key_of(run)) not in selection.cells
        and Cell(key.method, key.ablation, key.variant, key.audit) == cell
    }
    return f"{IGNORED}{', '.join(reasons)}" if reasons else ""


def rows_missing(rows: Mapping[str, Iterable[Cell]], selection: Selection) -> str:
    """Rows without runs, by name with their cells: which were not run, and which are ignored and why."""
    by_reason: dict[str, list[str]] = {}
    for label, cells in rows.items():
        reasons = [why_missing(selection, cell) for cell in cells]
        by_reason.setdefault(next(filter(None, reasons), ""), []).append(label)
    said = [
        f"{reason.capitalize() or 'Not run'}: {'; '.join(names)}."
        if not reason.startswith(IGNORED)
        else f"Ignored ({reason.removeprefix(IGNORED)}): {'; '.join(names)}."
        for reason, names in sorted(by_reason.items())
    ]
    return " ".join(said)


def overrides(selection: Selection, *, reader: bool = True) -> str:
    """What a run is to be given so that it is selected: `` k=5 embedder=bge_small``, or empty."""
    wanted = selection.wanted
    if not wanted:
        return ""
    usual = OmegaConf.load(Path(conf_dir()) / "config.yaml")
    chosen = {group: name for entry in usual.defaults for group, name in _items(entry)}
    name, _, model = wanted["reader"].partition(":")
    given = {
        "k": (wanted["k"], str(usual.k)),
        "embedder": (wanted["embedder"], chosen["embedder"]),
        "embedder.overflow": (wanted["overflow"], "truncate"),
    }
    if reader:
        given["reader"] = (name, chosen["reader"])
        given["reader.model"] = (model, "")
        given["reader.base_url"] = (wanted["endpoint"], "")
    return "".join(
        f" {key}={value}" for key, (value, as_usual) in given.items() if value != as_usual
    )


def how_to_get(estimators: Mapping[str, Estimator], datasets: Iterable[str]) -> str:
    """Which of the data sets are not selected, or ignored, or how to run them; not those that were run."""
    unselected, ignored, absent = [], [], []
    for name in datasets:
        selection = estimators[name].selection if name in estimators else None
        if selection and selection.cells:
            continue
        if selection and not selection.chosen:
            unselected.append(name)
        elif selection and selection.left_out:
            reasons = ", ".join(dict.fromkeys(reason for _, reason in selection.left_out))
            ignored.append(f"{name} ({reasons})")
        else:
            absent.append(name)
    said = [f"{NOT_SELECTED}: {', '.join(unselected)}"] if unselected else []
    said += [f"{IGNORED}{', '.join(ignored)}"] if ignored else []
    if absent:
        more = next((overrides(e.selection) for e in estimators.values()), "")
        sets = ",".join(absent)
        command = f"python -m engram_hydra +experiment=anchors dataset={sets}{more}"
        said.append(f"not run: {', '.join(absent)} ({command}; likewise +experiment=ablations)")
    return "; ".join(said)


def _items(entry: Any) -> Iterable[tuple[str, str]]:
    return entry.items() if OmegaConf.is_dict(entry) else ()
