"""What the options of a report name must be there: versions of the data, methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engram_hydra.errors import ConfigError
from engram_hydra.report.cells import Run


def check_hashes(wanted: Collection[str], runs: Mapping[str, Sequence[Run]]) -> None:
    """Raise ConfigError if a hash of ``wanted`` is of no run; ``runs`` are by data set."""
    versions = {name: _tags(of_set, "data_sha256") for name, of_set in runs.items()}
    for sha256 in wanted:
        if not any(sha256 in of_set for of_set in versions.values()):
            there = "; ".join(
                f"{name} has {', '.join(sorted(of_set)) or 'no run'}"
                for name, of_set in versions.items()
            )
            raise ConfigError(
                f"data_sha256={sha256} is the data of no run here: {there or 'there are no runs'}."
            )


def check_method(wanted: str, known: Collection[str], runs: Mapping[str, Sequence[Run]]) -> None:
    """Raise ConfigError if ``wanted`` is neither among the ``known`` methods nor that of any run."""
    found = {name for of_set in runs.values() for name in _tags(of_set, "method")}
    if wanted not in {*known, *found}:
        raise ConfigError(
            f"attribution.method={wanted}: no run is of it and no method is called so: choose among "
            f"{', '.join(sorted({*known, *found}))}."
        )


def _tags(runs: Sequence[Run], name: str) -> set[str]:
    return {run.tags.get(f"engram.{name}", "") for run in runs} - {""}
