"""The line server of `bgfmt gnubg-external`: it serves many connections and survives anything that a client sends.

Every question gets an answer of one line; there is no greeting and no prompt, since gnubg ignores what follows the
first line that it reads. One thread reads and writes, a few compute answers: most are table look-ups, but a position
that is calculated may take seconds, and the first one of its kind is compiled before.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
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
        #: the writers of open connections, the one whose last question or answer is oldest first
        self._open: dict[Session, asyncio.StreamWriter] = {}
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
            for writer in self._open.values():
                writer.transport.abort()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
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
            leaving = min(self._open, key=lambda one: one.questions > 0)
            self._open.pop(leaving).transport.abort()
        session = Session(self.player, self.log)
        self._open[session] = writer
        writer.transport.max_size = LINE  # type: ignore[attr-defined] # bytes read at once; asyncio's choice is 256 KiB
        try:
            await self._converse(session, reader, writer)
        except asyncio.IncompleteReadError:
            pass  # the client has closed the connection
        except (TimeoutError, OSError, asyncio.CancelledError):
            writer.transport.abort()  # the client has gone or is too slow, or the server is closing
        finally:
            self._open.pop(session, None)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    async def _converse(
        self, session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the lines of a connection until it ends or has made `MISTAKES` mistakes."""
        loop = asyncio.get_running_loop()
        while not session.closing and session.mistakes < MISTAKES:
            try:
                text = (await self._line(reader)).decode("utf-8", "replace")
            except asyncio.LimitOverrunError:
                await self._send(writer, external.error_line(f"a line of more than {LINE} bytes"))
                return
            self._mark_active(session)
            if self._pool is None:
                answer = session.reply(text)
            else:
                answer = await loop.run_in_executor(self._pool, session.reply, text)
            self._mark_active(session)
            if not session.closing:
                await self._send(writer, answer)

    def _mark_active(self, session: Session) -> None:
        """Put a connection behind all others in the order in which they are closed."""
        if session in self._open:
            self._open[session] = self._open.pop(session)

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

    async def _send(self, writer: asyncio.StreamWriter, text: str) -> None:
        """Send one line; TimeoutError if the client does not read it."""
        writer.write(text.encode("utf-8", "replace") + b"\n")
        async with asyncio.timeout(SENDING):
            await writer.drain()
        await asyncio.sleep(0)  # let other connections proceed
