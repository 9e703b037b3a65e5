"""Data files that are known by their hash: where one lies, or how to get it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram_hydra.errors import ConfigError, DataError
from engram_hydra.github import GitHubAddress, Shelf, check_python
from engram_hydra.hub import cache_folder, cached_file, download_file, first_line, write_fault

log = logging.getLogger(__name__)


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
    hex digits; None where nobody knows it), ``size`` its length in bytes, if it is known, ``hub`` and
    ``github`` where it can be downloaded, if it can.
    """

    local: str
    sha256: str | None
    hub: HubAddress | None = None
    github: GitHubAddress | None = None
    size: int | None = None


def pinned_files(options: Mapping[str, Mapping[str, Any]]) -> tuple[PinnedFile, ...]:
    """The forms of one file that ``options`` declare: by name, each with the fields of PinnedFile."""

    def address(kind: type[Any], fields: Mapping[str, str] | None) -> Any:
        return kind(**fields) if fields else None

    return tuple(
        PinnedFile(
            local=form["local"],
            sha256=form["sha256"],
            hub=address(HubAddress, form.get("hub")),
            github=address(GitHubAddress, form.get("github")),
            size=form.get("size"),
        )
        for form in options.values()
    )


def data_folder(path: str | None) -> Path | None:
    """The folder that ``paths.data`` names, if it names one; a ``DataError`` where it does not exist."""
    if path is None or Path(path).is_dir():
        return Path(path) if path else None
    raise DataError(
        f"the data folder {path} does not exist: set ENGRAM_DATA or paths.data to one that does."
    )


def own_file(path: str, sha256: str | None) -> Path:
    """The file at ``path``, with this hash where one is given; ``DataError`` where it is not so."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise DataError(f"dataset.path={path} is no file: set it to one that is there.")
    if sha256 is not None and (digest := sha256_of(file)) != sha256.lower():
        raise DataError(
            f"{file} has SHA-256 {digest} where dataset.sha256={sha256} was said:"
            " correct the one or the other."
        )
    return file


def locate(folder: Path | None, *forms: PinnedFile, cache: Path | None = None) -> Path:
    """The verified path of one of a file's ``forms``: ``present``, else downloaded and verified.

    A download goes to the hub client's own cache, or below ``cache`` if it is GitHub's. Processes that
    need the same file at once all get it whole. Raises ``DataError`` if no form can be had, or if the
    one found is not the pinned one.
    """
    if found := present(folder, *forms, cache=cache):
        return found
    for form in forms:
        if form.hub is not None:
            return _from_hub(form, form.hub, _places(folder, forms))
        if form.github is not None:
            return _from_github(form, form.github, cache, _places(folder, forms))
    raise DataError(f"A data file is missing: put it at {_places(folder, forms)}.")


def present(folder: Path | None, *forms: PinnedFile, cache: Path | None = None) -> Path | None:
    """The verified path of the first form that is on this machine; no network is asked.

    The data folder comes first; a wrong file there is the user's, and a ``DataError``. A wrong file
    among the downloaded ones counts as absent, which the log says. One that can't be read is a
    ``DataError`` in either place.
    """
    try:
        for form in forms:
            if folder is not None and (path := folder / form.local).is_file():
                if problem := _problem(path, form):
                    raise DataError(
                        f"{path.resolve()} {problem}:"
                        " delete it and run again, or put the pinned version in its place."
                    )
                return path
        return next((found for form in forms if (found := _downloaded(form, cache))), None)
    except OSError as error:
        raise DataError(
            f"{error.filename} can't be read ({error.strerror}): make it readable, or remove it."
        ) from error


def _downloaded(form: PinnedFile, cache: Path | None) -> Path | None:
    if form.github is not None:
        return _shelf(form, form.github, cache).find()
    if form.hub is None:
        return None
    path = cached_file(form.hub.repo, form.hub.revision, form.hub.path)
    if path and (problem := _problem(path, form)):
        log.warning("%s %s, and counts as absent", path.resolve(), problem)
        return None
    return path


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as 64 lowercase hex digits. Raises ``DataError`` if it can't be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise DataError(
            f"{path} can't be read ({error.strerror}): make it readable, or remove it."
        ) from error
    return digest.hexdigest()


def _problem(path: Path, form: PinnedFile) -> str:
    """What is wrong with the file at ``path``, as the rest of a sentence; empty if nothing is."""
    size = path.stat().st_size
    if form.size is not None and size != form.size:
        return f"has {size:,} bytes where {form.size:,} are pinned"
    if form.sha256 is not None and (digest := sha256_of(path)) != form.sha256:
        return f"has SHA-256 {digest} where {form.sha256} is pinned"
    if form.sha256 is None and form.github is not None:
        try:
            check_python(path.read_bytes())
        except ValueError as error:
            return f"is not usable: {error}"
    return ""


def _places(folder: Path | None, forms: Sequence[PinnedFile]) -> str:
    if folder is None:
        places = " or ".join(form.local for form in forms)
        return f"{places} in a folder that ENGRAM_DATA or paths.data names"
    return " or ".join(str(folder / form.local) for form in forms)


def _from_hub(form: PinnedFile, address: HubAddress, places: str) -> Path:
    from huggingface_hub.errors import LocalEntryNotFoundError

    # What is in the cache already is a wrong file, or it would have been taken.
    anew = cached_file(address.repo, address.revision, address.path) is not None
    try:
        path = download_file(address.repo, address.revision, address.path, anew=anew)
    # The client's errors have no base in common, within and over versions.
    except Exception as error:
        # "Not in the cache either" is what the client says after the error that matters.
        cause = (isinstance(error, LocalEntryNotFoundError) and error.__cause__) or error
        raise _unavailable(address, cause, places, cache_folder(), "HF_HOME") from error
    if problem := _problem(path, form):
        raise DataError(
            f"{address} was downloaded and {problem}: the hub or its mirror at HF_ENDPOINT serves "
            f"another file, so try another, or put the pinned one at {places}."
        )
    return path


def _from_github(form: PinnedFile, address: GitHubAddress, cache: Path | None, places: str) -> Path:
    try:
        return _shelf(form, address, cache).fill()
    except ConfigError:
        raise
    except Exception as error:  # the system's, the HTTP library's, and those of a wrong file
        raise _unavailable(address, error, places, cache, "ENGRAM_CACHE") from error


def _shelf(form: PinnedFile, address: GitHubAddress, cache: Path | None) -> Shelf:
    if cache is None:
        raise TypeError("a file from GitHub needs a cache to be kept in")
    return Shelf(address, cache, form.sha256)


def _unavailable(
    address: HubAddress | GitHubAddress,
    cause: BaseException,
    places: str,
    kept: Path | None,
    setting: str,
) -> DataError:
    """What to tell of a failed download to the folder ``kept``, which ``setting`` names."""
    if fault := write_fault(cause):
        return DataError(
            f"{address} can't be written to {kept} ({fault}): free space or allow writing there, "
            f"set {setting} to another folder, or put the file at {places}."
        )
    return DataError(
        f"{address} can't be downloaded ({first_line(cause)}): "
        f"try again when it can be reached, or put the file at {places}."
    )
