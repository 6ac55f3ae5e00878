"""Who does the tasks of a long piece of work: threads of this process, or the workers of a cluster.

A task is a function called with a key. Tasks may wait for others; a task may be done more than once, so that what it
leaves behind must be the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

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

    def __enter__(self) -> Workers: ...
    def __exit__(self, *_: object) -> None: ...


class ThreadWorkers(Workers):
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers)

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = none
    ) -> Iterator[R]:
        left: list[K] = list(keys)
        done: set[K] = set()
        running: dict[Future[R], K] = {}
        try:
            while left or running:
                for key in [k for k in left if done.issuperset(after(k))][: self.workers - len(running)]:
                    left.remove(key)
                    running[self._pool.submit(function, key)] = key
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for job in ended:
                    result = job.result()
                    done.add(running.pop(job))
                    yield result
        finally:
            for job in running:
                job.cancel()
            wait(running)

    def __enter__(self) -> ThreadWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
