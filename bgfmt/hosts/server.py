"""The line server behind `bgfmt gnubg-external`: one thread, many connections, nothing a stranger sends can stop it.

One answer, one line, for every question; no greeting and no prompt, since gnubg throws away whatever follows the
first line it reads. One thread, because answering is a table look-up and because a second engine may insist on the
main thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bgfmt.errors import BgfmtError
from bgfmt.game.board import Position, Side
from bgfmt.hosts import external
from bgfmt.hosts.external import Question
from bgfmt.hosts.player import Decision, Player

VERSION = "Interface: 2\nRFBF: 0\nEngine: bgfmt\nSoftware: bgfmt"


@dataclass(frozen=True)
class Limits:
    """What a connection may do.

    connections : at most so many at once; a newcomer takes the place of the one silent longest that never asked.
    idle : seconds of silence after which one that did ask may lose its place, too.
    line : bytes of a line; the connection is closed after a longer one.
    unfinished : seconds a begun line may take.
    sending : seconds an answer may wait for a client that does not read.
    mistakes : lines that are no questions before the connection is closed.
    """

    connections: int = 64
    idle: float = 600.0
    line: int = 4096
    unfinished: float = 10.0
    sending: float = 10.0
    mistakes: int = 20


@dataclass
class Session:
    """One client's conversation: what was asked before, as far as it matters."""

    player: Player
    log: Callable[[str], None] | None = None
    mistakes: int = 0
    asked: int = 0
    closing: bool = False
    cube_in_use: bool = True
    _offered: Position | None = None  # the last position in which we were asked whether to double
    _left: Side | None = None  # our own side after our last play

    def reply(self, line: str) -> str:
        """The answer to one line, without its line feed."""
        text = line.replace("\0", "").strip()
        if not text.startswith("board:"):
            return self._command(text)
        try:
            question = external.parse_question(text)
            self._watch_cube(question)
            decision = self.player.answer(question, cube_in_use=self.cube_in_use)
        except BgfmtError as error:
            return self._mistake(str(error))
        except Exception as error:  # an answer must come: gnubg waits for one line
            return self._mistake(f"{type(error).__name__}: {error}")
        self.asked += 1
        self._remember(question, decision)
        if self.log is not None:
            self.log(
                f"{question.position} {question.kind} {question.dice}: {decision.text} ({decision.source})"
            )
        return decision.text

    def _watch_cube(self, question: Question) -> None:
        """Notice that no cube is in use, which gnubg's line does not say.

        gnubg asks "roll or double?" before every roll at which a double is legal. When the very position we left
        behind comes back with the dice thrown and that question was skipped, there is no cube.
        """
        if question.kind in ("cube", "take"):
            self.cube_in_use = True
            return
        if question.kind != "play" or question.length or not question.may_double[0]:
            return
        if self._offered == question.position:
            self.cube_in_use = True
        elif self._left is not None and question.position.us == self._left:
            self.cube_in_use = False

    def _remember(self, question: Question, decision: Decision) -> None:
        if question.kind == "cube":
            self._offered = question.position
        elif question.kind == "play":
            self._offered = None
            self._left = decision.left if question.may_double[0] else None

    def _command(self, text: str) -> str:
        word = text.lower().split(" ", 1)[0]
        if word == "version":
            return VERSION
        if word == "help":
            return "one line of gnubg's external player protocol, one answer"
        if word in ("exit", "quit"):
            self.closing = True
            return ""
        if word == "set":
            return "not supported"
        return self._mistake("expected a line that starts with board:")

    def _mistake(self, message: str) -> str:
        self.mistakes += 1
        if self.log is not None:
            self.log(f"refused: {message}")
        return external.error_line(message)


@dataclass(eq=False)
class _Connection:
    session: Session
    writer: asyncio.StreamWriter
    last: float = field(default_factory=time.monotonic)


class Server:
    """Listens on one address and answers. Use `run` in the main thread or `running` beside other work."""

    def __init__(
        self,
        player: Player,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        limits: Limits | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self.player, self.host, self.port = player, host, port
        self.limits, self.log = limits or Limits(), log
        self._open: set[_Connection] = set()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, ready: Callable[[int], None] | None = None, *, signals: bool = False) -> None:
        """Serve until `stop`; `ready` is called with the port once connections are taken."""
        self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
        if signals:
            for name in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(
                    NotImplementedError
                ):  # not every system has signal handlers in loops
                    self._loop.add_signal_handler(name, self._stop.set)
        server = await asyncio.start_server(self._serve_one, self.host, self.port, limit=1 << 16)
        self.port = server.sockets[0].getsockname()[1]
        if ready is not None:
            ready(self.port)
        try:
            await self._stop.wait()
        finally:
            server.close()
            for connection in list(self._open):
                connection.writer.transport.abort()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(server.wait_closed(), 2)
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def run(self, ready: Callable[[int], None] | None = None) -> None:
        """Serve in this thread until interrupted or terminated."""
        asyncio.run(self.serve(ready, signals=True))

    def stop(self) -> None:
        """End `serve`, from any thread."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._stop.set)

    @contextlib.contextmanager
    def running(self) -> Iterator[int]:
        """Serve in a thread of its own while the block runs; gives the port."""
        started = threading.Event()
        thread = threading.Thread(
            target=lambda: asyncio.run(self.serve(lambda _: started.set())), daemon=True
        )
        thread.start()
        if not started.wait(10):
            raise OSError(f"cannot listen on {self.host}:{self.port}")
        try:
            yield self.port
        finally:
            self.stop()
            thread.join(10)

    # -- one connection ----------------------------------------------------------------------------------

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._room():
            writer.transport.abort()
            return
        connection = _Connection(Session(self.player, self.log), writer)
        self._open.add(connection)
        try:
            _keep_alive(writer)
            await self._converse(connection, reader)
        except (TimeoutError, OSError, asyncio.CancelledError):
            pass  # gone, too slow, or we are closing: in each case there is nobody to tell
        finally:
            self._open.discard(connection)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    def _room(self) -> bool:
        if len(self._open) < self.limits.connections:
            return True
        late = time.monotonic() - self.limits.idle
        silent = [c for c in self._open if not c.session.asked or c.last < late]
        if not silent:
            return False
        oldest = min(silent, key=lambda c: c.last)
        self._open.discard(oldest)
        oldest.writer.transport.abort()
        return True

    async def _converse(self, connection: _Connection, reader: asyncio.StreamReader) -> None:
        limits, session, buffer, begun = self.limits, connection.session, b"", 0.0
        while not session.closing:
            if buffer:
                left = limits.unfinished - (time.monotonic() - begun)
                data = await asyncio.wait_for(reader.read(1 << 16), max(left, 0.001))
            else:
                data = await reader.read(1 << 16)
            if not data:
                return
            if not buffer:
                begun = time.monotonic()
            connection.last = time.monotonic()
            *lines, buffer = (buffer + data).split(b"\n")
            buffer = buffer.lstrip(b"\0")
            for line in lines:
                if len(line) > limits.line:
                    await self._send(
                        connection, external.error_line(f"a line of more than {limits.line} bytes")
                    )
                    return
                await self._send(connection, session.reply(line.decode("utf-8", "replace")))
                if session.closing or session.mistakes >= limits.mistakes:
                    return
            if len(buffer) > limits.line:
                await self._send(connection, external.error_line(f"a line of more than {limits.line} bytes"))
                return

    async def _send(self, connection: _Connection, text: str) -> None:
        if connection.session.closing:
            return
        connection.writer.write(text.encode("utf-8", "replace") + b"\n")
        await asyncio.wait_for(connection.writer.drain(), self.limits.sending)
        await asyncio.sleep(0)  # let the others have their turn between two answers


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let the system notice a peer that has vanished without a word."""
    sock = writer.get_extra_info("socket")
    if sock is None:
        return
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
