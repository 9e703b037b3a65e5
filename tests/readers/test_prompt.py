"""The official prompt is data of the benchmark's: read from either form, put together as it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.errors import DataError
from engram_hydra.readers.prompt import (
    Prompt,
    load_prompt,
    messages,
    prompt_from_json,
    prompt_from_templates,
)

PROMPT = Prompt(
    system="You are a quiz master.",
    query="Later cards replace earlier ones. \n\n Now play: {question} \nAnswer:",
)
ENTRY = {
    "system": PROMPT.system,
    "memorize": "At {time_stamp} \\n you were dealt: {context}",
    "query": {"long_context_agent": "Another: {question}", "rag_agent": PROMPT.query},
}
TEMPLATES = f'''
"""Templates of a benchmark."""
import no_such_module

SYSTEM = {PROMPT.system!r}
raise SystemExit("this file was run")

BASE = {{
    "other_task": {{"system": SYSTEM, "query": {{"rag_agent": "Not this one: {{question}}"}}}},
    "factconsolidation": {{
        "system": SYSTEM,
        "memorize": no_such_module.text(),
        "query": {{
            "long_context_agent": "Another: {{question}}",
            "rag_agent": "Later cards replace earlier ones. \\n"
            "\\n Now play: {{question}} \\nAnswer:",
        }},
    }},
}}
ALIASES = {{"factconsolidation": "factconsolidation"}}

def get_template(name):
    return BASE[name]
'''


def test_the_messages_are_put_together_as_the_benchmark_does() -> None:
    assert messages(PROMPT, ["3. The cat is red.", "7. The cat is blue."], "Which cat?") == [
        {"role": "system", "content": "You are a quiz master."},
        {
            "role": "user",
            "content": "Memory 1:\n3. The cat is red.\n\nMemory 2:\n7. The cat is blue.\n\n"
            "Later cards replace earlier ones. \n\n Now play: Which cat? \nAnswer:",
        },
    ]


def test_braces_in_facts_and_questions_are_only_braces() -> None:
    _, user = messages(PROMPT, ["{question} {0}"], "{x} {question}?")
    assert user["content"].startswith("Memory 1:\n{question} {0}\n\nLater")
    assert "Now play: {x} {question}? \n" in user["content"]


@given(facts=st.lists(st.text("ab\n{}", max_size=5), max_size=4), question=st.text(max_size=9))
def test_each_fact_stands_in_the_message_in_its_place(facts: list[str], question: str) -> None:
    """Against the benchmark's own two steps: blocks of their own, then joined by newlines."""
    content = messages(PROMPT, facts, question)[1]["content"]
    for number, fact in enumerate(facts, 1):
        start = f"Memory {number}:\n{fact}\n\n"
        assert content.startswith(start)
        content = content[len(start) :]
    before, after = PROMPT.query.split("{question}")
    assert content.removeprefix("\n" if not facts else "") == before + question + after


@pytest.mark.parametrize("name", ["prompt.json", "templates.py"])
def test_both_forms_hold_the_same_prompt(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(json.dumps(ENTRY) if file.suffix == ".json" else TEMPLATES)
    assert load_prompt(file) == PROMPT


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{",
        "[]",
        "7",
        '{"system": "x"}',
        '{"system": "x", "query": {"long_context_agent": "{question}"}}',
        '{"system": "x", "query": "{question}"}',
        '{"system": null, "query": {"rag_agent": "{question}"}}',
        '{"system": "x", "query": {"rag_agent": ["{question}"]}}',
        "[" * 100_000,
    ],
)
def test_an_unknown_json_shape_is_refused(source: str) -> None:
    with pytest.raises(DataError, match=r"^here is no JSON object .* put the pinned version"):
        prompt_from_json(source, "here")


@pytest.mark.parametrize(
    "query", ["no question", "{question} {question}", "{question} {x}", "{", "{question!r}", "{}"]
)
def test_a_query_without_just_one_question_is_refused(query: str) -> None:
    with pytest.raises(DataError):
        prompt_from_json(json.dumps(ENTRY | {"query": {"rag_agent": query}}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"factconsolidation": {', '"fact_consolidation": {'),
        ("ALIASES = {", 'MORE = {"factconsolidation": {}}\nALIASES = {'),
        ('"rag_agent": "Later', '"rag": "Later'),
        ('"rag_agent": "Later', '"rag_agent": f"Later'),
        ('"rag_agent": "Later', '"rag_agent": open("x").read() + "Later'),
        ("SYSTEM = ", "ANOTHER = "),
        ("SYSTEM = ", "SYSTEM = 7 #"),
        ("BASE = {", "BASE = {{"),
        ("BASE = {", "BASE = \0{"),
    ],
)
def test_an_unknown_shape_of_the_templates_is_refused(old: str, new: str) -> None:
    assert old in TEMPLATES
    with pytest.raises(DataError, match=r"^here is no Python file .* put the pinned version"):
        prompt_from_templates(TEMPLATES.replace(old, new), "here")


def test_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"system": "\xe9"}')
    (tmp_path / "list.json").write_text("[]")
    for name in ("latin.json", "list.json", "missing.py"):
        with pytest.raises(DataError, match=rf"{name} .*: put the pinned version"):
            load_prompt(tmp_path / name)


def test_the_real_prompt_loads(engram_data: Path) -> None:
    prompt = load_prompt(engram_data / "memoryagentbench" / "factconsolidation_prompt.json")
    assert prompt.system
    assert prompt.query.count("{question}") == 1
