"""Fixtures shared by all tests."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig

from workspace import Workspace


def pytest_configure() -> None:
    """Commands run in folders of their own, where a relative path would lead elsewhere."""
    if os.environ.get("ENGRAM_DATA"):
        os.environ["ENGRAM_DATA"] = str(Path(os.environ["ENGRAM_DATA"]).resolve())


@pytest.fixture(scope="session")
def engram_data() -> Path:
    """The folder of real benchmark data; without it the test is skipped, and says so."""
    folder = os.environ.get("ENGRAM_DATA")
    if not folder:
        pytest.skip("needs the real data: set ENGRAM_DATA to the folder that holds it")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"ENGRAM_DATA is set to {path}, which is no folder")
    return path


@pytest.fixture(scope="session")
def golden(engram_data: Path) -> Path:
    """The folder of the official code's answers, beside the data."""
    path = engram_data.parent / "golden"
    if not path.is_dir():
        pytest.skip(f"needs the golden files in {path}")
    return path


@pytest.fixture(scope="session")
def published(engram_data: Path) -> Path:
    """The folder of published rows, beside the data."""
    path = engram_data.parent / "published"
    if not path.is_dir():
        pytest.skip(f"needs the published rows in {path}")
    return path


@pytest.fixture(scope="session")
def vector_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all tests keep their vectors: ``ENGRAM_CACHE`` if set, else a folder of this session."""
    folder = os.environ.get("ENGRAM_CACHE")
    return Path(folder).resolve() if folder else tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def store_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database with its tables and nothing else: making one takes seconds, a copy none."""
    from mlflow import MlflowClient

    file = tmp_path_factory.mktemp("store") / "mlflow.db"
    MlflowClient(f"sqlite:///{file}").search_experiments()
    return file


@pytest.fixture
def workspace(tmp_path: Path, store_template: Path, vector_cache: Path) -> Workspace:
    """An empty folder to run the command line in."""
    (tmp_path / "mlruns").mkdir()
    shutil.copy(store_template, tmp_path / "mlruns")
    return Workspace(tmp_path, vector_cache)


@pytest.fixture
def compose() -> Iterator[Callable[..., DictConfig]]:
    """``compose("k=5", config="config")``: the options that this command line composes."""
    import hydra

    from engram_hydra.cli import register_resolvers
    from engram_hydra.conf_dir import conf_dir
    from engram_hydra.config import register

    register()
    register_resolvers()

    def composed(*overrides: str, config: str = "config", **more: Any) -> DictConfig:
        return hydra.compose(config, overrides=list(overrides), **more)

    with hydra.initialize_config_dir(config_dir=conf_dir(), version_base="1.3"):
        yield composed


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[Any, str]]:
    """Runs ``hydra_command`` in this process; its exit code and what it wrote to standard error."""
    from hydra.core.global_hydra import GlobalHydra

    from engram_hydra.cli import hydra_command

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # restores what the command sets
    monkeypatch.setattr(sys, "path", [*sys.path])
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [*root.handlers])  # Hydra adds its own for each job
    monkeypatch.setattr(root, "level", root.level)
    monkeypatch.setattr(logging.getLogger("engram_hydra"), "level", logging.NOTSET)

    def run(task: Callable[[DictConfig], Any], *arguments: str) -> tuple[Any, str]:
        monkeypatch.setattr(sys, "argv", ["engram_hydra", *arguments])
        GlobalHydra.instance().clear()
        try:
            hydra_command(task, "config")
        except SystemExit as end:
            return end.code, capsys.readouterr().err
        finally:
            GlobalHydra.instance().clear()
        return 0, capsys.readouterr().err

    return run
