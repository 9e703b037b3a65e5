"""The language model as a reader: an answer or an error, never anything else; paid for once."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from email.utils import formatdate
from pathlib import Path

import pytest

from chat_reading import ANSWERS, BATCH, KEY, FakeOptions, Reading, ask
from engram_hydra.errors import ConfigError, DataError, ReaderError
from engram_hydra.readers.answer_cache import AnswerCache
from engram_hydra.readers.openai_chat import ChatReader, Usage

from chat_server import ChatRequest, ChatServer, Fault, echo


def test_what_is_sent(tmp_path: Path) -> None:
    with ChatServer() as server:
        assert Reading(f"{server.url}/", tmp_path).answers(BATCH[:1], seed=3) == ANSWERS[:1]
    (request,) = server.requests
    assert request.body == {
        "model": "tiny-model",
        "messages": ask("question 0"),
        "temperature": 0.7,
        "max_tokens": 10,
        "seed": 3,
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_answers_keep_their_order_under_concurrency(tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def backwards(request: ChatRequest) -> str:
        number = int(request.question.split()[-1])
        together.wait(10)  # fails unless three are asked at a time
        time.sleep(0.1 * (3 - number % 3))
        return echo(request)

    with ChatServer(answer=backwards) as server:
        assert Reading(server.url, tmp_path, concurrency=3).answers(BATCH) == ANSWERS


def test_no_more_at_a_time_than_allowed(tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def counted(request: ChatRequest) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        return echo(request)

    with ChatServer(answer=counted) as server:
        Reading(server.url, tmp_path, concurrency=2).answers(BATCH)
    assert most == 2


PASSING: list[Fault] = [
    "rate_limited",
    "server_error",
    "unavailable",
    "reset",
    "truncated",
    "not_json",
    "no_choices",
    "null_content",
    "blank",
    "lone_surrogate",
]


@pytest.mark.parametrize("fault", PASSING)
def test_what_may_pass_is_tried_again(tmp_path: Path, fault: Fault) -> None:
    with ChatServer(fault, fault) as server:
        reading = Reading(server.url, tmp_path)
        assert reading.answers(BATCH[:2]) == ANSWERS[:2]
    assert server.questions == ["question 0"] * 3 + ["question 1"]
    assert reading.waits == [1, 2]


@pytest.mark.parametrize("fault", PASSING)
def test_what_does_not_pass_fails_the_batch(tmp_path: Path, fault: Fault) -> None:
    with ChatServer("none", then=fault) as server:
        reading = Reading(server.url, tmp_path)
        with pytest.raises(ReaderError, match=r"no answer to question 2 of 3 \(tries: 4") as error:
            reading.answers(BATCH[:3])
        assert f"tiny-model at {server.url} gave" in str(error.value)
        assert "\n" not in str(error.value)
        assert server.questions == ["question 0"] + ["question 1"] * 4
        assert reading.waits == [1, 2, 4]
        # Nothing but the true answer was kept, and the next run goes on from there.
        server.then = "none"
        assert Reading(server.url, tmp_path).answers(BATCH[:3]) == ANSWERS[:3]
        assert server.questions[5:] == ["question 1", "question 2"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [("bad_request", 400), ("unauthorized", 401), ("unknown_model", 404), ("withheld", 451)],
)
def test_what_no_retry_mends_fails_at_once(tmp_path: Path, fault: Fault, status: int) -> None:
    with ChatServer(then=fault) as server:
        reading = Reading(server.url, tmp_path)
        with pytest.raises(ReaderError) as error:
            reading.answers(BATCH)
    assert len(server.requests) == 1
    assert reading.waits == []
    assert f"refused question 1 of 6 (HTTP {status}: {fault}" in str(error.value)
    assert "reader.model and the key in CHAT_TEST_KEY." in str(error.value)


def test_an_endpoint_that_hangs_is_given_up(tmp_path: Path) -> None:
    with ChatServer("hang") as server:
        reading = Reading(server.url, tmp_path, timeout=0.3)
        assert reading.answers() == ANSWERS[:1]
        server.then = "hang"
        with pytest.raises(ReaderError, match=r"the last one: no whole answer within 0\.3 s"):
            Reading(server.url, tmp_path, timeout=0.3, retries=1).answers(BATCH[:2])
    assert len(server.requests) == 4
    assert reading.waits == [1]


def test_an_endpoint_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        reading = Reading(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", tmp_path, retries=8)
        with pytest.raises(ReaderError, match=r"tries: 9, the last one: ConnectionRefusedError: "):
            reading.answers()
    assert reading.waits == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("fault", ["rate_limited", "unavailable"])
@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [
        ("7", [7, 7]),
        ("1.5", [1.5, 2]),
        ("600", [600, 600]),
        *[(useless, [1, 2]) for useless in ("0", "-5", "nan", "inf", "soon", "")],
    ],
)
def test_retry_after_is_honoured(
    tmp_path: Path, fault: Fault, retry_after: str, waits: list[float]
) -> None:
    with ChatServer(fault, fault, retry_after=retry_after) as server:
        reading = Reading(server.url, tmp_path)
        assert reading.answers() == ANSWERS[:1]
    assert reading.waits == waits


def test_retry_after_may_be_a_date(tmp_path: Path) -> None:
    date = formatdate(time.time() + 100, usegmt=True)
    with ChatServer("rate_limited", retry_after=date) as server:
        reading = Reading(server.url, tmp_path)
        reading.answers()
    (wait,) = reading.waits
    assert 90 < wait <= 100


def test_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    with ChatServer("rate_limited", retry_after="3600") as server:
        reading = Reading(server.url, tmp_path)
        with pytest.raises(ReaderError, match=r"HTTP 429: rate_limited\) and wants 3600 s of rest"):
            reading.answers()
    assert len(server.requests) == 1
    assert reading.waits == []


def test_after_a_failure_the_others_stop_waiting(tmp_path: Path) -> None:
    """With real waits: the first question would try again for over a minute."""
    first_failed = threading.Event()

    class Server(ChatServer):
        def take(self, request: ChatRequest) -> Fault:
            super().take(request)
            if request.question == "question 0":
                first_failed.set()
                return "rate_limited"
            first_failed.wait(10)
            time.sleep(0.2)
            return "unauthorized"

    with Server(retry_after="60") as server:
        reader = ChatReader(FakeOptions(server.url, concurrency=2), AnswerCache(tmp_path))
        started = time.monotonic()
        with pytest.raises(ReaderError, match="refused question 2"):
            reader.answers(BATCH, 0)
    assert time.monotonic() - started < 20
    assert set(server.questions) == {"question 0", "question 1"}


def test_after_a_failure_what_is_under_way_is_still_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two are under way when the first fails: one gets its answer, one fails and isn't asked again."""
    caplog.set_level(logging.INFO)
    under_way = threading.Barrier(3)

    class Server(ChatServer):
        def take(self, request: ChatRequest) -> Fault:
            super().take(request)
            under_way.wait(10)
            if request.question == "question 0":
                return "unauthorized"
            time.sleep(0.3)
            return "none" if request.question == "question 1" else "server_error"

    with Server() as server:
        reading = Reading(server.url, tmp_path, concurrency=3)
        with pytest.raises(ReaderError, match="refused question 1"):
            reading.answers(BATCH)
    assert sorted(server.questions) == ["question 0", "question 1", "question 2"]
    assert "asking again" not in caplog.text
    assert reading.reader.paid.answers == 1
    assert Reading(server.url, tmp_path).answers(BATCH[1:2]) == ANSWERS[1:2]  # from the cache


def test_a_rerun_asks_nothing_and_needs_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer() as server:
        Reading(server.url, tmp_path).answers(BATCH)
        monkeypatch.delenv("CHAT_TEST_KEY")
        # What is no part of a question is no reason to ask it again.
        options = {"concurrency": 4, "timeout": 1.0, "retries": 0, "api_key_env": "OTHER"}
        again = Reading(f"{server.url}/", tmp_path, prompt_price=1.0, **options)
        assert again.answers(BATCH) == ANSWERS
    assert len(server.requests) == 6


def test_equal_questions_are_asked_once(tmp_path: Path) -> None:
    with ChatServer() as server:
        answers = Reading(server.url, tmp_path).answers([BATCH[0], BATCH[1], BATCH[0]])
    assert answers == [ANSWERS[0], ANSWERS[1], ANSWERS[0]]
    assert sorted(server.questions) == ["question 0", "question 1"]


def test_each_seed_has_its_answers(tmp_path: Path) -> None:
    with ChatServer(answer=lambda request: f"seed {request.body['seed']}") as server:
        reading = Reading(server.url, tmp_path)
        assert [reading.answers(seed=seed) for seed in (0, 1, 0)] == [
            ["seed 0"],
            ["seed 1"],
            ["seed 0"],
        ]
    assert len(server.requests) == 2


def test_nothing_to_ask(tmp_path: Path) -> None:
    reading = Reading("http://127.0.0.1:9/v1", tmp_path)
    assert reading.answers([]) == []
    assert reading.reader.total == Usage(0, 0, 0, None)


def test_tokens_and_cost(tmp_path: Path) -> None:
    prices = {"prompt_price": 0.15, "completion_price": 0.6}
    with ChatServer(usage={"prompt_tokens": 500, "completion_tokens": 10}) as server:
        first = Reading(server.url, tmp_path, **prices)
        first.answers(BATCH[:2])
        first.answers(BATCH[:4])
        later = Reading(server.url, tmp_path, **prices)
        later.answers(BATCH[:5])
        unpriced = Reading(server.url, tmp_path, prompt_price=0.15)
        unpriced.answers(BATCH[:5])
    # 4 * (500 * 0.15 + 10 * 0.6) / 1e6, and likewise for 5 and 1.
    assert first.reader.total == Usage(4, 2000, 40, pytest.approx(324e-6))
    assert first.reader.paid == first.reader.total
    assert later.reader.total == Usage(5, 2500, 50, pytest.approx(405e-6))
    assert later.reader.paid == Usage(1, 500, 10, pytest.approx(81e-6))
    assert unpriced.reader.total == Usage(5, 2500, 50, None)
    assert unpriced.reader.paid == Usage(0, 0, 0, None)


USELESS = [
    "many",
    None,
    True,
    [1],
    -1,
    0.5,
    2**53,
    2**53 + 1,
    10**400,
    10**4000,
    math.nan,
    math.inf,
]


@pytest.mark.parametrize("usage", [None, {}, [1], "1", 7, *({"prompt_tokens": n} for n in USELESS)])
def test_tokens_that_nobody_tells_are_not_zero(tmp_path: Path, usage: object) -> None:
    """And an answer is none the worse for what is said of its tokens."""
    with ChatServer(usage=usage) as server:
        reading = Reading(server.url, tmp_path, prompt_price=1.0, completion_price=1.0)
        assert reading.answers() == ANSWERS[:1]
    assert reading.reader.total == Usage(1, None, None, None)


def test_a_number_that_python_refuses_to_read_is_no_tokens(tmp_path: Path) -> None:
    class Server(ChatServer):
        def encoded(self, body: bytes) -> tuple[bytes, str]:
            return body.replace(b'"HUGE"', b"9" * 5000), "identity"

    with Server(usage={"prompt_tokens": "HUGE", "completion_tokens": 4}) as server:
        reading = Reading(server.url, tmp_path)
        assert reading.answers() == ANSWERS[:1]
    assert reading.reader.total == Usage(1, None, 4, None)


@pytest.mark.parametrize("fault", ["none", "unauthorized", "rate_limited", "reset", "hang"])
def test_the_key_is_nowhere(tmp_path: Path, fault: Fault, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ChatServer("none", then=fault, answer=lambda request: "fine") as server:
        reading = Reading(server.url, tmp_path, timeout=0.3, retries=1)
        said = ""
        try:
            reading.answers(BATCH[:2])
        except ReaderError as error:
            said = "".join(traceback.format_exception(error)) + repr(error)
            assert error.__cause__ is None and error.__context__ is None
        assert bool(said) is (fault != "none")
        assert all(KEY in request.headers["authorization"] for request in server.requests)
    assert "127.0.0.1" in caplog.text, "nothing was logged: the test proves nothing"
    assert KEY not in said + caplog.text + repr(reading.reader.__dict__)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def test_what_an_endpoint_says_of_the_key_is_cut_after_it_is_hidden(tmp_path: Path) -> None:
    class Server(ChatServer):
        def content(self, request: ChatRequest, fault: Fault) -> object:
            return ["x" * (80 + len(self.requests)) + KEY]

    said = []
    with Server() as server:
        reading = Reading(server.url, tmp_path, retries=0)
        for _ in range(60):
            with pytest.raises(ReaderError) as error:
                reading.answers()
            said.append(str(error.value))
    assert any(line.partition("…")[0].endswith("x(the k") for line in said), "the cut was elsewhere"
    assert not any(KEY[:6] in line for line in said)


@pytest.mark.parametrize("name", [KEY, "", "A B"])
def test_a_key_in_the_place_of_its_variable_is_not_repeated(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"^reader\.api_key_env is no name") as error:
        Reading("http://127.0.0.1:9/v1", tmp_path, api_key_env=name)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_is_told_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if value is None:
        monkeypatch.delenv("CHAT_TEST_KEY")
    else:
        monkeypatch.setenv("CHAT_TEST_KEY", value)
    with ChatServer() as server, pytest.raises(ConfigError, match="variable CHAT_TEST_KEY that"):
        Reading(server.url, tmp_path).answers()
    assert not server.requests


def test_a_key_that_no_header_can_hold_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("sécret", "secret\nsecret", "secret\x07"):
        monkeypatch.setenv("CHAT_TEST_KEY", value)
        with pytest.raises(ConfigError, match="characters that no key has") as error:
            Reading("http://127.0.0.1:9/v1", tmp_path).answers()
        assert "cret" not in str(error.value)


def test_blanks_around_a_key_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_TEST_KEY", f" {KEY}\n")
    with ChatServer() as server:
        Reading(server.url, tmp_path).answers()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000/v1",
        "ftp://host/v1",
        "http://",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://me:secret@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1#secret",
    ],
)
def test_a_base_url_is_an_address_and_nothing_more(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"^reader\.base_url is no plain address") as error:
        Reading(url, tmp_path)
    assert "secret" not in str(error.value)


def test_a_question_that_can_not_be_sent_is_an_error(tmp_path: Path) -> None:
    with ChatServer() as server, pytest.raises(DataError, match=r"^question 2 of 2 can't be sent"):
        Reading(server.url, tmp_path).answers([BATCH[0], ask("half a character: \ud83d")])
    assert server.questions == ["question 0"]


ASKING = """
import sys
from pathlib import Path
from engram_hydra.readers.answer_cache import AnswerCache
from engram_hydra.readers.openai_chat import ChatReader
from chat_reading import BATCH, FakeOptions

options = FakeOptions(sys.argv[1], concurrency=int(sys.argv[3]))
reader = ChatReader(options, AnswerCache(Path(sys.argv[2])))
print(*reader.answers(BATCH, 0), sep="\\n")
"""


def asking(url: str, folder: Path, concurrency: int) -> subprocess.Popen[str]:
    tests = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", ASKING, url, str(folder), str(concurrency)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([tests, *filter(None, sys.path)])},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    process: list[subprocess.Popen[str]] = []

    def until_the_fifth(request: ChatRequest) -> str:
        if request.question == "question 4" and process[0].poll() is None:
            process[0].kill()
            process[0].wait()
        return echo(request)

    with ChatServer(answer=until_the_fifth) as server:
        process.append(asking(server.url, tmp_path, 1))
        assert process[0].communicate(timeout=60)[0] == ""
        assert process[0].returncode == -signal.SIGKILL
        assert len(server.requests) == 5
        assert Reading(server.url, tmp_path).answers(BATCH) == ANSWERS
    assert server.questions[5:] == ["question 4", "question 5"]


def test_two_processes_at_once_give_the_same_answers(tmp_path: Path) -> None:
    """The endpoint never answers alike, and both ask the first question before either has an answer."""
    both = threading.Barrier(2)
    lock, count = threading.Lock(), 0

    def never_alike(request: ChatRequest) -> str:
        nonlocal count
        if request.question == "question 0":
            both.wait(60)
        with lock:
            count += 1
            return f"{request.question}: answer {count}"

    with ChatServer(answer=never_alike) as server:
        processes = [asking(server.url, tmp_path, concurrency) for concurrency in (1, 1)]
        told = [process.communicate(timeout=90)[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert told[0] == told[1]
    assert [line.partition(":")[0] for line in told[0]] == [f"question {n}" for n in range(6)]
