"""Work that would keep others waiting: in threads, which clients share, and one exact calculation at a time."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from bgfmt.extras.serve.refusals import RETRY, Refusal
from bgfmt.storage import system

T = TypeVar("T")
Told = Callable[[str, float], None]
CLIENT: ContextVar[str] = ContextVar("client", default="127.0.0.1")  # whose question this is: an address
LONGEST = 0.15  # seconds that a question waits for what is compiled at the start
SPARE = 16  # threads beside those that work, for questions that were given up and still wait for the compiler
PATIENCE = 1.0  # seconds to wait for the one calculation under way
CALCULATION = 30  # seconds of calculation a minute for a client that is not on this machine


def client_of(address: str) -> str:
    """Whose address it is: one of IPv4, or a network of 64 bits of IPv6."""
    with contextlib.suppress(ValueError):
        number = ipaddress.ip_address(address)
        if number.version == 6 and not number.is_loopback:
            return str(ipaddress.ip_network((number, 64), strict=False).network_address)
    return address


class Workers:
    """Threads for work of more than a millisecond or so.

    A client has at most `share` of them (None: all but one), and of the questions that may have one each free thread
    goes to the one that has waited longest. Beyond `waiting` more questions of a client: Refusal "busy"; while
    `compiling()` a question that takes longer than `LONGEST` is Refusal "compiling".
    """

    def __init__(self, share: int | None, waiting: int, compiling: Callable[[], bool]) -> None:
        threads = system.cores()
        self.share, self.waiting, self.compiling = share or max(1, threads - 1), waiting, compiling
        self._pool = ThreadPoolExecutor(threads + SPARE, thread_name_prefix="bgfmt")
        self._threads = asyncio.Semaphore(threads)
        self._shares: dict[str, asyncio.Semaphore] = {}
        self.under_way: Counter[str] = Counter()  # the questions of each client, those that wait among them

    async def run(self, job: Callable[..., T], *arguments: Any) -> T:
        """The result of `job(*arguments)`, done in a thread."""
        client, loop = CLIENT.get(), asyncio.get_running_loop()
        if self.under_way[client] >= self.share + self.waiting:
            full = f"more than {self.waiting} questions of yours are waiting (--waiting)"
            raise Refusal("busy", full, headers=RETRY)
        self.under_way[client] += 1
        try:
            async with self._shares.setdefault(client, asyncio.Semaphore(self.share)), self._threads:
                result = loop.run_in_executor(self._pool, copy_context().run, job, *arguments)
                if self.compiling():
                    await asyncio.wait({result}, timeout=LONGEST)
                    if not result.done() and self.compiling():
                        result.cancel()
                        raise compiling()
                return await result
        finally:
            self.under_way[client] -= 1
            if not self.under_way[client]:
                del self.under_way[client], self._shares[client]

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def compiling() -> Refusal:
    """What answers is being compiled."""
    text = "what answers this is being compiled, for some seconds, once on this machine: ask again"
    return Refusal("compiling", text, headers=RETRY)


class OneAtATime:
    """The one exact calculation at a time.

    seconds : of calculation a minute for one client; None for `CALCULATION`, and for no limit on this machine. told :
    is told what becomes of each, "done", "busy", "share" (used up) or "compiling", and the seconds that it took.
    """

    def __init__(self, seconds: int | None = None, told: Told = lambda *_: None) -> None:
        self.seconds, self.told = seconds, told
        #: of each client: until when what it has calculated takes up its minute
        self._taken: dict[str, float] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._ready.set()

    def prepare(self, compiling: Callable[[], Any]) -> None:
        """Do this in a thread; until it is done there is no calculation."""
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

    def do(self, exact: Callable[[], T]) -> T:
        """The result of a calculation; Refusal "compiling" or "busy" where it cannot be done now."""
        client = CLIENT.get()
        if not self._ready.wait(LONGEST):
            self.told("compiling", 0.0)
            raise compiling()
        if (wait := self._too_much(client)) > 0:
            self.told("share", 0.0)
            used = "your share of calculation is used up for now (--calculation)"
            raise Refusal("busy", used, headers=(("Retry-After", str(int(wait) + 1)),))
        if not self._lock.acquire(timeout=PATIENCE):
            self.told("busy", 0.0)
            raise Refusal("busy", "another calculation is under way", headers=RETRY)
        begun = time.monotonic()
        try:
            return exact()
        finally:
            now = time.monotonic()
            seconds, taken = now - begun, max(self._taken.pop(client, 0.0), now)
            self._taken[client] = taken + seconds * 60 / (self.seconds or CALCULATION)
            while len(self._taken) > 10_000:
                del self._taken[next(iter(self._taken))]
            self.told("done", seconds)
            self._lock.release()

    def _too_much(self, client: str) -> float:
        """Seconds until a client may calculate again."""
        limit = self.seconds
        if limit is None:
            with contextlib.suppress(ValueError):
                limit = None if ipaddress.ip_address(client).is_loopback else CALCULATION
        return 0.0 if limit is None else self._taken.get(client, 0.0) - 60 - time.monotonic()
