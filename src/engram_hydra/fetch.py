"""``python -m engram_hydra.fetch dataset=fc_sh_6k``: bring a data set's files to where a run looks.

A run does the same by itself; this is for before it, or for a machine that will be offline.
"""

from __future__ import annotations

import textwrap
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
from engram_hydra.hub import cache_folder

ALL = "all"  # every data set: an option of this command alone
WIDTH = 100  # columns


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
            places = " or ".join(form.local for form in forms)
            print(_folded(f"{who}: can't be fetched; put {places} there"))
            return ""
        path = found or locate(folder, *forms, cache=cache)
    except DataError as error:
        return _folded(f"{who}: {error}", folder, cache, cache_folder())
    print(_folded(f"{who}: {'already here' if found else 'fetched'}"))
    print(textwrap.indent(_said(path, forms), "  "))
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
    """Where a file lies, its hash and size, and what the hash is worth, in a line each."""
    digest = sha256_of(path)
    pinned = "as pinned" if digest in {form.sha256 for form in forms} else "which nobody pinned"
    return f"{path}\nSHA-256 {digest}, {pinned}\n{path.stat().st_size:,} bytes"


def _folded(text: str, *folders: Path | None) -> str:
    """``text`` in lines of ``WIDTH``; none ends within a word, nor within the name of a folder."""
    for name in map(str, filter(None, folders)):
        text = text.replace(name, name.replace(" ", "\0"))
    lines = textwrap.fill(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return lines.replace("\0", " ")


def main() -> None:
    ConfigStore.instance().store(group="dataset", name=ALL, node={"name": ALL})
    hydra_command(fetch, config_name="fetch")


if __name__ == "__main__":
    main()
