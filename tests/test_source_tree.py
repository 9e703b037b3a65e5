"""Which commit the code is of, in a repository made for the test."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from engram_hydra import source_tree as module
from engram_hydra.source_tree import UNKNOWN, SourceTree, source_tree


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one commit, of which this code seems to be part."""
    code = tmp_path / "src" / "engram_hydra" / "source_tree.py"
    for file in (code, tmp_path / "conf" / "config.yaml", tmp_path / "docs" / "notes.md"):
        write(file, "as committed\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(module, "__file__", str(code))
    return tmp_path


def test_a_clean_checkout_has_its_commit(checkout: Path) -> None:
    assert source_tree() == SourceTree(git(checkout, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize("file", ["src/engram_hydra/source_tree.py", "conf/config.yaml"])
def test_changed_code_and_options_make_it_dirty(checkout: Path, file: str) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    write(checkout / file, "changed\n")
    assert source_tree() == SourceTree(head, True)
    git(checkout, "add", ".")
    assert source_tree() == SourceTree(head, True)
    (checkout / file).unlink()
    assert source_tree().dirty is True
    git(checkout, "commit", "--all", "--quiet", "--message", "second")
    assert source_tree() == SourceTree(git(checkout, "rev-parse", "HEAD"), False)


def test_a_new_time_of_the_same_text_is_no_change(checkout: Path) -> None:
    write(checkout / "conf" / "config.yaml", "as committed\n")
    assert source_tree().dirty is False


def test_other_files_do_not_count(checkout: Path) -> None:
    write(checkout / "docs" / "notes.md", "changed\n")
    write(checkout / "src" / "engram_hydra" / "untracked.py", "")
    assert source_tree().dirty is False


def test_an_installed_package_has_no_commit_even_inside_another_checkout(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = checkout / "lib" / "site-packages" / "engram_hydra" / "source_tree.py"
    write(installed, "")
    monkeypatch.setattr(module, "__file__", str(installed))
    assert source_tree() == UNKNOWN


def test_a_worktree_is_a_checkout_of_its_own(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(checkout, "worktree", "add", "--quiet", "beside")
    file = checkout / "beside" / "src" / "engram_hydra" / "source_tree.py"
    monkeypatch.setattr(module, "__file__", str(file))
    write(checkout / "conf" / "config.yaml", "changed in the other\n")
    assert source_tree() == SourceTree(git(checkout, "rev-parse", "HEAD"), False)


def test_a_repository_without_a_commit_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "src" / "engram_hydra" / "source_tree.py"
    write(file, "")
    git(tmp_path, "init", "--quiet")
    monkeypatch.setattr(module, "__file__", str(file))
    assert source_tree() == UNKNOWN


def test_without_git_or_with_a_broken_one_it_is_unknown(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert source_tree() == UNKNOWN
    fake = checkout / "git"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    assert source_tree() == UNKNOWN


def test_a_git_that_hangs_holds_nothing_up(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = checkout / "git"
    fake.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(checkout))
    monkeypatch.setattr(module, "SECONDS", 0.2)
    start = time.monotonic()
    assert source_tree() == UNKNOWN
    assert time.monotonic() - start < 10


def test_a_hook_s_own_repository_is_not_taken_for_ours(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    told = source_tree()
    monkeypatch.delenv("GIT_DIR")
    assert told == SourceTree(git(checkout, "rev-parse", "HEAD"), False)
