"""A proxy that passes requests on and, on some path, loses the first answer on its way back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests


@contextmanager
def lossy_proxy(server: str, path: str) -> Iterator[tuple[str, list[int]]]:
    """Its address, and what the server answered to each request on ``path``, lost or not."""
    answers: list[int] = []

    class Proxy(BaseHTTPRequestHandler):
        def pass_on(self) -> None:
            if "Transfer-Encoding" in self.headers:  # how requests sends an empty file
                assert self.rfile.readline() == b"0\r\n"
                self.rfile.readline()
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            ours = {"host", "content-length", "transfer-encoding"}
            kept = {name: self.headers[name] for name in self.headers if name.lower() not in ours}
            answer = requests.request(
                self.command, server + self.path, data=body, headers=kept, timeout=60
            )
            if self.path.endswith(path):
                answers.append(answer.status_code)
                if len(answers) == 1:
                    self.close_connection = True
                    return
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815

        def log_message(self, *arguments: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{made.server_port}", answers
    finally:
        made.shutdown()
        made.server_close()
