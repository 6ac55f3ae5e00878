"""Work that would keep others waiting: in threads, one a core, the queue bounded."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bgfmt.extras.serve.refusals import Refusal
from bgfmt.storage import system

T = TypeVar("T")
WAITING = 64  # pieces of work that may wait for a thread
COMPILING = 60.0  # seconds to wait for what is compiled at the start
PATIENCE = 1.0  # seconds to wait for the one calculation under way


class Workers:
    """Threads for work of more than a millisecond or so; Refusal "busy" beyond the queue."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or system.cores()
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="bgfmt")
        self.under_way = 0

    async def run(self, job: Callable[..., T], *arguments: Any) -> T:
        """The result of `job(*arguments)`, done in a thread."""
        if self.under_way >= self.threads + WAITING:
            raise Refusal(
                "busy", f"more than {WAITING} questions are waiting", headers=(("Retry-After", "1"),)
            )
        self.under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, job, *arguments)
        finally:
            self.under_way -= 1

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class OneAtATime:
    """The one exact calculation at a time; a question that would wait longer goes without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._ready.set()

    def prepare(self, compiling: Callable[[], Any]) -> None:
        """Do this in a thread; until it is done, calculations wait for it, as they would for their own compiling."""
        self._ready.clear()

        def run() -> None:
            with contextlib.suppress(Exception):
                compiling()
            self._ready.set()

        threading.Thread(target=run, daemon=True).start()

    @property
    def preparing(self) -> bool:
        """Whether the thread of `prepare` is still at work."""
        return not self._ready.is_set()

    @property
    def busy(self) -> bool:
        """Whether one is under way."""
        return self._lock.locked()

    def do(self, exact: Callable[[], T], otherwise: Callable[[], T]) -> tuple[T, bool]:
        """(answer, whether it is the exact one)."""
        self._ready.wait(COMPILING)
        if not self._lock.acquire(timeout=PATIENCE):
            return otherwise(), False
        try:
            return exact(), True
        finally:
            self._lock.release()
