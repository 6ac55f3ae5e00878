"""Threads for work that would keep others waiting, shared by clients, and one exact calculation at a time.

There are three lanes of threads. A query first runs in the quick one, from tables only; if that does not answer it,
the whole query runs again in the lane of calculations, which has one thread. The parts of a bulk request leave one of
the quick threads free. So short work waits for short work only.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from enum import Enum
from typing import Any, TypeVar

from bgfmt.extras.serve.refusals import RETRY, Refusal
from bgfmt.storage import system

T = TypeVar("T")
Told = Callable[[str, float], None]
CLIENT: ContextVar[str] = ContextVar("client", default="127.0.0.1")  # whose question this is: an address
PATIENCE_SECONDS = 1.0  # seconds to wait for the one calculation under way
CALCULATION_SECONDS = 30  # seconds of calculation a minute for a client that is not on this machine


class Turn(Enum):
    """How to treat a query that needs a calculation: do it, put it off, or refuse it as busy."""

    CALCULATE = 0
    PUT_OFF = 1
    REFUSE = 2


TURN: ContextVar[Turn] = ContextVar("turn", default=Turn.CALCULATE)


def context_of(turn: Turn) -> Context:
    """Return a copy of the context in which queries treat a calculation that they need in this way."""
    context = copy_context()
    context.run(TURN.set, turn)
    return context


class NeedsCalculationError(Exception):
    """Raised under `Turn.PUT_OFF` by a query that tables alone do not answer."""


def is_loopback(address: str) -> bool:
    """Return whether an address is one of this machine; False for a text that is no address."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(address).is_loopback
    return False


def client_of(address: str) -> str:
    """Return the text by which the client of an address is counted: the address, for IPv6 its /64 network."""
    with contextlib.suppress(ValueError):
        number = ipaddress.ip_address(address)
        if number.version == 6 and not number.is_loopback:
            return str(ipaddress.ip_network((number, 64), strict=False).network_address)
    return address


class Lane:
    """Threads for one kind of work; a client has at most `share` of them, and waiting clients are served in order."""

    def __init__(self, threads: int, share: int) -> None:
        self.share = share
        self._threads = asyncio.Semaphore(threads)
        self._shares: dict[str, asyncio.Semaphore] = {}
        self._present: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def thread(self, client: str, patience: float | None) -> AsyncIterator[None]:
        """Return a context manager that waits for a thread of this kind and holds it for its duration.

        client : see `client_of`; it holds at most `share` threads. Raises TimeoutError if no thread is free within
        `patience` seconds (None: wait for ever), counted from when the client's share allows one.
        """
        self._present[client] += 1
        try:
            async with self._shares.setdefault(client, asyncio.Semaphore(self.share)):
                async with asyncio.timeout(patience):
                    await self._threads.acquire()
                try:
                    yield
                finally:
                    self._threads.release()
        finally:
            self._present[client] -= 1
            if not self._present[client]:
                del self._present[client]
                del self._shares[client]


class Workers:
    """Threads for work that takes more than about a millisecond.

    Parameters
    ----------
    share : maximum number of threads for the short work of a client; None for all but one.
    waiting : maximum number of further queries of a client; one more is refused as "busy".
    told : called with "busy" and 0 seconds for a calculation that found no thread.
    """

    def __init__(self, share: int | None, waiting: int, told: Told = lambda *_: None) -> None:
        threads = system.cores()
        self.share = share or max(1, threads - 1)
        self.waiting = waiting
        self.told = told
        self.quick = Lane(threads, self.share)
        self.bulk = Lane(max(1, threads - 1), self.share)
        self.calculations = Lane(1, 1)
        self._pool = ThreadPoolExecutor(2 * threads, thread_name_prefix="bgfmt")
        self.under_way: Counter[str] = Counter()  # the questions of each client, those that wait among them

    async def run(
        self,
        job: Callable[..., T],
        *arguments: Any,
        lane: Lane | None = None,
        patience: float | None = None,
        turn: Turn = Turn.CALCULATE,
    ) -> T:
        """Return the result of `job(*arguments)`, run in a thread.

        lane : the kind of work, `quick` by default. TimeoutError if no thread of that kind is free within `patience`
        seconds (None: wait for ever); Refusal "busy" if too many queries of this client wait.
        """
        client = CLIENT.get()
        if self.under_way[client] >= self.share + self.waiting:
            full = f"more than {self.waiting} queries of this client are waiting (--waiting)"
            raise Refusal("busy", full, headers=RETRY)
        self.under_way[client] += 1
        try:
            async with (lane or self.quick).thread(client, patience):
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, context_of(turn).run, job, *arguments)
        finally:
            self.under_way[client] -= 1
            if not self.under_way[client]:
                del self.under_way[client]

    async def answer(self, job: Callable[..., T], *arguments: Any) -> T:
        """Return the answer of a job that may calculate.

        If no thread is free for a calculation, the answer is from tables only.
        """
        with contextlib.suppress(NeedsCalculationError):
            return await self.run(job, *arguments, turn=Turn.PUT_OFF)
        with contextlib.suppress(TimeoutError):
            return await self.run(job, *arguments, lane=self.calculations, patience=PATIENCE_SECONDS)
        self.told("busy", 0.0)
        return await self.run(job, *arguments, turn=Turn.REFUSE)

    def at_once(self, job: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a job in the calling thread; NeedsCalculationError if it needs a calculation."""
        return context_of(Turn.PUT_OFF).run(job, *arguments)

    def close(self) -> None:
        """Stop the threads and cancel waiting jobs."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class CalculationTime:
    """Limits the time that each client's exact calculations take; `Workers` runs one of them at a time.

    Parameters
    ----------
    seconds : seconds of calculation a minute for one client; None for `CALCULATION_SECONDS`, without a limit for this
    machine. told : called with the outcome of each, "done", "busy" or "share" (used up), and its seconds.
    """

    def __init__(self, seconds: int | None = None, told: Told = lambda *_: None) -> None:
        self.seconds = seconds
        self.told = told
        #: of each client: until when what it has calculated takes up its minute
        self._taken: dict[str, float] = {}

    def spend(self, exact: Callable[[], T]) -> T:
        """Return the result of a calculation.

        Refusal "busy" if it cannot run now; NeedsCalculationError if it is put off, see `Turn`.
        """
        client = CLIENT.get()
        turn = TURN.get()
        if turn is Turn.REFUSE:
            raise Refusal("busy", "another calculation is running", headers=RETRY)
        if (wait := self._too_much(client)) > 0:
            self.told("share", 0.0)
            used = "the calculation time of this client is used up for now (--calculation)"
            raise Refusal("busy", used, headers=(("Retry-After", str(int(wait) + 1)),))
        if turn is Turn.PUT_OFF:
            raise NeedsCalculationError
        begun = time.monotonic()
        try:
            return exact()
        finally:
            now = time.monotonic()
            seconds = now - begun
            taken = max(self._taken.pop(client, 0.0), now)
            self._taken[client] = taken + seconds * 60 / (self.seconds or CALCULATION_SECONDS)
            while len(self._taken) > 10_000:
                del self._taken[next(iter(self._taken))]
            self.told("done", seconds)

    def _too_much(self, client: str) -> float:
        """Return the seconds until a client may calculate again."""
        if self.seconds is None and is_loopback(client):
            return 0.0
        return self._taken.get(client, 0.0) - 60 - time.monotonic()
