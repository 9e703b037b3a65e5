"""The Hugging Face hub's client, the same for data and models."""

from __future__ import annotations

import errno
import logging
import os
import re
import time
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

log = logging.getLogger(__name__)

PAUSES = (1.0, 4.0)  # seconds between the tries of a download
PASSING = {408, 429, 500, 502, 503, 504}  # the answers after which the client asks again
LONGEST_WAIT = 600  # seconds; a hub that asks for more is told of at once
# What keeps a file from being written. EPERM and EIO are left out: as numbers TLS errors have them too.
UNWRITABLE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EACCES,
    errno.EROFS,
    errno.EEXIST,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
}


class HubBusyError(Exception):
    """The hub asks for a longer wait than anyone would sit through."""


def hub_client(wanted: object) -> ModuleType:
    """``huggingface_hub``, about to fetch ``wanted``, which the log says.

    Its own warnings, one for each retry and printed twice, are left out: what comes of them is the
    error that its call raises. A wait that the hub asks for is logged, and not begun where it is of
    over ``LONGEST_WAIT`` seconds, which the client would sleep through: its call raises HubBusyError.
    """
    import huggingface_hub
    from huggingface_hub.utils import logging as hub_logging

    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    hooks = huggingface_hub.get_session().event_hooks["response"]
    if _heed_wait not in hooks:
        hooks.append(_heed_wait)
    log.info("asking the hub for %s", wanted)
    return huggingface_hub


def _heed_wait(response: Any) -> None:
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    if response.status_code not in PASSING:
        return
    limit = parse_ratelimit_headers(response.headers)
    asked = limit.reset_in_seconds if limit else response.headers.get("Retry-After", "")
    seconds = int(asked) if str(asked).strip().isdecimal() else 0
    if seconds > LONGEST_WAIT:
        raise HubBusyError(f"it asks to wait {seconds:,} seconds ({response.status_code})")
    if seconds:
        log.warning("the hub asks to wait %d seconds (%d)", seconds, response.status_code)


def reach_hub(url: str) -> None:
    """Ask once for the head of ``url``; raises the client's error where no answer or a refusal comes.

    The client itself repeats a question that found no network five times, which takes 23 seconds.
    Where an answer says that the trouble will pass, this returns, and the client may try again.
    """
    from huggingface_hub import get_hf_file_metadata
    from huggingface_hub.errors import HfHubHTTPError

    try:
        get_hf_file_metadata(url)
    except HfHubHTTPError as error:
        if getattr(error.response, "status_code", None) not in PASSING:
            raise
        log.warning("the hub is in trouble (%s), asking again", first_line(error))


def cached_file(repo: str, revision: str, path: str) -> Path | None:
    """Where the client's cache has a file of a hub data set, if it has it; nothing is asked."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, path, revision=revision, repo_type="dataset")
    return Path(found) if isinstance(found, str) else None


def download_file(repo: str, revision: str, path: str, *, anew: bool) -> Path:
    """A file of a hub data set in the client's cache, downloaded unless it is there.

    ``anew`` replaces what is there, in one step, so that other processes always find a whole file.
    Whatever the client raises comes through: its errors have no base in common.
    """
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    client = hub_client(f"{path} of {repo}")
    reach_hub(client.hf_hub_url(repo, path, repo_type="dataset", revision=revision))
    download = partial(
        client.hf_hub_download,
        repo,
        path,
        repo_type="dataset",
        revision=revision,
        force_download=anew,
    )
    for pause in PAUSES:
        try:
            return Path(download())
        except (HfHubHTTPError, LocalEntryNotFoundError):
            raise  # the client has asked again by itself
        except Exception as error:  # a connection that broke off within the file
            if getattr(error, "errno", None):
                raise  # of this machine, such as a full disk
            log.warning("%s broke off (%s), downloading it again", path, first_line(error))
        time.sleep(pause)
    return Path(download())


def cache_folder() -> Path:
    """Where the client keeps what it downloads."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def write_fault(error: BaseException) -> str:
    """Why this machine could not write a file, if that is what ``error`` says, else nothing.

    The part of the client that is written in Rust may give the system's error as text alone.
    """
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (said := re.search(r"\(os error ([0-9]+)\)", str(error))):
        number = int(said[1])
    return os.strerror(number) if number in UNWRITABLE else ""


def first_line(error: BaseException) -> str:
    """An error's type and the first line of what it says."""
    text = str(error).strip().partition("\n")[0].rstrip(".: ")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
