"""The errors a user can mend."""

from collections.abc import Sequence


class EngramError(Exception):
    """A mistake of the user's or of the surroundings, told in one sentence.

    The message says what was wrong, where, and what to do; the command line prints it without a
    traceback and exits non-zero. Anything else that escapes is a bug and keeps its traceback.
    """


class ConfigError(EngramError):
    """A key, a type, a range or a combination that the configuration does not allow."""


class SecretError(ConfigError):
    """A secret among the options, all of which are written down; the message does not hold it."""


class DataError(EngramError):
    """A data file that is missing, damaged, of another version, or malformed (which row, which field)."""


class ModelError(EngramError):
    """An embedding model that can't be had, or whose weights are not the pinned ones."""


class ReaderError(EngramError):
    """An answer of a language model that can't be had, after all retries or because none would help."""


class MethodError(EngramError):
    """A memory that broke the rules every method obeys (equal k, known ids, order, frozen reads)."""


class TrackingError(EngramError):
    """A tracking store that can't be opened, written, or used with this version of MLflow."""


class NotLoggedError(TrackingError):
    """Results that are whole, of a run whose server could not be reached to log them."""


class ExistingRunError(EngramError):
    """A run that is there already, where ``existing=fail`` forbids another one or its skipping."""


class NotStartedError(EngramError):
    """A job of a sweep that was not started since another one had failed and ``fail_fast`` is set."""


class IncompleteError(EngramError):
    """A report that must be whole and lacks runs, or ignored some that a rerun would mend."""

    def __init__(self, problems: Sequence[str]) -> None:
        lines = [f"  {problem}" for problem in problems]
        super().__init__(
            "\n".join(["the report is written, and not whole (strict=true asks for that):", *lines])
        )


class SweepError(EngramError):
    """Jobs of a sweep that failed, each with its overrides and its reason."""

    def __init__(self, failures: list[tuple[str, BaseException]]) -> None:
        failed = [one for one in failures if not isinstance(one[1], NotStartedError)]
        lines = [
            f"  {overrides or '(no overrides)'}: {reason(error)}" for overrides, error in failed
        ]
        count = "1 job" if len(failed) == 1 else f"{len(failed)} jobs"
        rest = "all others are done"
        if left := len(failures) - len(failed):
            rest = f"{left} more were not started (fail_fast=true)"
        super().__init__("\n".join([f"{count} of the sweep failed, {rest}:", *lines]))


def reason(error: BaseException) -> str:
    """An error in one line: a user's mistake by its sentence, anything else by its type as well."""
    if isinstance(error, EngramError):
        return str(error)
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first} (the traceback is in the job's log)"
