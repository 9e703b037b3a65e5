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
from engram_hydra.fetch import _folded

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


def found(output: str) -> list[list[str]]:
    """The lines about each file that is here: whose it is, its path, its hash, its size."""
    lines = output.splitlines()
    hashes = [i for i, line in enumerate(lines) if line.startswith("  SHA-256")]
    return [lines[i - 2 : i + 2] for i in hashes]


def said(done: subprocess.CompletedProcess[str]) -> list[list[str]]:
    assert done.returncode == 0, done.stdout + done.stderr
    return found(done.stdout)


def failures(errors: str) -> list[str]:
    """The sentences about what could not be had, each in one line."""
    return errors.replace("\n  ", " ").splitlines()


def test_what_is_fetched_is_here_afterwards(repos: tuple[HubRepo, HubRepo], tmp_path: Path) -> None:
    with HubServer(*repos) as hub:
        data, prompt = said(fetch(hub.url, tmp_path, "dataset=fc_sh_6k", PINNED))
    assert data[0] == prompt[0] == "fc_sh_6k: fetched"
    assert Path(data[1].strip()).read_bytes() == CONTENT
    assert data[1].startswith(f"  {tmp_path / 'hub'}/")
    assert data[2:] == [f"  SHA-256 {PINNED[-64:]}, as pinned", f"  {len(CONTENT):,} bytes"]
    assert prompt[1].startswith(f"  {tmp_path / 'cache'}/")
    digest = hashlib.sha256(PROMPT).hexdigest()
    assert prompt[2:] == [f"  SHA-256 {digest}, which nobody pinned", f"  {len(PROMPT)} bytes"]
    with refusing() as url:
        again = said(fetch(url, tmp_path, "dataset=fc_sh_6k", PINNED))
    assert again == [["fc_sh_6k: already here", *lines[1:]] for lines in (data, prompt)]


def test_one_file_that_fails_keeps_no_other(repos: tuple[HubRepo, HubRepo], tmp_path: Path) -> None:
    with HubServer(repos[1]) as hub:
        done = fetch(hub.url, tmp_path, "dataset=fc_sh_6k", PINNED)
    assert done.returncode == 1
    [sentence] = failures(done.stderr)
    assert sentence.startswith("fc_sh_6k: data/Conflict_Resolution")
    assert "fc_sh_6k: fetched\n" in done.stdout


def test_without_a_network_it_says_so_at_once(tmp_path: Path) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, "dataset=all")
    assert done.returncode == 1
    assert "refused" in done.stderr
    data, prompt, histories = failures(done.stderr)
    assert "Conflict_Resolution-00000-of-00001.parquet of hub data set" in data
    assert histories.startswith("longmemeval_s, longmemeval_s_pilot: longmemeval_s_cleaned.json of")
    # What lies nowhere to be fetched from is no failure, where all was asked for.
    sample = "longmemeval_sample: can't be fetched; put longmemeval/longmemeval_s_sample.json"
    assert sample in done.stdout
    assert "utils/templates.py of GitHub repository" in prompt


def test_all_is_every_data_set_and_each_file_once(engram_data: Path, tmp_path: Path) -> None:
    with refusing() as url:
        done = fetch(url, tmp_path, "dataset=all", ENGRAM_DATA=str(engram_data))
    files = found(done.stdout)
    whole = engram_data / "longmemeval" / "longmemeval_s_cleaned.json"  # perhaps not at hand
    assert (done.returncode == 0) is whole.is_file()
    assert len(files) == len({path for _, path, *_ in files})
    assert all(digest.endswith(", as pinned") for *_, digest, _ in files)
    sets = {path.stem for path in (Path(conf_dir()) / "dataset").glob("fc_*.yaml")}
    sets.add("longmemeval_sample")
    for who, *_ in files:
        names, _, state = who.partition(": ")
        assert state == "already here"
        sets -= set(names.split(", "))
    assert sets == set()


def test_lines_fit_100_columns_but_for_what_would_be_cut(tmp_path: Path) -> None:
    home = tmp_path / "a folder of a long name with spaces"
    (home / "data").mkdir(parents=True)
    with refusing() as url:
        done = fetch(url, home, "dataset=all", ENGRAM_DATA=str(home / "data"))
    lines = [line for text in (done.stdout, done.stderr) for line in text.splitlines()]
    long = [line for line in lines if len(line) > 100]
    assert len(lines) > 10
    assert all(
        " " not in line.replace(str(home), "home").strip().removeprefix("asking for ")
        for line in long
    )
    assert f"{home / 'data'}/longmemeval/longmemeval_s_cleaned.json." in done.stderr


def test_a_full_line_is_folded_and_a_folder_is_not() -> None:
    folder = Path("/" + "b c/" * 30)
    text = _folded(f"{'word ' * 30}{folder}/file {'word ' * 30}", folder, None)
    assert [line for line in text.splitlines() if len(line) > 100] == [f"  {folder}/file"]
    assert len(text.splitlines()) == 5


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
        words = fetch(url, tmp_path, "--help").stdout
    assert "engram_hydra.fetch dataset=all" in words
    assert all(len(line) <= 100 for line in words.splitlines())
