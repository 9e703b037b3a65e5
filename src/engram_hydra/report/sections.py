"""Which sections a report has, from its options and its runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import Coral
from engram_hydra.errors import ConfigError
from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.options import switches_of
from engram_hydra.report.ablation_table import CORAL, row_labels
from engram_hydra.report.ablation_tests import Tests
from engram_hydra.report.attribution import MOST_PARTS, attribution_section
from engram_hydra.report.audit import audit_section
from engram_hydra.report.chapter import BY_ITSELF
from engram_hydra.report.contrasts import SUBEM
from engram_hydra.report.costs import costs_section
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.immune import immune_section
from engram_hydra.report.names import WHOLE
from engram_hydra.report.section import Section
from engram_hydra.report.sensitivity import sensitivity_section
from engram_hydra.report.variants import Change
from engram_hydra.report.why_missing import overrides
from engram_hydra.run_key import reader_label

PARTS = ("heirs", "calcification")  # of Coral, whose gain is shared among them


def sections(
    cfg: DictConfig,
    dataset: str,
    estimator: Estimator,
    declared: Sequence[Change],
    tests: Tests,
) -> dict[str, Section | str]:
    """Each section under its title, or how to get the runs it is made of; ``cfg`` is the aggregate's.

    Raises ConfigError if ``cfg`` names a part or a metric that there is not.
    """
    metric = _metric(cfg.sensitivity.metric, estimator)
    aside = {SUBEM} if reader_label(cfg.reader) == BY_ITSELF else set()
    logged = [name for name in HEADLINES if estimator.logs(name)]
    audited = [name for name in HEADLINES if estimator.logs(name, audit=True)]

    asked = not dataset.startswith("longmemeval")  # which has nothing to answer
    more = overrides(estimator.selection, reader=asked)

    def experiment(name: str) -> str:
        return f"python -m engram_hydra +experiment={name} dataset={dataset}{more}"

    labels = row_labels(estimator)
    return {
        "Cost": costs_section(estimator, labels) or experiment("anchors"),
        "Immune response": immune_section(estimator, labels) or experiment("ablations"),
        **{
            title: attribution_section(estimator, logged, method, off, tests, aside)
            or (
                experiment("factorial")
                if method == CORAL.method
                else f"{method} with and without {', '.join(off.values())}"
            )
            for title, (method, off) in _attributed(cfg, estimator).items()
        },
        "Sensitivity": sensitivity_section(estimator, metric, declared)
        or f"{experiment('sensitivity')}, beside its anchors: +experiment=anchors",
        "Audit": audit_section(estimator, audited) or experiment("audit"),
    }


def _attributed(cfg: DictConfig, estimator: Estimator) -> dict[str, tuple[str, dict[str, str]]]:
    """By title the methods whose gain is shared among parts, with the ablation of each part.

    Coral and the one that ``cfg`` asks for, then every other of which all combinations were run.
    """
    parts = {CORAL.method: PARTS, cfg.attribution.method: tuple(cfg.attribution.parts)}
    off = {method: _switched_off(method, of) for method, of in parts.items()}
    off = {**_all_run(estimator, set(off)), **off}
    titles = {m: "Attribution" if m == CORAL.method else f"Attribution of {m}" for m in off}
    order = sorted(off, key=lambda method: (method != CORAL.method, method))
    return {titles[method]: (method, off[method]) for method in order}


def _all_run(estimator: Estimator, but: Collection[str]) -> dict[str, dict[str, str]]:
    """By method its parts, with the ablation of each, where every combination of them was run."""
    run: dict[str, set[frozenset[str]]] = {}
    for cell in estimator.cells:
        if cell.method not in but and not (cell.variant or cell.audit):
            run.setdefault(cell.method, set()).add(frozenset(cell.ablation.split("+")) - {WHOLE})
    found = {}
    for method, combinations in run.items():
        ablations = sorted(frozenset().union(*combinations))
        if 1 <= len(ablations) <= MOST_PARTS and len(combinations) == 2 ** len(ablations):
            found[method] = {name.removeprefix("no_"): name for name in ablations}
    return found


def _switched_off(method: str, parts: Iterable[str]) -> dict[str, str]:
    """Each part with the ablation that switches it off: Coral's as declared, another's ``no_<part>``."""
    if method != "coral":
        return {part: f"no_{part}" for part in parts}
    declared = switches_of(OmegaConf.structured(Coral))
    for part in parts:
        if part not in declared:
            raise ConfigError(
                f"attribution.parts: {part} is no part of coral: choose among {', '.join(declared)}."
            )
    return {part: declared[part] for part in parts}


def _metric(wanted: str, estimator: Estimator) -> str:
    """The metric asked for; on data that do not have it, the first headline that they have."""
    if wanted not in HEADLINES:
        raise ConfigError(
            f"sensitivity.metric={wanted} is in no table: choose among {', '.join(HEADLINES)}."
        )
    return next((name for name in (wanted, *HEADLINES) if estimator.logs(name)), wanted)
