"""Work that would keep others waiting: in threads, which clients share, and one exact calculation at a time."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

from bgfmt.extras.serve.refusals import Refusal
from bgfmt.storage import system

T = TypeVar("T")
CLIENT: ContextVar[str] = ContextVar("client", default="127.0.0.1")  # whose question this is: an address
LONGEST = 0.15  # seconds that a question waits for what is compiled at the start
SPARE = 16  # threads beside those that work, for questions that were given up and still wait for the compiler
PATIENCE = 1.0  # seconds to wait for the one calculation under way
CALCULATION = 30  # seconds of calculation a minute for a client that is not on this machine
RETRY = (("Retry-After", "1"),)


@lru_cache(1000)
def client_of(address: str) -> str:
    """Whose address it is: one of IPv4, or a network of 64 bits of IPv6."""
    with contextlib.suppress(ValueError):
        number = ipaddress.ip_address(address)
        if number.version == 6 and not number.is_loopback:
            return str(ipaddress.ip_network((number, 64), strict=False).network_address)
    return address


class Workers:
    """Threads for work of more than a millisecond or so.

    Each free thread goes to the client that has waited longest for one, and a client has at most `share` of them
    (None: all but one). Beyond `waiting` questions of one client there is Refusal "busy"; while `compiling()` a
    question that takes longer than `LONGEST` is Refusal "compiling".
    """

    def __init__(self, share: int | None, waiting: int, compiling: Callable[[], bool]) -> None:
        self.threads = system.cores()
        self.share, self.waiting, self.compiling = share or max(1, self.threads - 1), waiting, compiling
        self._pool = ThreadPoolExecutor(self.threads + SPARE, thread_name_prefix="bgfmt")
        self._turns: dict[str, deque[asyncio.Future[None]]] = {}  # the client whose turn comes next first
        self._running: Counter[str] = Counter()

    @property
    def under_way(self) -> int:
        """How many pieces of work are under way."""
        return self._running.total()

    async def run(self, job: Callable[..., T], *arguments: Any) -> T:
        """The result of `job(*arguments)`, done in a thread."""
        client, loop = CLIENT.get(), asyncio.get_running_loop()
        turns = self._turns.setdefault(client, deque())
        if len(turns) >= self.waiting:
            full = f"more than {self.waiting} questions of yours are waiting (--waiting)"
            raise Refusal("busy", full, headers=RETRY)
        turn = loop.create_future()
        turns.append(turn)
        self._give_turns()
        try:
            await turn
            result = loop.run_in_executor(self._pool, copy_context().run, job, *arguments)
            if self.compiling():
                await asyncio.wait({result}, timeout=LONGEST)
                if not result.done() and self.compiling():
                    result.cancel()
                    raise compiling()
            return await result
        finally:
            if turn.done() and not turn.cancelled():
                self._running -= Counter([client])
            self._give_turns()

    def _give_turns(self) -> None:
        while self.under_way < self.threads:
            client = next((one for one in self._turns if self._running[one] < self.share), None)
            if client is None:
                return
            turns = self._turns.pop(client)
            turn = turns.popleft()
            if turns:
                self._turns[client] = turns  # behind all others
            if not turn.cancelled():
                self._running[client] += 1
                turn.set_result(None)

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def compiling() -> Refusal:
    """What answers is being compiled."""
    text = "what answers this is being compiled, for some seconds, once on this machine: ask again"
    return Refusal("compiling", text, headers=RETRY)


class OneAtATime:
    """The one exact calculation at a time.

    seconds : of calculation a minute for one client; None for `CALCULATION`, and for no limit on this machine.
    """

    def __init__(self, seconds: int | None = None) -> None:
        self.seconds = seconds
        #: of each client: seconds of calculation, and when that was
        self._spent: dict[str, tuple[float, float]] = {}
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
            raise compiling()
        if (wait := self._too_much(client)) > 0:
            retry = (("Retry-After", str(int(wait) + 1)),)
            used = "your share of calculation is used up for now (--calculation)"
            raise Refusal("busy", used, headers=retry)
        if not self._lock.acquire(timeout=PATIENCE):
            raise Refusal("busy", "another calculation is under way", headers=RETRY)
        begun = time.monotonic()
        try:
            return exact()
        finally:
            self._spend(client, time.monotonic() - begun)
            self._lock.release()

    def _too_much(self, client: str) -> float:
        """Seconds until a client may calculate again."""
        limit = self.seconds
        if limit is None:
            with contextlib.suppress(ValueError):
                limit = None if ipaddress.ip_address(client).is_loopback else CALCULATION
        if limit is None:
            return 0.0
        spent, then = self._spent.get(client, (0.0, 0.0))
        return (spent - limit) * 60 / limit - (time.monotonic() - then)

    def _spend(self, client: str, seconds: float) -> None:
        limit, now = self.seconds or CALCULATION, time.monotonic()
        spent, then = self._spent.pop(client, (0.0, now))
        self._spent[client] = max(0.0, spent - (now - then) * limit / 60) + seconds, now
        while len(self._spent) > 10_000:
            del self._spent[next(iter(self._spent))]
