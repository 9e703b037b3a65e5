"""The tags of a run: which one it is, as far as its options tell."""

from __future__ import annotations

from omegaconf import DictConfig

from engram_hydra.declared import declaration
from engram_hydra.hydra_job import in_sweep, sweep_folder
from engram_hydra.memories.build import memory_class
from engram_hydra.options import ablation_of
from engram_hydra.report.statements import statements_sha256
from engram_hydra.run_key import (
    NOT_ASKED,
    code_sha256,
    embedder_of,
    index_of,
    method_sha256,
    reader_of,
)
from engram_hydra.source_tree import source_tree


def identity_tags(cfg: DictConfig, seed: int | None) -> dict[str, str]:
    """The ``engram.*`` tags that are known before the data are loaded; ``None``: deterministic."""
    declared, tree = declaration(cfg, seed), source_tree()
    tags = {
        "method": cfg.method.name,
        "ablation": ablation_of(cfg.method),
        "dataset": cfg.dataset.name,
        "seed": "deterministic" if seed is None else str(seed),
        "embedder": (embedder := embedder_of(cfg)),
        "overflow": "none" if embedder == "none" else cfg.embedder.overflow,
        "index": index_of(cfg),
        "reader": (reader := reader_of(cfg)),
        "endpoint": "" if reader == NOT_ASKED else cfg.reader.get("base_url", ""),
        "k": str(cfg.k),
        "code_sha256": code_sha256(),
        "method_sha256": method_sha256(cfg.method),
        "statements_sha256": statements_sha256(),
        "git_commit": tree.commit,
        "git_dirty": "" if tree.dirty is None else _word(tree.dirty),
        "sweep_id": _sweep_id(),
        "as_shipped": _word(declared.as_shipped),
        "variant": declared.variant,
        "exploratory": _word(declared.exploratory),
        "oracle": _word(memory_class(cfg.method).sees_conflicts),
        "audit": _word(cfg.audit.name != "none"),
    }
    if cfg.audit.name != "none":
        tags["audit_rule"] = cfg.audit.name
    return {f"engram.{name}": value for name, value in tags.items()}


def _word(truth: bool) -> str:
    return str(truth).lower()


def _sweep_id() -> str:
    """The sweep's folder name, the same in every process of it; empty for a single run."""
    return sweep_folder().name if in_sweep() else ""
