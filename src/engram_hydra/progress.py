"""How far something long has come."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from tqdm import tqdm

logger = logging.getLogger(__name__)

BAR_AFTER = 2.0
LINE_EVERY = 30.0

Part = TypeVar("Part")


def reported(
    parts: Iterable[Part],
    total: int,
    doing: str,
    unit: str,
    size: Callable[[Any], int] = lambda part: 1,
) -> Iterator[Part]:
    """The same parts, with progress towards ``total`` things, of which each part holds ``size``.

    On a terminal a bar, if it takes over 2 seconds; elsewhere a log line every 30 seconds. In both a
    log line at the end, if there was more than one part.
    """
    started = told = time.monotonic()
    done = number = 0
    # disable=None: no bar where standard error is no terminal.
    with tqdm(total=total, desc=doing, unit=f" {unit}", delay=BAR_AFTER, disable=None) as bar:
        for number, part in enumerate(parts, start=1):  # noqa: B007
            yield part
            done += size(part)
            bar.update(size(part))
            now = time.monotonic()
            if bar.disable and done < total and now - told >= LINE_EVERY:
                logger.info("%s: %d of %d %s", doing, done, total, unit)
                told = now
    if number > 1:
        logger.info("%s: %d %s in %.0f s", doing, done, unit, time.monotonic() - started)
