"""How far a long embedding has come."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

logger = logging.getLogger(__name__)

BAR_AFTER = 2.0
LINE_EVERY = 30.0

Batch = TypeVar("Batch", bound=Sized)


def reported(batches: Iterable[Batch], total: int) -> Iterator[Batch]:
    """The same batches, with progress towards ``total`` texts.

    On a terminal a bar, if it takes over 2 seconds; elsewhere a log line every 30 seconds; at the
    end a log line in both.
    """
    started = told = time.monotonic()
    done = 0
    # disable=None: no bar where standard error is no terminal.
    with tqdm(total=total, desc="embedding", unit=" texts", delay=BAR_AFTER, disable=None) as bar:
        for batch in batches:
            yield batch
            done += len(batch)
            bar.update(len(batch))
            now = time.monotonic()
            if bar.disable and now - told >= LINE_EVERY:
                logger.info("embedded %d of %d texts", done, total)
                told = now
    logger.info("embedded %d texts in %.0f s", done, time.monotonic() - started)
