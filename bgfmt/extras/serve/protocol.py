"""uvicorn's protocol with deadlines and limits: a head complete in time and of bounded size, a body in time."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from bgfmt.extras.serve.door import to_json
from bgfmt.extras.serve.refusals import Refusal

MOST_HEAD = 32 << 10
HEAD_SECONDS, BODY_SECONDS = 15.0, 30.0
REFUSED_SECONDS = 3.0  # a newcomer beyond the limit is told so, and is not waited for longer
STALE_SECONDS = 5.0  # a head that takes this long gives way to newcomers


class Protocol(HttpToolsProtocol):
    """One connection."""

    most: ClassVar[int] = 1000
    waiting: ClassVar[dict[Protocol, float]] = {}  # connections whose head is not complete, oldest first

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        self._in_head = True
        self._full = False
        if len(self.connections) > self.most and not self._make_room():
            self._full = True
        self._wait(REFUSED_SECONDS if self._full else HEAD_SECONDS)
        if not self._full:
            self.waiting[self] = self.loop.time()
        if len(self.connections) > 2 * self.most + 64:
            transport.abort()

    def _make_room(self) -> bool:
        """Close the connection that has kept its head from us for longest, if that is long."""
        oldest = next(iter(self.waiting), None)
        if oldest is None or self.loop.time() - self.waiting[oldest] < STALE_SECONDS:
            return False
        del self.waiting[oldest]
        oldest.transport.abort()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        self.waiting.pop(self, None)
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        self._done()
        self._timer = self.loop.call_later(seconds, self._late)

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self.transport.is_closing():
            return
        if self._in_head and self._head:
            self.refuse(Refusal("too_slow", f"a request's head is complete within {HEAD_SECONDS:.0f} s"))
        elif not self._in_head and self.cycle is not None and not self.cycle.response_started:
            self.refuse(Refusal("too_slow", f"a request's body is complete within {BODY_SECONDS:.0f} s"))
        else:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head += len(data)
            if self._timer is None:
                self._wait(HEAD_SECONDS)
        super().data_received(data)
        if self._in_head and self._head > MOST_HEAD and not self.transport.is_closing():
            self.refuse(Refusal("head_too_large", f"a request's head has at most {MOST_HEAD:,} bytes"))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._size = 0

    def on_url(self, url: bytes) -> None:
        self._size += len(url)
        if self._size <= MOST_HEAD:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._size += len(name) + len(value) + 4
        if self._size <= MOST_HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self.waiting.pop(self, None)
        if self.transport.is_closing():
            return
        if self._size > MOST_HEAD:
            self.refuse(Refusal("head_too_large", f"a request's head has at most {MOST_HEAD:,} bytes"))
            return
        if self._full:
            retry = (("Retry-After", "1"),)
            self.refuse(Refusal("busy", f"{self.most:,} connections are open (--connections)", headers=retry))
            return
        self._wait(BODY_SECONDS)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._done()
        self._in_head, self._head = True, 0
        if not self.transport.is_closing():
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self.refuse(Refusal("bad_request", "this is no HTTP request"))

    def refuse(self, refusal: Refusal) -> None:
        """Answer by an error and close."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
            return
        body = to_json(refusal.body())
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        headers += [
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        headers += list(refusal.headers)
        head = b"".join(f"{name}: {value}\r\n".encode() for name, value in headers)
        self.transport.write(STATUS_LINE[refusal.status] + head + b"\r\n" + body)
        self.transport.close()
