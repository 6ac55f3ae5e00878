"""The socket, its connections and the signals: `serve` runs until it gets a signal.

uvicorn has no timeout for a request that never ends and no limit on its header, so its protocol is extended: a header
has a timeout and a maximum size, a body has a timeout, and connections beyond the limit are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
from http import HTTPStatus
from typing import Any

import click
import uvicorn

from bgfmt.errors import CapabilityError
from bgfmt.extras.limits import allow_files
from bgfmt.extras.serve.app import Service
from bgfmt.extras.serve.bulk import BODY_SECONDS
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.middleware import LOOPBACK
from bgfmt.extras.serve.parameters import Settings
from bgfmt.extras.serve.refusals import RETRY, Refusal
from bgfmt.extras.serve.work import is_loopback
from bgfmt.game.drawing import pluralize

M_MMAP_THRESHOLD = -3  # of glibc's malloc.h
M_ARENA_MAX = -8
LARGE_ARRAY_BYTES = 256 << 10
SHUTDOWN_SECONDS = 5  # seconds for requests under way once the end is asked for
MAX_HEADER_BYTES = 32 << 10
HEADER_TIMEOUT_SECONDS = 15.0
REFUSAL_TIMEOUT_SECONDS = 3.0  # a newcomer beyond the limit is told so, and is not waited for longer
SLOW_HEADER_SECONDS = 5.0  # a head that takes this long gives way to newcomers

BASE: Any = object  # of a mixin, which meets the methods of uvicorn's protocol where it is mixed in


class Watch:
    """The open connections, at most `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.open: set[Any] = set()
        #: since when connections whose first head is not complete have been open, oldest first
        self.waiting: dict[Any, float] = {}

    def full(self, now: float) -> bool:
        """Return whether a new connection exceeds the limit, and must be refused.

        An open connection that is slow to send its header is closed to make room. now : time of `time.monotonic`.
        """
        if len(self.open) <= self.most:
            return False
        oldest = next(iter(self.waiting), None)
        if oldest is None or now - self.waiting[oldest] < SLOW_HEADER_SECONDS:
            return True
        del self.waiting[oldest]
        oldest.transport.abort()
        return False


class ConnectionLimits(BASE):  # type: ignore[misc]
    """Mixin for uvicorn's protocol: limits on a header's time and size, a body's time, and connections.

    uvicorn's parser calls the methods `on_...` as it reads a request.
    """

    watch: Watch
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    url: bytes
    headers: list[tuple[bytes, bytes]]
    _timer: asyncio.TimerHandle | None = None
    _excess = False  # whether this newcomer is one too many
    _reading_head = False
    _unparsed_bytes = 0  # received since a message began or a part of its body was parsed

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.watch.open.add(self)
        now = self.loop.time()
        if len(self.watch.open) > 2 * self.watch.most + 64:
            transport.abort()
            return
        self._excess = self.watch.full(now)
        if not self._excess:
            self.watch.waiting[self] = now
        self._wait(REFUSAL_TIMEOUT_SECONDS if self._excess else HEADER_TIMEOUT_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self.watch.open.discard(self)
        self.watch.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unparsed_bytes += len(data)
        super().data_received(data)
        self._check_size(self._unparsed_bytes)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading_head = True
        self._unparsed_bytes = 0
        if self._timer is None:
            self._wait(HEADER_TIMEOUT_SECONDS)

    def on_headers_complete(self) -> None:
        self._reading_head = False
        self._unparsed_bytes = 0
        self._stop()
        self.watch.waiting.pop(self, None)
        self._check_size(len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers))
        if self._excess:
            self._refuse("busy", f"{self.watch.most:,} connections are open (--connections)", *RETRY)
        if not self.transport.is_closing():
            super().on_headers_complete()
            # the application answers before, where it reads the body
            self._wait(BODY_SECONDS + SHUTDOWN_SECONDS)

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        self._stop()
        if not self.transport.is_closing():
            super().on_message_complete()

    def send_400_response(self, _: str) -> None:
        self._refuse("bad_request", "not an HTTP request")

    def _check_size(self, size: int) -> None:
        if size > MAX_HEADER_BYTES:
            self._refuse(
                "head_too_large", f"the head of the request must have at most {MAX_HEADER_BYTES:,} bytes"
            )

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self._end_late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_late(self) -> None:
        self._timer = None
        if self._reading_head:
            self._refuse(
                "too_slow", f"the head of the request did not arrive within {HEADER_TIMEOUT_SECONDS:.0f} s"
            )
        else:
            self.transport.abort()

    def _refuse(self, code: str, message: str, *more: tuple[str, str]) -> None:
        """Send an error response and close the connection."""
        if self.transport.is_closing():
            return
        usual = ("x-content-type-options", "nosniff"), ("connection", "close")
        refusal = Refusal(code, message, headers=(*more, *usual))
        headers, body = refusal.response()
        status = HTTPStatus(refusal.status)
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        head = f"HTTP/1.1 {status} {status.phrase}\r\n".encode()
        self.transport.write(head + lines + b"\r\n" + body)
        self.transport.close()


def limit_connections(protocol: type[Any], watch: Watch) -> type[Any]:
    """Return a subclass of uvicorn's protocol with the limits of `ConnectionLimits`.

    watch : counts the connections of all its instances.
    """
    return type("LimitedProtocol", (ConnectionLimits, protocol), {"watch": watch})


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address (port 0: any free one), without Nagle's delay for small data."""
    address = host.strip("[]")
    both = ":" in address and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family, backlog=1024, dualstack_ipv6=both)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    return listener


def hosts_of(host: str, allowed: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names that a Host header may have, None for any.

    host : address on which the service listens. allowed : further names, see `--allow-host`.
    """
    own = is_loopback("127.0.0.1" if host == "localhost" else host.strip("[]"))
    return (*LOOPBACK, *allowed) if own else allowed or None


def release_freed_memory() -> None:
    """Set glibc to return large freed arrays to the system, and to use few heaps; do nothing on other systems.

    By default its threshold grows with the arrays of calculations, and freed memory stays fragmented.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_ARRAY_BYTES)
        mallopt(M_ARENA_MAX, 2)


def fork(workers: int) -> tuple[int, list[int]]:
    """Start worker processes by fork, until there are `workers` of them with this one.

    Returns the number of the process that returns, 0 for the first, and the ids of its children, which end with it.
    """
    if workers > 1 and not hasattr(os, "fork"):
        raise CapabilityError("this system cannot fork processes: --workers must be 1")
    if workers == 1:
        return 0, []
    watched, held = os.pipe()
    made: list[int] = []
    for worker in range(1, workers):
        made.append(os.fork())
        if not made[-1]:
            os.close(held)

            def end() -> None:
                os.read(watched, 1)  # nobody writes: this comes back once the first process has gone
                os.kill(os.getpid(), signal.SIGTERM)

            threading.Thread(target=end, daemon=True).start()
            return worker, []
    os.close(watched)
    return 0, made


def serve(
    holdings: Holdings, settings: Settings, *, host: str, port: int, quiet: bool = False, workers: int = 1
) -> None:
    """Serve until SIGINT or SIGTERM; the address is printed when connections are accepted.

    Parameters
    ----------
    holdings, settings : the tables and the options of `bgfmt serve`.
    host, port : the address; port 0 for any free one.
    quiet : True for no log of requests.
    workers : number of processes, including this one.
    """
    release_freed_memory()
    allow_files(2 * settings.connections + 256)
    listener = listen(host, port)
    worker, others = fork(workers)
    service = Service(holdings, settings, None if workers == 1 else worker)
    service.answers.warm()
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def log(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")

    config = uvicorn.Config(
        service.app(None if quiet else log),
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_keep_alive=15,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    config.load()
    config.http_protocol_class = limit_connections(config.http_protocol_class, Watch(settings.connections))
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    server = uvicorn.Server(config)
    sys.setswitchinterval(0.001)  # threads that calculate let others have their turn more often

    def stop(*_: Any) -> None:
        server.should_exit = True

    # uvicorn puts its own handlers in place of these while it runs, and then raises the signal once more for them
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # a client that connects from now on is answered soon
    if not worker:
        click.echo(f"bgfmt serves {pluralize(len(holdings), 'table')} on {address}")
    try:
        server.run(sockets=[listener])
    finally:
        for other in others:
            with contextlib.suppress(OSError):
                os.kill(other, signal.SIGTERM)
        working = bool(service.workers.under_way)
        service.workers.close()
        for other in others:
            with contextlib.suppress(OSError):
                os.waitpid(other, 0)
        if working or worker:  # what calculates cannot be stopped, and may not keep the process
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
