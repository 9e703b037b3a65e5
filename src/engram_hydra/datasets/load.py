"""From a data set's options to the data set."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from engram_hydra import config
from engram_hydra.datasets.dataset import Dataset


def load_dataset(options: DictConfig, folder: Path | None) -> Dataset:
    """The data set that ``options`` names, with its files from ``folder`` or the hub.

    Raises DataError where a file is missing, not the pinned one, or malformed.
    """
    if issubclass(config.schema_of(options), config.Synthetic):
        from engram_hydra.datasets import synthetic

        return synthetic.generate(
            facts=options.facts,
            conflict_rate=options.conflict_rate,
            single_hop=options.single_hop,
            two_hop=options.two_hop,
            seed=options.seed,
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
