"""A web server for tests that knows byte ranges, on 127.0.0.1, and misbehaves as told."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

Misbehave = Callable[["Handler", int], bool]


class Handler(BaseHTTPRequestHandler):
    """Answers from the server's `path`; `how(handler, number of the request)` may answer otherwise."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body waits 40 ms for the client to acknowledge the head
    server: RangeServer

    def do_GET(self) -> None:
        number = len(self.server.asked)
        self.server.asked.append(f"{self.command} {self.headers.get('Range')}")
        self.server.headers.append(dict(self.headers.items()))
        if self.server.how is None or not self.server.how(self, number):
            self.ranged()

    def ranged(self) -> None:
        """As a good server does."""
        path = self.server.path
        size = path.stat().st_size
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(found[1]), min(int(found[2]), size - 1)) if found else (0, size - 1)
        if first >= size:
            self.say(416, {"Content-Range": f"bytes */{size}"}, b"")
            return
        with open(path, "rb") as file:
            file.seek(first)
            data = file.read(last - first + 1)
        more = {"ETag": self.server.tag}
        if found:
            more["Content-Range"] = f"bytes {first}-{last}/{size}"
        self.say(206 if found else 200, more, data)

    def say(self, status: int, headers: dict[str, str], data: bytes, length: int | None = None) -> None:
        """Answer; `length` is what the head promises."""
        self.send_response(status)
        for name, value in {
            "Content-Length": str(len(data) if length is None else length),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class RangeServer(ThreadingHTTPServer):
    """asked : the Range headers in order; headers : all headers. path, tag, how may be changed at any time."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path: Path, how: Misbehave | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.path, self.how, self.tag = path, how, '"one"'
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        """Where the file is to be had."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.path.name}"


@contextlib.contextmanager
def serving(path: Path, how: Misbehave | None = None) -> Iterator[RangeServer]:
    """A server for the time of a `with` block."""
    server = RangeServer(path, how)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
