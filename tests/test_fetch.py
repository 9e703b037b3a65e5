"""The command that brings data, against a hub and a GitHub on loopback."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import DictConfig

from engram_hydra.conf_dir import conf_dir

from hub_server import HubRepo, HubServer, environment, refusing

CONTENT = b"salt, rope and lamp oil\n" * 50
PROMPT = b'WORDS = {"system": "Answer."}\n'
PINNED = f"dataset.files.parquet.sha256={hashlib.sha256(CONTENT).hexdigest()}"


@pytest.fixture
def repos(compose: Callable[..., DictConfig]) -> tuple[HubRepo, HubRepo]:
    """What the committed addresses name, with other content."""
    cfg = compose("dataset=fc_sh_6k", config="fetch")
    hub, github = cfg.dataset.files.parquet.hub, cfg.prompt.templates.github
    return (
        HubRepo("dataset", hub.repo, hub.revision, {hub.path: CONTENT}),
        HubRepo("github", github.repo, github.commit, {github.path: PROMPT}),
    )


def fetch(
    url: str, home: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    here = home / "here"
    here.mkdir(exist_ok=True)
    env = environment(url, home / "hub") | {
        "ENGRAM_DATA": "",
        "ENGRAM_CACHE": str(home / "cache"),
        "ENGRAM_GITHUB_RAW": url,
    }
    done = subprocess.run(
        [sys.executable, "-m", "engram_hydra.fetch", *arguments],
        cwd=here,
        env=env | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert list(here.iterdir()) == []  # the command leaves nothing where it is run
    assert "Traceback" not in done.stderr
    return done


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "SHA-256" in line]


def test_what_is_fetched_is_here_afterwards(repos: tuple[HubRepo, HubRepo], tmp_path: Path) -> None:
    with HubServer(*repos) as hub:
        data, prompt = said(fetch(hub.url, tmp_path, "dataset=fc_sh_6k", PINNED))
    assert data.startswith(f"fc_sh_6k: fetched, {tmp_path / 'hub'}")
    assert f"({len(CONTENT):,} bytes, SHA-256 {PINNED[-64:]}, as pinned)" in data
    assert prompt.startswith(f"fc_sh_6k: fetched, {tmp_path / 'cache'}")
    assert f"SHA-256 {hashlib.sha256(PROMPT).hexdigest()}, which nobody pinned" in prompt
    with refusing() as url:
        again = said(fetch(url, tmp_path, "dataset=fc_sh_6k", PINNED))
    assert again == [line.replace(": fetched,", ": already here,") for line in (data, prompt)]


def test_one_file_that_fails_keeps_no_other(repos: tuple[HubRepo, HubRepo], tmp_path: Path) -> None:
    with HubServer(repos[1]) as hub:
        done = fetch(hub.url, tmp_path, "dataset=fc_sh_6k", PINNED)
    assert done.returncode == 1
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("fc_sh_6k: data/Conflict_Resolution")
    assert "fc_sh_6k: fetched, " in done.stdout


def test_without_a_network_it_says_so_at_once(tmp_path: Path) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, "dataset=all")
    assert done.returncode == 1
    assert "refused" in done.stderr
    data, prompt, histories = done.stderr.splitlines()
    assert "Conflict_Resolution-00000-of-00001.parquet of hub data set" in data
    assert histories.startswith("longmemeval_s, longmemeval_s_pilot: longmemeval_s_cleaned.json of")
    # What lies nowhere to be fetched from is no failure, where all was asked for.
    sample = "longmemeval_sample: can't be fetched; put longmemeval/longmemeval_s_sample.json"
    assert sample in done.stdout
    assert "utils/templates.py of GitHub repository" in prompt


def test_all_is_every_data_set_and_each_file_once(engram_data: Path, tmp_path: Path) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, "dataset=all", ENGRAM_DATA=str(engram_data))
    lines = [line for line in done.stdout.splitlines() if "SHA-256" in line]
    whole = engram_data / "longmemeval" / "longmemeval_s_cleaned.json"  # perhaps not at hand
    assert (done.returncode == 0) is whole.is_file()
    assert len(lines) == len({line.partition(", /")[2] for line in lines})
    assert all(": already here, " in line and line.endswith(", as pinned)") for line in lines)
    sets = {path.stem for path in (Path(conf_dir()) / "dataset").glob("fc_*.yaml")}
    sets.add("longmemeval_sample")
    named = {name for line in lines for name in line.partition(":")[0].split(", ")}
    assert sets <= named


def test_all_is_no_data_set_of_a_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engram_hydra", "dataset=all"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "dataset=all does not exist" in done.stderr


def test_generated_data_need_no_fetching(tmp_path: Path) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, "dataset=synthetic")
    assert done.returncode == 0
    assert done.stdout == "dataset=synthetic is generated: there is nothing to fetch.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["dataset=fc_sh_7k"], 2, "choose one of all, fc_mh_262k"),
        (["dataset=fc_sh_6k", "paths.data=nowhere"], 1, "nowhere does not exist"),
        (["dataset=fc_sh_6k", "prompt.templates.github.base=http://a.example"], 2, "no https"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, *arguments)
    assert done.returncode == code
    assert words in done.stderr


def test_help_needs_no_choice(tmp_path: Path) -> None:
    with refusing() as url:
        assert "engram_hydra.fetch dataset=all" in fetch(url, tmp_path, "--help").stdout
