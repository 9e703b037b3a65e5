"""From a data set's options to the data set."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from engram_hydra import config
from engram_hydra.datasets.dataset import Dataset
from engram_hydra.errors import DataError


def load_dataset(options: DictConfig, folder: Path | None) -> Dataset:
    """The data set that ``options`` names, with its files from ``folder`` or the hub.

    Raises DataError where a file is missing, not the pinned one, or malformed, or where the set has no
    question.
    """
    data = _load(options, folder)
    if not data.questions:
        raise DataError(
            f"dataset={options.name} has no question to ask:"
            " set dataset.single_hop or dataset.two_hop above 0."
        )
    return data


def _load(options: DictConfig, folder: Path | None) -> Dataset:
    if issubclass(config.schema_of(options), config.Synthetic):
        from engram_hydra.datasets import synthetic

        return synthetic.generate(
            facts=options.facts,
            conflict_rate=options.conflict_rate,
            single_hop=options.single_hop,
            two_hop=options.two_hop,
            seed=options.seed,
        )
    if folder is not None and not folder.is_dir():
        raise DataError(
            f"the data folder {folder} does not exist: set ENGRAM_DATA or paths.data to one that does."
        )
    from engram_hydra.datasets import factconsolidation
    from engram_hydra.datasets.files import HubAddress, PinnedFile

    files = [
        PinnedFile(
            file.local,
            file.sha256,
            file.hub and HubAddress(file.hub.repo, file.hub.revision, file.hub.path),
        )
        for file in options.files.values()
    ]
    return factconsolidation.load(
        name=options.name, source=options.source, serial=options.serial, folder=folder, files=files
    )
