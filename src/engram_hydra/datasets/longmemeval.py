"""LongMemEval: questions about long chat histories, each with a haystack of sessions of its own.

Wu et al. 2024, arXiv:2410.10813; hub data set ``xiaowu0162/longmemeval-cleaned``. Items, their ids and
gold are those of ``src/retrieval/run_retrieval.py`` of github xiaowu0162/LongMemEval at 9e0b455.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engram_hydra.datasets.dataset import Dataset, History, Item, Question
from engram_hydra.datasets.digest import content_sha256
from engram_hydra.datasets.json_entries import entries
from engram_hydra.datasets.longmemeval_entry import Entry, RawEntry
from engram_hydra.errors import ConfigError, DataError

_PILOT_SEED = 20261008
_PILOT_SIZE = 100
_ROLES = {"user": ("user",), "both": ("user", "assistant")}


def load(
    *,
    name: str,
    file: Path,
    granularity: str = "session",
    roles: str = "user",
    only: Collection[str] | None = None,
) -> Dataset:
    """The histories in ``file``, one per scored question, of all or of the ids ``only``.

    They stand in the file's order, each with one question; its ``number`` is where the question's id
    stands among all the file's sorted ids, so that it does not depend on ``only``.

    ``granularity`` ``session`` makes an item of each session, its turns' texts joined by one space
    (empty if it has none), ``turn`` one of each turn; ``roles`` ``user`` takes the user's turns alone,
    ``both`` the assistant's as well. An item's position is its stable rank by date. Its id is the
    session's, for a turn with ``_<number of the turn, from 1>``, and with ``#2`` if it came before, or
    the next number that makes no id of the file's own; its document is the official one, where an
    evidence session that is not gold is renamed so.

    Whatever the roles, evidence sessions are gold if a user's turn is marked, and questions without
    such a one, or with ``_abs`` in their id, are excluded. At granularity ``turn`` each marked turn of
    the evidence sessions is gold.

    Raises DataError at a malformed file (with question id and field, or else the byte), ids that stand
    twice or are not there, and marks in no evidence session; ConfigError for other words.
    """
    if granularity not in ("session", "turn"):
        raise ConfigError(f"dataset.granularity is {granularity!r}: choose session or turn.")
    if roles not in _ROLES:
        raise ConfigError(f"dataset.roles is {roles!r}: choose user or both.")
    wanted = None if only is None else set(only)
    histories: list[History] = []
    excluded: dict[str, str] = {}
    seen: set[str] = set()  # all ids of the file
    for offset, value in entries(file):
        raw = RawEntry(file, offset, value)
        if raw.id in seen:
            raise DataError(f"{file} has question {raw.id} twice: remove one of the two.")
        seen.add(raw.id)
        if wanted is not None and raw.id not in wanted:
            continue
        entry = raw.checked()
        if reason := _exclusion(entry, file):
            excluded[entry.id] = reason
        else:
            documents = list(_documents(entry, granularity, _ROLES[roles]))
            histories.append(_history(entry, documents))
    if missing := sorted((wanted or set()) - seen):
        raise DataError(f"{file} lacks question {missing[0]}: take the file that the ids are from.")
    number = {question_id: number for number, question_id in enumerate(sorted(seen))}
    numbered = tuple(replace(history, number=number[history.id]) for history in histories)
    return Dataset(name, numbered, _sha256(histories), str(file), excluded)


def pilot_ids(all_ids: Collection[str]) -> list[str]:
    """The protocol's pilot: 100 of ``all_ids`` in the order drawn, whatever theirs is."""
    order = np.random.default_rng(_PILOT_SEED).permutation(len(all_ids))
    ids = sorted(all_ids)
    return [ids[i] for i in order[:_PILOT_SIZE]]


class _Document(NamedTuple):
    """An item in the making; ``name`` is the file's own, ``corpus_id`` the official metrics' one."""

    name: str
    corpus_id: str
    time: str
    text: str
    gold: bool


def _exclusion(entry: Entry, file: Path) -> str | None:
    if "_abs" in entry.id:
        return "abstention question (_abs in its id)"
    marked = [session.id for session in entry.sessions if session.marked_by_user]
    if not marked:
        return "no user turn is marked has_answer"
    if entry.evidence.isdisjoint(marked):
        raise DataError(
            f"{file}, question {entry.id}, field answer_session_ids: it names no session with a user "
            "turn marked has_answer; correct it, or restore the file."
        )
    return None


def _documents(entry: Entry, granularity: str, roles: Sequence[str]) -> Iterator[_Document]:
    """The official corpus in the haystack's order."""
    for session in entry.sessions:
        evidence = session.id in entry.evidence
        turns = [(i, turn) for i, turn in enumerate(session.turns, start=1) if turn.role in roles]
        if granularity == "session":
            text = " ".join(turn.text for _, turn in turns)
            documents = [(session.id, text, session.marked_by_user)]
        else:
            documents = [(f"{session.id}_{i}", turn.text, turn.marked) for i, turn in turns]
        for name, text, marked in documents:
            renamed = evidence and not marked
            corpus_id = name.replace("answer", "noans") if renamed else name
            yield _Document(name, corpus_id, session.time, text, evidence and marked)


def _history(entry: Entry, documents: Sequence[_Document]) -> History:
    haystack = sorted(range(len(documents)), key=lambda i: documents[i].time)  # stable
    ranked = [documents[i] for i in haystack]
    ids = _distinct([document.name for document in documents])
    gold_ids = {document.corpus_id for document in documents if document.gold}
    gold = tuple(i for i, document in enumerate(ranked) if document.corpus_id in gold_ids)
    return History(
        id=entry.id,
        items=tuple(
            Item(ids[i], position, documents[i].text, documents[i].time)
            for position, i in enumerate(haystack)
        ),
        questions=(Question(entry.id, entry.question, (entry.answer,), entry.kind, gold=gold),),
        documents=tuple(document.corpus_id for document in ranked),
    )


def _distinct(names: Sequence[str]) -> list[str]:
    own = set(names)
    number: Counter[str] = Counter()
    distinct = []
    for name in names:
        number[name] += 1
        while number[name] > 1 and f"{name}#{number[name]}" in own:
            number[name] += 1
        distinct.append(name if number[name] == 1 else f"{name}#{number[name]}")
    return distinct


def _sha256(histories: Sequence[History]) -> str:
    digest = hashlib.sha256()
    for history in histories:
        content = content_sha256(history.items, history.questions)
        gold = [question.gold for question in history.questions]
        digest.update(f"{content} {gold}\n".encode())
    return digest.hexdigest()
