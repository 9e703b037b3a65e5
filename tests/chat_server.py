"""A chat model on loopback: as much of ``POST /v1/chat/completions`` as a reader needs, and its faults."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

Fault = Literal[
    "none",
    "bad_request",  # 400
    "unauthorized",  # 401, and the key is repeated in the message
    "unknown_model",  # 404
    "withheld",  # 451
    "rate_limited",  # 429, with a Retry-After if the server has one
    "server_error",  # 500, with a page of HTML
    "unavailable",  # 503, with a Retry-After if the server has one
    "hang",  # no answer while the server lasts
    "slow_headers",  # a header without an end, a byte each 0.1 s
    "slow_body",  # likewise a body
    "slow_error",  # likewise a body, under status 500
    "endless",  # a body without an end, as fast as it is taken
    "endless_error",  # likewise under status 500
    "reset",  # the connection is reset instead of an answer
    "truncated",  # the connection drops at half of the body
    "not_json",
    "no_choices",
    "null_content",
    "blank",
    "lone_surrogate",
]

ERRORS: dict[str, int] = {
    "bad_request": 400,
    "unauthorized": 401,
    "unknown_model": 404,
    "withheld": 451,
    "rate_limited": 429,
    "server_error": 500,
    "unavailable": 503,
}


@dataclass(frozen=True)
class ChatRequest:
    """What was asked: the body, and the headers by lowercase name."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def question(self) -> str:
        """The text of the last message."""
        return str(self.body["messages"][-1]["content"])


Answer = Callable[[ChatRequest], str]


def echo(request: ChatRequest) -> str:
    return f"answer to {request.question}"


class ChatServer:
    """Answers at ``url`` while its ``with`` block lasts; what was asked stands in ``requests``.

    The first requests meet ``faults`` in turn, all others ``then``, which may be set at any time. One
    without a fault gets what ``answer`` returns, which may take its time, and ``usage`` with it.
    """

    def __init__(
        self,
        *faults: Fault,
        then: Fault = "none",
        answer: Answer = echo,
        retry_after: str | None = None,
        usage: object = None,
    ) -> None:
        self.requests: list[ChatRequest] = []
        self.retry_after = retry_after
        self.usage = usage
        self._faults = list(faults)
        self.then: Fault = then
        self._answer = answer
        self._lock = threading.Lock()
        self._over = threading.Event()
        server = self

        class Handler(_Handler):
            def setup(self) -> None:
                self.chat = server
                super().setup()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def questions(self) -> list[str]:
        return [request.question for request in self.requests]

    def __enter__(self) -> ChatServer:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def take(self, request: ChatRequest) -> Fault:
        """Note a request; the fault that it meets."""
        with self._lock:
            self.requests.append(request)
            return self._faults.pop(0) if self._faults else self.then

    def content(self, request: ChatRequest, fault: Fault) -> object:
        if fault in ("null_content", "blank", "lone_surrogate"):
            return {"null_content": None, "blank": " \n", "lone_surrogate": "\ud800"}[fault]
        return self._answer(request)

    def encoded(self, body: bytes) -> tuple[bytes, str]:
        """An answer's body as it is sent, and its Content-Encoding."""
        return body, "identity"

    def hang(self, seconds: float = 30) -> bool:
        """Waits; true if the server is to end."""
        return self._over.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ChatRequest(body, headers)
        fault = self.chat.take(request)
        if self.path != "/v1/chat/completions":
            fault = "unknown_model"
        if fault in ERRORS:
            self._send_error(fault, headers)
        elif fault == "hang":
            self.chat.hang()
            self.close_connection = True
        elif fault.startswith(("slow_", "endless")):
            self._send_for_ever(fault)
        elif fault == "reset":
            # Lingering for no time makes closing a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif fault == "not_json":
            self._send(200, b"<html>a proxy's login page</html>")
        else:
            content = self.chat.content(request, fault)
            choice = {
                "message": {"role": "assistant", "content": content},
                "index": 0,
                "finish_reason": "stop",
            }
            reply = {
                "choices": [] if fault == "no_choices" else [choice],
                "usage": self.chat.usage,
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
            }
            sent, encoding = self.chat.encoded(json.dumps(reply).encode())
            self._send(200, sent, encoding=encoding, halved=fault == "truncated")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _send_for_ever(self, fault: Fault) -> None:
        self.close_connection = True
        status = "500 Broken" if fault.endswith("_error") else "200 OK"
        self.wfile.write(f"HTTP/1.1 {status}\r\nPadding: ".encode())
        if fault != "slow_headers":
            self.wfile.write(b"none\r\n\r\n")
        slow = fault.startswith("slow_")
        with suppress(OSError):  # the reader has had enough
            while not self.chat.hang(0.1 if slow else 0):
                self.wfile.write(b"x" if slow else b"x" * (1 << 16))

    def _send_error(self, fault: Fault, headers: dict[str, str]) -> None:
        if fault == "server_error":
            self._send(500, b"<html>something went wrong</html>", kind="text/html")
            return
        said = f"{fault} for {headers['authorization']}" if fault == "unauthorized" else fault
        body = json.dumps({"error": {"message": said, "type": fault, "code": fault}}).encode()
        waiting = fault in ("rate_limited", "unavailable") and self.chat.retry_after is not None
        self._send(ERRORS[fault], body, retry_after=self.chat.retry_after if waiting else None)

    def _send(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        encoding: str = "identity",
        retry_after: str | None = None,
        halved: bool = False,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if halved else body)
        self.close_connection = halved
