"""Ask OSV, through pip-audit, whether the locked packages have known vulnerabilities: part of `make check`.

Exits with 1 where one has, or where pip-audit fails by itself. Without a network it says in one line that
nothing was audited, and exits with 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
COMMAND = (
    *(sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--no-deps", "--disable-pip"),
    *("--vulnerability-service", "osv", "--format", "json", "--progress-spinner", "off"),
    *("--timeout", "10"),
)
# What an error says that is the network's, or the service's.
NO_NETWORK = (
    "ConnectionError",
    "Could not connect",
    "Timeout",
    "ProxyError",
    "SSLError",
    "ServiceError",
)
SECONDS = 300


def main(command: Sequence[str] = COMMAND) -> int:
    """Print what was found; the exit code."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"dependencies: not audited: no network (no answer within {SECONDS} s).")
        return 0
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, LookupError, TypeError):
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        if any(words in done.stderr for words in NO_NETWORK):
            print(f"dependencies: not audited: no network ({last[:100]}).")
            return 0
        print(f"dependencies: pip-audit failed: {last}", file=sys.stderr)
        return 1
    found = [
        f"{package['name']} {package['version']}: {known['id']},"
        f" mended in {', '.join(known['fix_versions']) or 'no version yet'}"
        for package in packages
        for known in package.get("vulns", ())
    ]
    skipped = sum("skip_reason" in package for package in packages)
    print(
        "\n".join(
            [*found, f"dependencies: {len(packages) - skipped} audited, {skipped} not known there."]
        )
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
