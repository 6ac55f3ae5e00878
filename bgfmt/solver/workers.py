"""Who does the tasks of a long piece of work: threads of this process, or the workers of a cluster.

A task is a function called with a key. Tasks may wait for others; a task may be done more than once, so that what it
leaves behind must be the same each time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, Protocol, TypeVar

K = TypeVar("K")
R = TypeVar("R")


def none(_: Any) -> tuple[Any, ...]:
    """Tasks that wait for no other."""
    return ()


class Workers(Protocol):
    """Does tasks. A context manager."""

    #: how many tasks are done at once
    workers: int

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = none
    ) -> Iterator[R]:
        """The results of all tasks as they are done; none begins before those that `after` names are done.

        Keys stand behind those that they wait for.
        """
        ...

    def prepare(self, function: Callable[[], object]) -> None:
        """Have each worker that is there do this before its tasks, at once: what each would do at its first."""
        ...

    def leave(self) -> None:
        """No more tasks come: the workers may begin to go."""
        ...

    def __enter__(self) -> Workers: ...
    def __exit__(self, *_: object) -> None: ...


class Waiting(Generic[K]):
    """Tasks that are left, and which of them wait for none; the first keys come first."""

    def __init__(self, keys: Sequence[K], after: Callable[[K], Iterable[K]]) -> None:
        self._keys = keys
        self._place = {key: place for place, key in enumerate(keys)}
        self._open: dict[K, int] = {}
        self._behind: dict[K, list[K]] = {}
        self._ready: list[int] = []
        for place, key in enumerate(keys):
            before = [k for k in after(key) if k in self._place]
            for k in before:
                self._behind.setdefault(k, []).append(key)
            self._open[key] = len(before)
            if not before:
                heapq.heappush(self._ready, place)

    def take(self, most: int) -> list[K]:
        """Tasks that can be done now, `most` at most."""
        return [self._keys[heapq.heappop(self._ready)] for _ in range(min(most, len(self._ready)))]

    def done(self, key: K) -> None:
        """A task is done, and those that waited for it alone can be."""
        for waiting in self._behind.pop(key, ()):
            self._open[waiting] -= 1
            if not self._open[waiting]:
                heapq.heappush(self._ready, self._place[waiting])


class ThreadWorkers(Workers):
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers)

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = none
    ) -> Iterator[R]:
        waiting = Waiting(keys, after)
        running: dict[Future[R], K] = {}
        try:
            while True:
                for key in waiting.take(self.workers - len(running)):
                    running[self._pool.submit(function, key)] = key
                if not running:
                    return
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for job in ended:
                    result = job.result()
                    waiting.done(running.pop(job))
                    yield result
        finally:
            for job in running:
                job.cancel()
            wait(running)

    def prepare(self, function: Callable[[], object]) -> None:
        """Nothing: threads share what the first of them does."""

    def leave(self) -> None:
        """Nothing: threads go at once."""

    def __enter__(self) -> ThreadWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
