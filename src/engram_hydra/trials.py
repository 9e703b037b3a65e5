"""All trials of a run, one for each history: in this process, or shared among several."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from omegaconf import DictConfig, OmegaConf

from engram_hydra.datasets.dataset import Dataset, History
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import EngramError
from engram_hydra.progress import reported
from engram_hydra.threads import shared_among
from engram_hydra.trial import Trial, attempt, new_embedder

log = logging.getLogger(__name__)


def run_trials(cfg: DictConfig, data: Dataset) -> list[Trial]:
    """A trial for each history, in their order; the same whatever ``cfg.workers`` is, times aside.

    All texts are to be in the cache of vectors beforehand. Raises what ``attempt`` raises at the
    first history that fails, and EngramError where a worker process dies.
    """
    workers = min(cfg.workers, len(data.histories))
    log.info(
        "writing %s items and reading %s questions, %s",
        f"{len(data.items):,}",
        f"{len(data.questions):,}",
        "in one history" if len(data.histories) == 1 else f"in {len(data.histories):,} histories",
    )
    trials = _shared(cfg, data, workers) if workers > 1 else _in_turn(cfg, data)
    return list(reported(trials, len(data.histories), "remembering", "histories"))


def _in_turn(cfg: DictConfig, data: Dataset) -> Iterator[Trial]:
    embedder = new_embedder(cfg)
    for history in data.histories:
        yield attempt(cfg, history, data.sha256, embedder)


def _shared(cfg: DictConfig, data: Dataset, workers: int) -> Iterator[Trial]:
    plain = cfg.copy()
    OmegaConf.resolve(plain)  # the workers know no resolvers
    # Spawned, not forked: threads of the libraries that are loaded by now would not survive it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start, (plain,)) as pool:
        try:
            # No map: it cancels what is left, and a cancelled call breaks the pool's own clearing up.
            with shared_among(workers):  # all processes are started as their work is handed in
                calls = [pool.submit(_attempt, plain, data.sha256, one) for one in data.histories]
            for call in calls:
                yield call.result()
        except BaseException as error:
            for worker in multiprocessing.active_children():  # what they are at is of no use now
                worker.kill()
            if sys.version_info < (3, 11, 5):  # gh-94777: it would go on sending them a history
                pool._call_queue._reader.close()  # type: ignore[attr-defined]
            if isinstance(error, BrokenProcessPool):
                raise EngramError(
                    f"one of {workers} worker processes died, perhaps for want of memory:"
                    " run again with a smaller workers=…"
                ) from error
            raise


_embedder: Embedder | None = None  # a worker's own, for all of its histories


def _start(cfg: DictConfig) -> None:
    global _embedder
    for reaches_all in (signal.SIGINT, signal.SIGTERM):  # and the parent says what to do
        signal.signal(reaches_all, signal.SIG_IGN)
    _embedder = new_embedder(cfg)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next history for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _attempt(cfg: DictConfig, salt: str, history: History) -> Trial:
    return attempt(cfg, history, salt, _embedder)
