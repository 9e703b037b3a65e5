"""What was stated before running: the statements, where they are decided, and by which margins."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from omegaconf import MISSING, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from engram_hydra.conf_dir import conf_dir
from engram_hydra.errors import ConfigError
from engram_hydra.metrics.summary import HEADLINES

IDS = ("H1", "H2", "H3a", "H3b", "H3c", "M1", "M2", "M3", "M4")


@dataclass
class Place:
    """A data set and the metric that decides on it."""

    dataset: str = MISSING
    metric: str = MISSING


@dataclass
class Statement:
    """``supported`` and ``refuted`` say in words what verdicts.py decides by; else undecided."""

    id: str = MISSING
    text: str = MISSING
    supported: str = MISSING
    refuted: str = MISSING


@dataclass
class Statements:
    """The file ``conf/statements.yaml``.

    ``alpha`` is a probability, ``margin`` in points, the confidences in percent. ``family`` are the
    ids that share one Holm adjustment. ``tide_curve`` gives each w of Tide the declared variant that
    sets it, empty as shipped.
    """

    alpha: float = MISSING
    margin: float = MISSING
    confidence: float = MISSING
    equivalence_confidence: float = MISSING
    family: list[str] = MISSING
    primary: Place = MISSING
    secondary: list[Place] = MISSING
    with_model_reader: list[Place] = MISSING
    sets: list[str] = MISSING
    tide_curve: dict[float, str] = MISSING
    detectability: str = MISSING
    statements: list[Statement] = MISSING
    sha256: str = ""  # of the file, which does not hold it

    @property
    def margin_share(self) -> float:
        """The margin as a difference of fractions."""
        return self.margin / 100


def statements_file() -> Path:
    return Path(conf_dir()) / "statements.yaml"


def statements_sha256(file: Path | None = None) -> str:
    """Digest of the file as it is now, 64 hex digits; raises ConfigError if it is not there."""
    file = file or statements_file()
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(
            f"{file} can't be read ({error.strerror}): restore it from the repository."
        ) from error


def load_statements(file: Path | None = None) -> Statements:
    """The statements of ``conf/statements.yaml``, or of another file.

    Raises ConfigError if a field is missing, unknown or of another type, or says what can't be decided.
    """
    file = file or statements_file()
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Statements), OmegaConf.load(file))
        found = cast(Statements, OmegaConf.to_object(merged))
    except (OSError, YAMLError, OmegaConfBaseException, ValueError) as error:
        raise ConfigError(
            f"{file} does not hold the statements ({str(error).splitlines()[0]}): restore it from the "
            "repository."
        ) from error
    if fault := _fault(found):
        raise ConfigError(f"{file}: {fault}.")
    found.sha256 = statements_sha256(file)
    return found


def _fault(found: Statements) -> str:
    """What can't be decided as it is written, or an empty string."""
    if (ids := [statement.id for statement in found.statements]) != list(IDS):
        return f"statements has {', '.join(ids) or 'none'}, so give {', '.join(IDS)}, in this order"
    if not 0 < found.alpha < 1:
        return f"alpha={found.alpha} is no level, so give one between 0 and 1"
    if not 0 < found.margin < 100:
        return f"margin={found.margin} is no margin, so give points between 0 and 100"
    for name in ("confidence", "equivalence_confidence"):
        if not 0 < (level := getattr(found, name)) < 100:
            return f"{name}={level} is no confidence, so give percent between 0 and 100"
    if found.family != list(IDS[:4]):
        return f"family must be {', '.join(IDS[:4])}, which share one adjustment and never grow"
    for place in (found.primary, *found.secondary, *found.with_model_reader):
        if place.metric not in HEADLINES:
            return f"{place.metric} is in no table, so choose among {', '.join(HEADLINES)}"
    if "" not in found.tide_curve.values():
        return "tide_curve lacks Tide as shipped, so give one w an empty variant"
    return ""
