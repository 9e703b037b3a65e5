"""From a reader's options to what answers."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from engram_hydra.readers.reader import Reader
from engram_hydra.run_key import NOT_ASKED, reader_of


def build_reader(cfg: DictConfig) -> Reader | None:
    """The run's reader; ``None`` where nobody is to answer.

    A language model's prompt is found or fetched, and its key must be there. Raises DataError or
    ConfigError where it is not so.
    """
    if reader_of(cfg) in ("none", NOT_ASKED):
        return None
    if cfg.reader.name == "newest":
        from engram_hydra.readers.newest import NewestReader

        return NewestReader()
    from engram_hydra.datasets.files import data_folder, locate, pinned_files
    from engram_hydra.readers.answer_cache import AnswerCache
    from engram_hydra.readers.chat_options import key_in
    from engram_hydra.readers.model import ModelReader
    from engram_hydra.readers.openai_chat import ChatReader
    from engram_hydra.readers.prompt import load_prompt

    cache = Path(cfg.paths.cache)
    key_in(cfg.reader.api_key_env)
    file = locate(data_folder(cfg.paths.data), *pinned_files(cfg.reader.prompt), cache=cache)
    return ModelReader(load_prompt(file), ChatReader(cfg.reader, AnswerCache(cache)))
