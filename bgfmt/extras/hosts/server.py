"""The line server of `bgfmt gnubg-external`: it serves many connections and survives anything that a client sends.

Every question gets an answer of one line; there is no greeting and no prompt, since gnubg ignores what follows the
first line that it reads. One thread reads and writes, a few compute answers: most are table look-ups, but a position
that is calculated may take seconds, and the first one of its kind is compiled before.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bgfmt.extras.hosts import external
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.extras.limits import allow_files

BACKLOG = 128  # connections accepted at a time
THREADS = 4  # that compute answers: so many long calculations before a look-up must wait
LINE = 4096  # greatest length of a line in bytes; the connection is closed after a longer one
UNFINISHED = 10.0  # seconds from the first to the last byte of a line; between lines there is no limit
SENDING = 10.0  # seconds until a client that does not read its answer is dropped
MISTAKES = 20  # invalid lines after which the connection is closed


@dataclass(eq=False)
class _Connection:
    """A connection; `last` is the time of its last question or answer."""

    session: Session
    writer: asyncio.StreamWriter
    last: float = field(default_factory=time.monotonic)


@dataclass
class Server:
    """A server that listens on one address and answers.

    connections : limit. A new connection beyond it replaces one that has never asked, else the one that has been
        silent longest. If the system allows fewer open files, the limit is lower.
    threads : that compute answers; 0 answers in the serving thread, as some engines require.
    log : called with each question and answer as text.
    """

    player: Player
    host: str = "127.0.0.1"
    port: int = 0
    connections: int = field(default=2000, kw_only=True)
    log: Callable[[str], None] | None = field(default=None, kw_only=True)
    threads: int = field(default=THREADS, kw_only=True)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="bgfmt") if self.threads else None
        self._open: set[_Connection] = set()
        self._places = self.connections

    async def serve(self, ready: Callable[[int], None] | None = None) -> None:
        """Serve until cancelled, in the main thread also until interrupted or terminated.

        ready : called with the port once connections are accepted.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: None)  # errors of clients are not reported
        files = allow_files(self.connections + 2 * BACKLOG)
        spare = min(2 * BACKLOG, files // 2)  # for other files, newcomers, connections being closed
        self._places = max(1, min(self.connections, files - spare))
        for name in (signal.SIGINT, signal.SIGTERM):
            # Windows: Ctrl-C is a KeyboardInterrupt; elsewhere only the main thread gets signals
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                loop.add_signal_handler(name, stop.set)
        server = await asyncio.start_server(
            self._serve_one, self.host, self.port, limit=LINE, backlog=max(1, spare // 2)
        )
        if ready is not None:
            ready(server.sockets[0].getsockname()[1])
        try:
            await stop.wait()
        finally:
            server.close()
            for connection in list(self._open):
                connection.writer.transport.abort()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(server.wait_closed(), 2)
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)

    def run(self, ready: Callable[[int], None] | None = None) -> None:
        """Serve in this thread until interrupted or, in the main thread, terminated.

        ready : called with the port once connections are accepted.
        """
        asyncio.run(self.serve(ready))

    # -- one connection ----------------------------------------------------------------------------------

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; close another one if there are too many."""
        while len(self._open) >= self._places:  # close one that never asked, else the one silent for longest
            leaving = min(self._open, key=lambda one: (one.session.questions > 0, one.last))
            self._open.discard(leaving)
            leaving.writer.transport.abort()
        connection = _Connection(Session(self.player, self.log), writer)
        self._open.add(connection)
        try:
            _set_up(writer)
            await self._converse(connection, reader)
        except asyncio.IncompleteReadError:
            pass  # the client has closed the connection
        except (TimeoutError, OSError, asyncio.CancelledError):
            writer.transport.abort()  # the client has gone or is too slow, or the server is closing
        finally:
            self._open.discard(connection)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    async def _converse(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
        """Answer the lines of a connection until it ends or has made `MISTAKES` mistakes."""
        session = connection.session
        loop = asyncio.get_running_loop()
        while not session.closing and session.mistakes < MISTAKES:
            try:
                line = await self._line(reader)
            except asyncio.LimitOverrunError:
                await self._send(connection, external.error_line(f"a line of more than {LINE} bytes"))
                return
            connection.last = time.monotonic()
            text = line.decode("utf-8", "replace")
            if self._pool is None:
                answer = session.reply(text)
            else:
                answer = await loop.run_in_executor(self._pool, session.reply, text)
            connection.last = time.monotonic()
            if not session.closing:
                await self._send(connection, answer)

    async def _line(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next line; IncompleteReadError at the end.

        The first byte may be long in coming, the others have `UNFINISHED` seconds.
        """
        while (first := await reader.readexactly(1)) == b"\0":  # what gnubg sends after a line feed
            pass
        if first == b"\n":
            return b""
        async with asyncio.timeout(UNFINISHED):
            return first + await reader.readuntil(b"\n")

    async def _send(self, connection: _Connection, text: str) -> None:
        """Send one line; TimeoutError if the client does not read it."""
        connection.writer.write(text.encode("utf-8", "replace") + b"\n")
        async with asyncio.timeout(SENDING):
            await connection.writer.drain()
        await asyncio.sleep(0)  # let other connections proceed


def _set_up(writer: asyncio.StreamWriter) -> None:
    """Limit the buffers of a connection, and make the system detect a peer that has vanished."""
    transport = writer.transport
    if hasattr(transport, "max_size"):
        transport.max_size = LINE  # bytes read at once; asyncio's own choice is 256 KiB
    transport.set_write_buffer_limits(high=4 * LINE)
    sock = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
