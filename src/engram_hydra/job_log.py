"""The file a job logs to."""

from __future__ import annotations

import logging
import sys


class JobLog(logging.FileHandler):
    """In UTF-8 whatever the locale; one sentence says that it can't be written, no traceback for each line.

    The run itself finds that out as it logs the file, and fails.
    """

    def __init__(self, filename: str) -> None:
        super().__init__(filename, encoding="utf-8")
        self._told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._told:
            self._told = True
            print(
                f"the job's log {self.baseFilename} can't be written ({error.strerror}): make room, or"
                " set paths.outputs to a folder that can be written.",
                file=sys.stderr,
            )
