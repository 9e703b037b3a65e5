"""FactConsolidation's official prompt, read as data, and the messages a chat model gets."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from engram_hydra.errors import DataError

Messages = list[dict[str, str]]

BENCHMARK = "factconsolidation"
AGENT = "rag_agent"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The ``system`` string, sent as it is, and the ``query``, in which ``{question}`` stands once."""

    system: str
    query: str


def messages(prompt: Prompt, facts: Sequence[str], question: str) -> Messages:
    r"""What the model is asked: a system message, and one user message.

    The user's is, character for character, ``Memory 1:\n<fact>\n``, ``Memory 2:\n<fact>\n`` … joined
    by ``\n`` (so that an empty line stands between two facts), one more ``\n``, and the query with the
    question in it. ``facts`` stand in the order given. It is what the retrieval agents of
    MemoryAgentBench (Hu, Wang and McAuley 2025, arXiv:2507.05257; its ``agent.py``) send.
    """
    memories = "\n".join(f"Memory {number}:\n{fact}\n" for number, fact in enumerate(facts, 1))
    query = prompt.query.format(question=question)
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": f"{memories}\n{query}"},
    ]


def load_prompt(path: Path) -> Prompt:
    """The prompt in ``path``: the benchmark's ``templates.py``, or a JSON file of the entry's shape.

    Raises ``DataError`` if the file can't be read or has another shape.
    """
    read = prompt_from_templates if path.suffix == ".py" else prompt_from_json
    try:
        return read(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} can't be read ({error}): put the pinned version of the official prompt there."
        ) from error


def prompt_from_json(source: str, where: str = "The prompt") -> Prompt:
    """The prompt out of ``{"system": …, "query": {"rag_agent": …}}``; ``DataError`` for another shape.

    ``where`` names the source in the error.
    """
    try:
        entry = json.loads(source)
        return _checked(entry["system"], entry["query"][AGENT])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _unknown(where, "JSON object", error) from error


def prompt_from_templates(source: str, where: str = "The prompt") -> Prompt:
    """The prompt out of the Python text of ``utils/templates.py``, which is parsed and never run.

    One dictionary of the file has an entry ``factconsolidation``, of the shape that
    ``prompt_from_json`` takes; a name in it stands for what the file assigns to it. Raises
    ``DataError`` for another shape.
    """
    try:
        templates = _Literals(ast.parse(source))
        entry = templates.entry(BENCHMARK)
        query = templates.item(templates.item(entry, "query"), AGENT)
        return _checked(ast.literal_eval(templates.item(entry, "system")), ast.literal_eval(query))
    except (SyntaxError, ValueError, LookupError, TypeError, RecursionError) as error:
        kind = f"Python file that has one dictionary entry {BENCHMARK}"
        raise _unknown(where, kind, error) from error


def _unknown(where: str, kind: str, error: Exception) -> DataError:
    reason = f"{type(error).__name__}: {error}"
    return DataError(
        f"{where} is no {kind} with literal texts system and query.{AGENT} ({reason}): "
        f"put the pinned version of the file in its place."
    )


class _Literals:
    """What a module's top level assigns, unevaluated."""

    def __init__(self, module: ast.Module) -> None:
        self._values: dict[str, ast.expr] = {}
        for statement in module.body:
            if isinstance(statement, ast.Assign):
                names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
                self._values |= dict.fromkeys(names, statement.value)

    def entry(self, key: str) -> ast.expr:
        """The dictionary under ``key`` in the one dictionary that has it; ValueError unless there is one.

        A ``key`` that leads to anything else, as in a table of names, does not count.
        """
        found = [
            self.item(value, key)
            for value in self._values.values()
            if isinstance(value, ast.Dict) and key in map(_constant, value.keys)
        ]
        entries = [value for value in found if isinstance(value, ast.Dict)]
        if len(entries) != 1:
            raise ValueError(f"{len(entries)} entries {key}")
        return entries[0]

    def item(self, node: ast.expr, key: str) -> ast.expr:
        """``node[key]``, a name followed to its value; LookupError if there is none."""
        if not isinstance(node, ast.Dict):
            raise KeyError(key)
        value = {_constant(k): v for k, v in zip(node.keys, node.values, strict=True)}[key]
        return self._values[value.id] if isinstance(value, ast.Name) else value


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _checked(system: object, query: object) -> Prompt:
    if not isinstance(system, str) or not isinstance(query, str):
        raise TypeError("one of them is no text")
    fields = [field for _, *field in Formatter().parse(query) if field[0] is not None]
    if fields != [["question", "", None]]:
        raise ValueError("the query should have one placeholder, {question}")
    return Prompt(system, query)
