"""Disks that are full or read-only, as the system itself refuses to write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = 4 << 20  # bytes


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[int], None]]:
    """A disk of some MiB at ``folder``; what is given leaves only so many bytes free on it."""
    if os.geteuid():
        pytest.skip("needs root, to mount a small disk")
    folder.mkdir(exist_ok=True)
    filling = folder / "filling"
    _mount("-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder))

    def leave(free: int) -> None:
        filling.unlink(missing_ok=True)
        disk = os.statvfs(folder)
        filling.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - free)))

    try:
        yield leave
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody may write below ``folder``; root, who may write anywhere, by mounting it so."""
    if os.geteuid():
        below = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
        modes = {path: path.stat().st_mode for path in below}
        for path in reversed(below):
            path.chmod(modes[path] & ~0o222)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        return
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
