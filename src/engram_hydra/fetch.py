"""``python -m engram_hydra.fetch dataset=fc_sh_6k``: bring a data set's files to where a run looks.

A run does the same by itself; this is for before it, or for a machine that will be offline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig

from engram_hydra import config
from engram_hydra.cli import hydra_command
from engram_hydra.datasets.files import (
    PinnedFile,
    data_folder,
    locate,
    pinned_files,
    present,
    sha256_of,
)
from engram_hydra.errors import DataError

ALL = "all"  # every data set: an option of this command alone


def fetch(cfg: DictConfig) -> None:
    """Find or download each file once, say where it lies, and raise what could not be had."""
    folder, cache = data_folder(cfg.paths.data), Path(cfg.paths.cache)
    users: dict[tuple[PinnedFile, ...], list[str]] = {}
    for options in _datasets(cfg):
        for forms in _file_sets(options, cfg):
            users.setdefault(forms, []).append(options.name)
    if not users:
        print(f"dataset={cfg.dataset.name} is generated: there is nothing to fetch.")
    every = cfg.dataset.name == ALL
    outcomes = [_bring(forms, names, folder, cache, every) for forms, names in users.items()]
    if failures := [failure for failure in outcomes if failure]:
        raise DataError("\n".join(failures))


def _bring(
    forms: tuple[PinnedFile, ...],
    names: Sequence[str],
    folder: Path | None,
    cache: Path,
    every: bool,
) -> str:
    """Say where the file that ``names`` need lies; returns what to tell if it can't be had.

    Among ``every`` data set's files, one that lies nowhere to be fetched from is said to be missing,
    and no failure.
    """
    who = ", ".join(names)
    nowhere = not any(form.hub or form.github for form in forms)
    try:
        found = present(folder, *forms, cache=cache)
        if not found and every and nowhere:
            print(f"{who}: can't be fetched; put {' or '.join(form.local for form in forms)} there")
            return ""
        path = found or locate(folder, *forms, cache=cache)
    except DataError as error:
        return f"{who}: {error}"
    print(f"{who}: {'already here' if found else 'fetched'}, {_said(path, forms)}")
    return ""


def _datasets(cfg: DictConfig) -> list[DictConfig]:
    """The options of the data set asked for, or of every one."""
    if cfg.dataset.name != ALL:
        return [cfg.dataset]
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig

    rest = [key for key in HydraConfig.get().overrides.task if not key.startswith("dataset=")]
    names = GlobalHydra.instance().config_loader().get_group_options("dataset")
    return [
        hydra.compose("fetch", overrides=[*rest, f"dataset={name}"]).dataset
        for name in names
        if name != ALL
    ]


def _file_sets(options: DictConfig, cfg: DictConfig) -> Iterator[tuple[PinnedFile, ...]]:
    """The files of one data set, each in its forms."""
    if "files" in options:
        yield pinned_files(options.files)
    if issubclass(config.schema_of(options), config.FactConsolidation):
        yield pinned_files(cfg.prompt)


def _said(path: Path, forms: Sequence[PinnedFile]) -> str:
    """Where a file lies, its size, and what its hash is worth."""
    digest = sha256_of(path)
    pinned = "as pinned" if digest in {form.sha256 for form in forms} else "which nobody pinned"
    return f"{path} ({path.stat().st_size:,} bytes, SHA-256 {digest}, {pinned})"


def main() -> None:
    ConfigStore.instance().store(group="dataset", name=ALL, node={"name": ALL})
    hydra_command(fetch, config_name="fetch")


if __name__ == "__main__":
    main()
