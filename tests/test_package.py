"""The wheel, installed away from the checkout and run from a third folder; and every Python's grammar."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from workspace import SMALL

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command that must succeed wrote to both of its streams."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=env, capture_output=True, text=True, timeout=600
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{said}"
    return said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    at_hand = importlib.util.find_spec("hatchling") is not None
    isolation = ["--no-build-isolation"] if at_hand else []
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *isolation]
    done = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(CHECKOUT)], capture_output=True, text=True
    )
    if not at_hand and "hatchling" in done.stderr and done.returncode:
        pytest.skip("building a wheel needs hatchling, which is neither installed nor to be had")
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("engram_hydra-*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of a fresh environment with the wheel; everything else it borrows."""
    home = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, folder=home)
    # After the install, or pip would think this project is there already. Such a line adds the
    # folder but not what .pth files in it say, so an editable install there is not seen.
    site = next((home / "lib").glob("python3.*/site-packages"))
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return home / "bin"


def test_the_wheel_holds_conf_and_the_plugin(wheel):
    from zipfile import ZipFile

    names = set(ZipFile(wheel).namelist())
    for file in (CHECKOUT / "conf").rglob("*.yaml"):
        assert f"engram_hydra/conf/{file.relative_to(CHECKOUT / 'conf').as_posix()}" in names
    assert {"engram_hydra/py.typed", "hydra_plugins/engram_hydra/__init__.py"} <= names
    assert not [name for name in names if name.startswith(("tests/", "src/", "conf/"))]


def test_what_is_imported_is_the_wheel(installed, workspace):
    code = (
        "import json, engram_hydra, hydra_plugins.engram_hydra as plugin\n"
        "from engram_hydra.conf_dir import conf_dir\n"
        "print(json.dumps([engram_hydra.__file__, plugin.__file__, conf_dir()]))"
    )
    for place in json.loads(run(installed / "python", "-c", code, folder=workspace.folder)):
        assert Path(place).is_relative_to(installed.parent)
        assert Path(place).exists()


def test_the_console_script_shows_its_configuration(installed, workspace):
    import yaml

    shown = yaml.safe_load(run(installed / "engram-hydra", "--cfg", "job", folder=workspace.folder))
    committed = yaml.safe_load((CHECKOUT / "conf" / "method" / "coral.yaml").read_text("utf-8"))
    assert shown["method"] == {k: v for k, v in committed.items() if k != "defaults"}
    assert list(workspace.folder.iterdir()) == [workspace.folder / "mlruns"]


def test_the_console_script_runs(installed, workspace):
    run(installed / "engram-hydra", "method=bm25", *SMALL, folder=workspace.folder)
    (logged,) = workspace.runs(complete="true")
    assert len(workspace.rows(logged)) == 15
    environment = json.loads(workspace.artifact(logged, "environment.json"))
    assert environment["commit"] is None  # it is no checkout
    assert environment["versions"]["rank-bm25"] == "0.2.2"


def test_a_sweep_goes_through_the_wheels_sweeper(installed, workspace):
    sweep = ("-m", "method=bm25,random", "seed=0,1", *SMALL)
    said = run(installed / "engram-hydra", *sweep, folder=workspace.folder)
    assert "skipped: it is deterministic" in said
    runs = workspace.runs(complete="true")
    assert sorted(logged.data.tags["engram.seed"] for logged in runs) == ["0", "1", "deterministic"]


def test_the_aggregate_is_there(installed, workspace):
    module = (installed / "python", "-m", "engram_hydra.aggregate")
    assert "data_sha256" in run(*module, "--help", folder=workspace.folder)
    assert "report.html" in run(*module, folder=workspace.folder)


def interpreter(version: str) -> Path | None:
    """A Python of this version, on PATH or among those of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    name = f"python{version}"
    candidates = [shutil.which(name), *sorted(root.glob(f"versions/{version}.*/bin/{name}"))]
    for found in filter(None, candidates):
        # A shim of pyenv is there whether or not its version is in use.
        if subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return Path(found)
    return None


@pytest.mark.parametrize("version", PYTHONS)
def test_every_module_compiles(version, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on PATH or in pyenv")
    ignored = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(CHECKOUT / "src", tmp_path / "src", ignore=ignored)
    run(python, "-W", "error", "-m", "compileall", "-q", copy, folder=tmp_path)
    assert len(list(copy.rglob("*.pyc"))) == len(list((CHECKOUT / "src").rglob("*.py")))
