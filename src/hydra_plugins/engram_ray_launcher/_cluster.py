"""The Ray cluster a sweep runs on: one that is there, or one started on this machine."""

import logging
import os
import socket
from typing import Any
from urllib.parse import urlsplit

SECONDS_TO_ANSWER = 10


def connected(address: str | None, num_cpus: int, max_retries: int) -> Any:
    """The module ``ray``, connected; it stays so until this process ends.

    Without an address, neither here nor in RAY_ADDRESS, a cluster is started on this machine, which
    listens on the loopback interface only and ends with this process. Raises ConfigError where Ray is
    missing, the cluster can't be reached, or the one started here has fewer than ``num_cpus``.
    """
    from engram_hydra.errors import ConfigError

    address = address or os.environ.get("RAY_ADDRESS")
    own = not address
    if own:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # no other machine: loopback only
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # jobs that say the same are not one job
    # Else a job that fills the memory would be done again for ever.
    os.environ.setdefault("RAY_task_oom_retries", str(max_retries))
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            f'hydra/launcher=ray needs the package ray ({error}): `pip install "engram-hydra[ray]"`.'
        ) from error
    if not ray.is_initialized():
        try:
            if address and ":" in address:
                _knock(address)
            dashboard = {"include_dashboard": False} if own else {}
            ray.init(address=address, logging_level=logging.ERROR, **dashboard)
        except Exception as error:  # of many types, a plain one among them
            problem = " ".join(str(error).split())
            raise ConfigError(
                f"no Ray cluster answers at {address or 'this machine'}"
                f" ({type(error).__name__}: {problem}): start one with `ray start --head`, or leave"
                " hydra.launcher.address=null."
            ) from error
    if own and (there := ray.cluster_resources().get("CPU", 0)) < num_cpus:
        raise ConfigError(
            f"hydra.launcher.num_cpus={num_cpus} is more than this machine has: at most {there:.0f}."
        )
    return ray


def _knock(address: str) -> None:
    """Raise OSError where nothing listens: Ray itself would go on trying for minutes."""
    url = urlsplit(address if "://" in address else f"//{address}")
    socket.create_connection((url.hostname, url.port), SECONDS_TO_ANSWER).close()
