"""A language model as the reader, on the real command line against a server on loopback."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from chat_server import ChatRequest, ChatServer
from workspace import SMALL, Workspace

KEY = "sk-never-to-be-seen-anywhere-77"
PROMPT = {
    "system": "You are a test.",
    "query": {"rag_agent": "Now answer: {question}", "long_context_agent": "unused"},
}
# A small set, and a prompt of our own in the place of the official one.
ASK = ("reader=openai", "reader.model=tiny", "reader.retries=1", *SMALL)


def answer(request: ChatRequest) -> str:
    """The last fact's last word, as the newest would say; it differs by seed for some questions."""
    facts = re.findall(r"Memory \d+:\n(.*)\n", request.question)
    seed = request.body["seed"]
    return facts[-1] if (len(request.question) + seed) % 3 else "no idea"


@pytest.fixture
def asked(workspace: Workspace, tmp_path: Path):
    """Run with ``ASK`` against a server; returns the finished process."""
    file = tmp_path / "data" / "memoryagentbench" / "factconsolidation_prompt.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(PROMPT))
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    workspace.cache = tmp_path / "cache"

    def run(server: ChatServer, *overrides: str, **environment: str):
        environment = {"OPENAI_API_KEY": KEY, "ENGRAM_DATA": str(tmp_path / "data")} | environment
        ours = (f"reader.base_url={server.url}", f"reader.prompt.json.sha256={sha256}")
        return workspace.run(*ASK, *ours, *overrides, **environment)

    return run


def test_a_deterministic_method_is_read_five_times_and_a_rerun_costs_nothing(workspace, asked):
    with ChatServer(answer=answer, usage={"prompt_tokens": 90, "completion_tokens": 4}) as server:
        prices = ("reader.prompt_price=2", "reader.completion_price=10")
        done = asked(server, "method=bm25", *prices)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 15 * 5
        assert {request.body["seed"] for request in server.requests} == set(range(5))
        request = server.requests[0]
        assert request.body["messages"][0] == {"role": "system", "content": "You are a test."}
        assert request.question.startswith("Memory 1:\n")
        assert "\nNow answer: " in request.question
        assert (request.body["temperature"], request.body["max_tokens"]) == (0.7, 10)
        assert asked(server, "method=bm25", *prices, "existing=rerun").returncode == 0
        assert len(server.requests) == 15 * 5
    again, first = workspace.runs()
    rows = workspace.rows(first)
    assert rows == workspace.rows(again)
    assert {len(row["answers"]) for row in rows} == {5}
    assert {row["metrics"]["subem"] for row in rows} > {0.0}
    metrics = first.data.metrics
    assert metrics["reader_prompt_tokens"] == again.data.metrics["reader_prompt_tokens"] == 75 * 90
    assert metrics["reader_cost"] == pytest.approx(75 * (90 * 2 + 4 * 10) / 1e6)
    assert (metrics["reader_answers_paid"], again.data.metrics["reader_answers_paid"]) == (75, 0)
    assert metrics["answer_in_top_1"] == again.data.metrics["answer_in_top_1"]
    assert first.data.tags["engram.reader"] == "openai:tiny"
    assert first.data.tags["engram.endpoint"] == server.url


def test_a_stochastic_method_is_read_under_its_own_seed(workspace, asked):
    with ChatServer(answer=answer) as server:
        assert asked(server, "method=random", "seed=3").returncode == 0
        assert {request.body["seed"] for request in server.requests} == {3}
    (run,) = workspace.runs()
    assert {len(row["answers"]) for row in workspace.rows(run)} == {1}


def test_the_key_is_written_nowhere(workspace, asked, tmp_path):
    with ChatServer("unauthorized", answer=answer) as server:
        failed = asked(server, "method=bm25")
        done = asked(server, "method=bm25")
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert (failed.returncode, done.returncode) == (1, 0)
    assert "401" in failed.stderr
    for output in (failed.stdout, failed.stderr, done.stdout, done.stderr):
        assert KEY not in output
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > 10
    assert [file for file in written if KEY.encode() in file.read_bytes()] == []


def test_an_answer_that_cant_be_had_fails_the_run(workspace, asked):
    with ChatServer(then="server_error", answer=answer) as server:
        failed = asked(server, "method=bm25", "reader.concurrency=1")
        assert failed.returncode == 1
        assert "Traceback" not in failed.stderr
        server.then = "none"
        before = len(server.requests)
        assert asked(server, "method=bm25").returncode == 0
        assert len(server.requests) > before
    done, lost = workspace.runs()
    assert (lost.info.status, done.info.status) == ("FAILED", "FINISHED")
    assert "subem" not in lost.data.metrics
    assert done.data.metrics["subem_n"] == 15


def test_no_key_is_told_before_a_run_begins(workspace, asked):
    with ChatServer(answer=answer) as server:
        done = asked(server, "method=bm25", OPENAI_API_KEY="")
    assert done.returncode == 2
    assert done.stderr.startswith("The environment variable OPENAI_API_KEY")
    assert (workspace.runs(), server.requests) == ([], [])


def test_the_table_is_of_one_model(workspace, asked):
    with ChatServer(answer=answer) as server:
        assert asked(server, "method=bm25").returncode == 0
        ours = ("reader=openai", "reader.model=tiny", f"reader.base_url={server.url}")
    # The prompt is not the official one, so the run is exploratory.
    out = workspace.ok(*ours, module="engram_hydra.aggregate")
    assert "reader openai:tiny" in out
    assert "exploratory" in out
    out = workspace.ok(ours[0], "reader.model=large", ours[2], module="engram_hydra.aggregate")
    assert "reader openai:large" in out
    nameless = workspace.run("reader=openai", module="engram_hydra.aggregate")
    assert (nameless.returncode, nameless.stderr[:25]) == (2, "reader.model has no value")
