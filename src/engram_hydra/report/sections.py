"""Which sections a report has, from its options and its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from omegaconf import DictConfig, OmegaConf

from engram_hydra.config import Coral
from engram_hydra.errors import ConfigError
from engram_hydra.metrics.summary import HEADLINES
from engram_hydra.options import switches_of
from engram_hydra.report.ablation_table import row_labels
from engram_hydra.report.attribution import attribution_section
from engram_hydra.report.audit import audit_section
from engram_hydra.report.costs import costs_section
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.immune import immune_section
from engram_hydra.report.section import Section
from engram_hydra.report.sensitivity import sensitivity_section
from engram_hydra.report.variants import Change


def sections(
    cfg: DictConfig, dataset: str, estimator: Estimator, declared: Sequence[Change]
) -> dict[str, Section | str]:
    """Each section under its title, or how to get the runs it is made of; ``cfg`` is the aggregate's.

    Raises ConfigError if ``cfg`` names a part or a metric that there is not.
    """
    method = cfg.attribution.method
    off = _switched_off(method, cfg.attribution.parts)
    metric = _metric(cfg.sensitivity.metric, estimator)
    logged = [name for name in HEADLINES if estimator.logs(name)]
    audited = [name for name in HEADLINES if estimator.logs(name, audit=True)]

    def experiment(name: str) -> str:
        return f"python -m engram_hydra +experiment={name} dataset={dataset}"

    combinations = f"{method} with and without {', '.join(off.values())}"
    labels = row_labels(estimator)
    return {
        "Cost": costs_section(estimator, labels) or experiment("anchors"),
        "Immune response": immune_section(estimator, labels) or experiment("ablations"),
        "Attribution": attribution_section(estimator, logged, method, off)
        or (experiment("factorial") if method == "coral" else combinations),
        "Sensitivity": sensitivity_section(estimator, metric, declared)
        or f"{experiment('sensitivity')}, beside its anchors: +experiment=anchors",
        "Audit": audit_section(estimator, audited) or experiment("audit"),
    }


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
