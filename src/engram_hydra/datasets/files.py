"""Data files that are known by their hash: where one lies, or how to get it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from engram_hydra.errors import DataError
from engram_hydra.hub import hub_client


@dataclass(frozen=True, slots=True)
class HubAddress:
    """One file of a hub data set (``owner/name``) at one commit (40 hex digits)."""

    repo: str
    revision: str
    path: str

    def __str__(self) -> str:
        return f"{self.path} of hub data set {self.repo} at revision {self.revision}"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that is the right one only with this hash.

    ``local`` is where it lies below the data folder (with ``/``), ``sha256`` its hash (64 lowercase
    hex digits), ``hub`` where it can be downloaded, if it can.
    """

    local: str
    sha256: str
    hub: HubAddress | None = None


def locate(folder: Path | None, *forms: PinnedFile) -> Path:
    """The verified path of one of a file's ``forms``: the first that lies in ``folder``, else on the hub.

    A download goes to the hub client's own cache and is not fetched again. Raises ``DataError`` if no
    form can be had, or if the one found is not the pinned one.
    """
    for form in forms:
        if folder is not None and (folder / form.local).is_file():
            return _verified(folder / form.local, form.sha256)
    for form in forms:
        if form.hub is not None:
            return _verified(_download(form.hub, _places(folder, forms)), form.sha256)
    raise DataError(f"A data file is missing: put it at {_places(folder, forms)}.")


def _places(folder: Path | None, forms: tuple[PinnedFile, ...]) -> str:
    if folder is None:
        places = " or ".join(form.local for form in forms)
        return f"{places} in a folder that ENGRAM_DATA or paths.data names"
    return " or ".join(str(folder / form.local) for form in forms)


def _download(address: HubAddress, places: str) -> Path:
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            hub_client(address).hf_hub_download(
                address.repo, address.path, repo_type="dataset", revision=address.revision
            )
        )
    except (
        Exception
    ) as error:  # the client's errors have no base in common, within and over versions
        # "Not in the cache either" is what the client says after the error that matters.
        cause = (isinstance(error, LocalEntryNotFoundError) and error.__cause__) or error
        reason = str(cause).partition("\n")[0].strip().rstrip(".")
        raise DataError(
            f"{address} can't be downloaded ({type(cause).__name__}: {reason}): "
            f"connect to the hub, or put the file at {places}."
        ) from error


def _verified(path: Path, sha256: str) -> Path:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise DataError(
            f"{path} can't be read ({error.strerror}): make it readable, or remove it."
        ) from error
    if digest.hexdigest() != sha256:
        # The hub's cache holds links: without the file itself the client downloads it again.
        raise DataError(
            f"{path.resolve()} has SHA-256 {digest.hexdigest()} where {sha256} is pinned: "
            "delete it and run again, or put the pinned version in its place."
        )
    return path
