"""The line server of gnubg's external player beside the test that asks it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future

from bgfmt.extras.hosts.server import Server

STARTING = 60.0  # seconds that a loaded machine may take to start a thread that listens


@contextlib.contextmanager
def running(server: Server) -> Iterator[int]:
    """The port of a server that serves in a thread of its own while the block runs."""
    started: Future[int] = Future()
    loop = asyncio.new_event_loop()
    task = loop.create_task(server.serve(started.set_result))

    def serve() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield started.result(STARTING)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
