"""pyproject.toml and the lock: one step installs exactly what is named, for every Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = [Requirement(line) for line in (ROOT / "requirements.lock").read_text().splitlines()]
NEEDED = [
    Requirement(line)
    for line in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
]
PYTHONS = {"3.10": "3.10.16", "3.11": "3.11.11", "3.12": "3.12.8", "3.13": "3.13.1"}


def locked(name, python, platform="linux"):
    """The versions of a package that the lock gives this Python."""
    here = default_environment() | {
        "python_version": python,
        "python_full_version": PYTHONS[python],
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "sys_platform": platform,
    }
    return [
        next(iter(line.specifier)).version
        for line in LOCK
        if canonicalize_name(line.name) == canonicalize_name(name)
        and (line.marker is None or line.marker.evaluate(here))
    ]


def test_every_line_of_the_lock_pins_one_version_and_says_nothing_of_where_from():
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.fullmatch(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[0-9][0-9A-Za-z.!+]*( ; .+)?", line), (
            line
        )


def test_nothing_for_a_gpu_is_locked():
    names = {canonicalize_name(line.name) for line in LOCK}
    assert not [name for name in names if name.startswith(("nvidia", "triton", "cuda"))]


@pytest.mark.parametrize("python", PYTHONS)
def test_torch_is_one_version_for_all(python):
    assert locked("torch", python) == ["2.13.0"]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_has_every_dependency_in_a_version_that_is_allowed(python):
    for needed in NEEDED:
        versions = locked(needed.name, python)
        assert len(versions) == 1, f"{needed.name} for {python}: {versions}"
        assert needed.specifier.contains(versions[0], prereleases=True), needed


@pytest.mark.parametrize("python", PYTHONS)
def test_no_package_is_locked_twice_for_one_python(python):
    names = {canonicalize_name(line.name) for line in LOCK}
    assert [name for name in names if len(locked(name, python)) > 1] == []


def test_the_tests_and_the_tools_run_on_every_python_that_is_promised():
    promised = Requirement(f"python{PROJECT['requires-python']}").specifier
    assert [p for p in ("3.9", *PYTHONS, "3.14") if promised.contains(p)] == [*PYTHONS]
    classified = {
        line.rpartition(" ")[2]
        for line in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    }
    assert classified == set(PYTHONS)
    assert locked("tomli", "3.10")  # what reads pyproject.toml before 3.11


def test_conf_goes_into_the_wheel():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = build["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"conf": "engram_hydra/conf"}
    assert all((ROOT / package).is_dir() for package in wheel["packages"])
    for path in build["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / path).exists(), path


def test_the_ui_listens_on_this_machine_only_whatever_the_environment_says():
    done = subprocess.run(
        ["make", "-n", "ui"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MLFLOW_HOST": "0.0.0.0", "HOST": "0.0.0.0"},
    )
    (command,) = [line for line in done.stdout.splitlines() if "mlflow ui" in line]
    assert "--host 127.0.0.1" in command
    assert "docs/security.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "--app-name basic-auth" in (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
