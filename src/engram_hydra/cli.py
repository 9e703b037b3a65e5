"""Hydra's command line, with every mistake told in a sentence."""

from __future__ import annotations

import dataclasses
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from engram_hydra import config
from engram_hydra.conf_dir import conf_dir
from engram_hydra.errors import (
    ConfigError,
    EngramError,
    MethodError,
    NotStartedError,
    SecretError,
    reason,
)
from engram_hydra.hydra_job import in_sweep, sweep_folder
from engram_hydra.job_marks import mark_done
from engram_hydra.secrets import hide, refuse_in_arguments

USAGE_ERROR = 2
INTERRUPTED, TERMINATED = 130, 143  # as a shell has it
EXTRA = {  # of options that a plugin brings
    "hydra/launcher/joblib": "joblib",
    "hydra/launcher/submitit_slurm": "slurm",
    "hydra/launcher/submitit_local": "slurm",
}
NOT_A_NAME = "Config group override must be"  # how Hydra's bare ValueError for method=3 begins


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run in the same order as Ctrl-C does."""


def hydra_command(task: Callable[[DictConfig], Any], config_name: str) -> None:
    """Run ``task`` with the configuration that the command line composes.

    Exits with 1 where the task or a job of the sweep failed, with 2 where the configuration is wrong.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions reach us whole; nothing else is printed
    failures: list[Exception] = []
    if isinstance(
        sys.stdout, io.TextIOWrapper
    ):  # a locale that lacks a letter is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")

    def job(cfg: DictConfig) -> Any:
        heed_sigterm()  # here, for a launcher may run the job in a process of its own
        try:
            _stop_after_failure(cfg)
            result = _without_exit(task, cfg)
            if in_sweep():
                mark_done()
            return result
        except NotStartedError:
            raise
        except Exception as error:
            if isinstance(error, SecretError):
                _forget_options()
            if in_sweep():  # the sweeper names it when all jobs are done
                _failure_mark().touch()
                # As plain words: not every error survives the way from a worker process.
                raise EngramError(reason(error)) from error
            failures.append(error)  # not raised here, or Hydra would add words of its own

    try:
        here = str(Path.cwd())  # fails where it was deleted
        for text in (here, *sys.argv[1:]):
            _refuse_unreadable(text)
        if not {"", here} & set(sys.path):  # as under python -m: a user's own module
            sys.path.insert(0, here)
        refuse_in_arguments(sys.argv[1:])
        config.register()
        register_resolvers()
        hydra.main(version_base="1.3", config_path=conf_dir(), config_name=config_name)(job)()
        if failures:
            raise failures[0]
    except KeyboardInterrupt as stop:  # a run that was under way is marked and has its traceback
        sys.exit(_say("stopped.", TERMINATED if isinstance(stop, Terminated) else INTERRUPTED))
    except MemoryError as error:
        sys.exit(
            _say(
                f"memory ran out ({error or 'no more is given'}): free some, or choose a smaller data set"
                " or fewer workers, and start the same command again; complete runs are kept.",
                1,
            )
        )
    except BrokenPipeError:  # whoever read the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except ConfigError as error:
        sys.exit(_say(str(error), USAGE_ERROR))
    except EngramError as error:
        sys.exit(_say(str(error), 1))
    except (HydraException, OmegaConfBaseException) as error:
        sys.exit(_say(explain(error), USAGE_ERROR))
    except (YAMLError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        sys.exit(_say(f"an option's file is no readable YAML: {problem}.", USAGE_ERROR))
    except OSError as error:  # after Hydra's, one of which is an OSError too
        if failures:  # the task's own
            raise
        place = error.filename or (  # no name: a folder that is gone, or a write that failed
            "the current folder" if error.errno == errno.ENOENT else "the job's output folder"
        )
        problem = f"{place} can't be made or written ({error.strerror})"
        sys.exit(_say(f"{problem}: set paths.outputs to a folder that can be.", USAGE_ERROR))
    except ValueError as error:
        if not str(error).startswith(NOT_A_NAME):
            raise
        sys.exit(_say(explain(error), USAGE_ERROR))


def heed_sigterm() -> None:
    """Let SIGTERM raise ``Terminated``, unless whoever started this process had it ignored."""

    def stop(*_: object) -> None:
        raise Terminated("SIGTERM")

    if threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN
    ):
        signal.signal(signal.SIGTERM, stop)


def register_resolvers() -> None:
    """What ``conf/`` may refer to: ``${pid:}``, ``${user_cache:}`` and ``${absolute:…}``."""

    def user_cache() -> str:
        from platformdirs import user_cache_dir

        with _home_needed("the cache"):
            return user_cache_dir("engram_hydra", appauthor=False)

    start = Path.cwd()  # a job may change it

    def absolute(path: str | None) -> str | None:
        _refuse_unreadable(path or "")
        # An empty variable counts as one that is not set: it does not name the current folder.
        with _home_needed(path):
            return os.path.normpath(start / Path(path).expanduser()) if path else None

    OmegaConf.register_new_resolver("pid", os.getpid, use_cache=True, replace=True)
    OmegaConf.register_new_resolver("user_cache", user_cache, use_cache=True, replace=True)
    OmegaConf.register_new_resolver("absolute", absolute, replace=True)


@contextmanager
def _home_needed(path: str | None) -> Iterator[None]:
    """Raise ConfigError where the user has neither HOME nor an entry in passwd."""
    try:
        yield
    except RuntimeError as error:
        raise ConfigError(f"{path} needs a home folder: set HOME, or another path") from error


def _refuse_unreadable(text: str) -> None:
    """Raise ConfigError for what the locale has no letters for, which no store or file could hold."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ConfigError(
            f"{os.fsencode(text).decode('utf-8', 'replace')} has letters that this locale lacks"
            f" ({sys.getfilesystemencoding()}): set PYTHONUTF8=1, or LC_ALL=C.UTF-8."
        )


def _without_exit(task: Callable[[DictConfig], Any], cfg: DictConfig) -> Any:
    """The task's result; a method that calls ``sys.exit`` has failed, and ends nothing but its job."""
    try:
        return task(cfg)
    except SystemExit as end:
        raise MethodError(f"the job called sys.exit({end}), which no method may.") from end


def _forget_options() -> None:
    """Take away the copies that Hydra has made of a job's options, one of which holds a secret."""
    from hydra.core.hydra_config import HydraConfig

    hydra = HydraConfig.get()
    for name in ("config.yaml", "hydra.yaml", "overrides.yaml"):
        Path(hydra.runtime.output_dir, hydra.output_subdir or "", name).unlink(missing_ok=True)


def _stop_after_failure(cfg: DictConfig) -> None:
    """Raise NotStartedError where the sweep is to stop since another of its jobs has failed."""
    if cfg.get("fail_fast") and in_sweep() and _failure_mark().exists():
        raise NotStartedError("not started: another job failed, and fail_fast=true.")


def _failure_mark() -> Path:
    """The file that says a job of this sweep has failed, which the jobs' processes all see."""
    return sweep_folder() / "failed"


def explain(error: Exception) -> str:
    """One sentence for what Hydra or OmegaConf refused: the key, what is wrong, what is allowed."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        if extra := EXTRA.get(error.missing_cfg_file):
            return f'{group}={option} needs an extra: `pip install "engram-hydra[{extra}]"`.'
        if group and error.options:
            return f"{group}={option} does not exist: choose one of {', '.join(sorted(error.options))}."
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} is no override Hydra can read; the form is key=value."
    if str(error).startswith(NOT_A_NAME):
        return "an option is chosen by its name, as in method=bm25: no number, true, false or null is one."
    cause = _omegaconf_error(error)
    if cause is None or cause.full_key is None:
        return " ".join(str(error).split())
    where = _origin(error)
    if isinstance(cause, (ConfigAttributeError, ConfigKeyError)):
        owner = cause.object_type
        parent = cause.full_key.rpartition(".")[0]
        allowed = (
            ", ".join(f.name for f in dataclasses.fields(owner))
            if isinstance(owner, type) and dataclasses.is_dataclass(owner)
            else "other keys"
        )
        return f"{where}{cause.full_key} is no option: {parent or 'a run'} takes {allowed}."
    problem = (cause.msg or str(cause)).splitlines()[0].rstrip(".")
    return (
        f"{where}{cause.full_key} has a wrong value: {problem}."
        if cause.full_key
        else f"{where}{problem}."
    )


def _omegaconf_error(error: BaseException | None) -> OmegaConfBaseException | None:
    while error is not None and not isinstance(error, OmegaConfBaseException):
        error = error.__cause__ or error.__context__
    return error


def _origin(error: Exception) -> str:
    """Which option brought the key in, where it was a file and not the command line itself."""
    head = str(error).splitlines()[0]
    if not head.startswith("In '"):
        return ""
    group, _, option = head.split("'")[1].rpartition("/")
    return f"{group}={option} does not go with the rest of this configuration: "


def _say(message: str, code: int) -> int:
    print(hide(message), file=sys.stderr)
    return code
