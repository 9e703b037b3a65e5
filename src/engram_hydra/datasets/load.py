"""From a data set's options to the data set."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from engram_hydra import config
from engram_hydra.datasets.dataset import Dataset
from engram_hydra.errors import DataError


def load_dataset(options: DictConfig, folder: str | None) -> Dataset:
    """The data set that ``options`` names, with its file from where it says, ``folder``, or the hub.

    Raises DataError where a file is missing, not the pinned one, or malformed, or where the set has no
    question.
    """
    data = _load(options, folder)
    if not data.questions:
        raise DataError(f"dataset={options.name} has no question to ask: {_why(options, data)}.")
    return data


def _why(options: DictConfig, data: Dataset) -> str:
    if data.excluded:
        reason = next(iter(data.excluded.values()))
        return f"its file {data.source} leaves all out, each for a reason such as: {reason}"
    if issubclass(config.schema_of(options), config.Synthetic):
        return "set dataset.single_hop or dataset.two_hop above 0"
    return f"its file {data.source} holds none, so put a whole one in its place"


def load_if_present(options: DictConfig, folder: str | None) -> Dataset | None:
    """The data set if nothing has to be fetched for it, else None. Raises as ``load_dataset``."""
    if not issubclass(config.schema_of(options), config.Synthetic) and options.path is None:
        from engram_hydra.datasets.files import data_folder, pinned_files, present

        if present(data_folder(folder), *pinned_files(options.files)) is None:
            return None
    return load_dataset(options, folder)


def _load(options: DictConfig, folder: str | None) -> Dataset:
    schema = config.schema_of(options)
    if issubclass(schema, config.Synthetic):
        from engram_hydra.datasets import synthetic

        return synthetic.generate(
            facts=options.facts,
            conflict_rate=options.conflict_rate,
            single_hop=options.single_hop,
            two_hop=options.two_hop,
            seed=options.seed,
        )
    file = _file(options, folder)
    if issubclass(schema, config.LongMemEval):
        from engram_hydra.datasets import longmemeval

        return longmemeval.load(
            name=options.name,
            file=file,
            granularity=options.granularity,
            roles=options.roles,
            only=options.only,
        )
    from engram_hydra.datasets import factconsolidation

    return factconsolidation.load(
        name=options.name, file=file, source=options.source, serial=options.serial
    )


def _file(options: DictConfig, folder: str | None) -> Path:
    from engram_hydra.datasets.files import data_folder, locate, own_file, pinned_files

    if options.path is not None:
        return own_file(options.path, options.sha256)
    return locate(data_folder(folder), *pinned_files(options.files))
