"""Figures others published, with their settings: shown beside ours, never subtracted or tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from engram_hydra.errors import ConfigError


@dataclass(frozen=True)
class PublishedTable:
    """One table of one source, whole, as its YAML file in ``conf/published`` holds it.

    ``setting`` names reader, k, unit_retrieved, context and questions. ``label`` are the columns that
    name a row, ``show`` the names of the rows to show beside measured ones. ``columns`` says of a
    column which ``datasets`` it belongs beside, as which ``metric`` and in which ``unit``. ``same_as``
    gives a row the measured row of the very same method, which may reproduce it.
    """

    source: str
    version: str
    table: str
    setting: Mapping[str, str]
    remark: str
    label: Sequence[str]
    show: Sequence[str]
    columns: Mapping[str, Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    same_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def citation(self) -> str:
        """Source, version and table, in one line."""
        return f"{self.source}, {self.version}, {self.table}"


@dataclass(frozen=True)
class Figure:
    """One published figure, in ``percent`` or as a ``fraction``, and the table it stands in."""

    name: str
    metric: str
    value: float
    unit: str
    table: PublishedTable


def load_published(folder: Path) -> list[PublishedTable]:
    """All published tables of ``folder`` (``conf/published``), in the order of their file names.

    Raises ConfigError if there are none, or at a file that is not such a table.
    """
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise ConfigError(
            f"No published tables in {folder}: it should hold one YAML file for each."
        )
    return [_load(path) for path in paths]


def beside(tables: Sequence[PublishedTable], dataset: str) -> list[Figure]:
    """The figures that belong beside a data set; what was not printed or not run is not among them."""
    return [
        Figure(name, column["metric"], float(row[key]), column["unit"], table)
        for table in tables
        for key, column in table.columns.items()
        if dataset in column["datasets"]
        for row in table.rows
        if (name := ", ".join(row[part] for part in table.label)) in table.show
        and isinstance(row[key], (int, float))
    ]


def _load(path: Path) -> PublishedTable:
    try:
        content = OmegaConf.to_container(OmegaConf.load(path))
        return PublishedTable(**content)  # type: ignore[arg-type]
    except (TypeError, YAMLError, OmegaConfBaseException) as error:
        fields = ", ".join(PublishedTable.__dataclass_fields__)
        raise ConfigError(
            f"{path} is no published table ({str(error).splitlines()[0]}): give it the fields {fields}."
        ) from error
