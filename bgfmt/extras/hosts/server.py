"""The line server behind `bgfmt gnubg-external`: many connections, and nothing that a client sends stops it.

One answer, one line, for every question; no greeting and no prompt, since gnubg throws away whatever follows the
first line it reads. One thread reads and writes, a few answer: most answers are a table look-up, but a position that
is calculated may take seconds, and the first of its kind is compiled before.
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
from bgfmt.storage import system

BACKLOG = 128  # connections accepted in one go
THREADS = 4  # that answer: long calculations at once before a look-up has to wait
LINE = 4096  # bytes of a line; the connection is closed after a longer one
UNFINISHED = 10.0  # seconds a begun line may take; silence between lines lasts until the place is needed
SENDING = 10.0  # seconds an answer may wait for a client that does not read
MISTAKES = 20  # lines that are no questions before the connection is closed


@dataclass(eq=False)
class _Connection:
    session: Session
    writer: asyncio.StreamWriter
    last: float = field(default_factory=time.monotonic)


@dataclass
class Server:
    """Listens on one address and answers.

    connections : the most at once; a newcomer beyond takes the place of one that never asked, else of the one
        that has been silent longest. Where the system allows fewer open files, that many.
    threads : that answer; 0 answers in the thread that serves, as a second engine may insist on.
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

        `ready` is called with the port once connections are taken.
        """
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: None)  # a client's failure is not reported
        files = system.allow_files(self.connections + 2 * BACKLOG)
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
        """`serve` in this thread."""
        asyncio.run(self.serve(ready))

    # -- one connection ----------------------------------------------------------------------------------

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while len(self._open) >= self._places:  # one that never asked gives way, else the longest silent
            leaving = min(self._open, key=lambda one: (one.session.asked > 0, one.last))
            self._open.discard(leaving)
            leaving.writer.transport.abort()
        connection = _Connection(Session(self.player, self.log), writer)
        self._open.add(connection)
        try:
            _set_up(writer)
            await self._converse(connection, reader)
        except asyncio.IncompleteReadError:
            pass  # the client has said all
        except (TimeoutError, OSError, asyncio.CancelledError):
            writer.transport.abort()  # gone, too slow, or we are closing: in each case there is nobody to tell
        finally:
            self._open.discard(connection)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    async def _converse(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
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
        """The next line; IncompleteReadError at the end. Its first byte may be long in coming, the rest may not."""
        while (first := await reader.readexactly(1)) == b"\0":  # what gnubg sends after a line feed
            pass
        if first == b"\n":
            return b""
        async with asyncio.timeout(UNFINISHED):
            return first + await reader.readuntil(b"\n")

    async def _send(self, connection: _Connection, text: str) -> None:
        connection.writer.write(text.encode("utf-8", "replace") + b"\n")
        async with asyncio.timeout(SENDING):
            await connection.writer.drain()
        await asyncio.sleep(0)  # let the others have their turn between two answers


def _set_up(writer: asyncio.StreamWriter) -> None:
    """Bound what a connection may hold, and let the system notice a peer that has vanished without a word."""
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
