"""Where conf/ is: inside the installed package, or in the checkout."""

from __future__ import annotations

from pathlib import Path


def conf_dir() -> str:
    """Absolute path of ``conf/``.

    A wheel carries it in the package. An editable install has none there, and its stale copies in
    site-packages are never looked at: only this file's own folder, then the checkout's top.
    """
    here = Path(__file__).resolve().parent
    packaged = here / "conf"
    return str(packaged if packaged.is_dir() else here.parents[1] / "conf")
