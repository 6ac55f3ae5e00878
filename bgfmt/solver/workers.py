"""Who does the tasks of a long piece of work: threads of this process, or the workers of a cluster.

A task is a function called with a key. Tasks may wait for others; a task may be done more than once, so what it
leaves behind must be the same each time. The core knows this interface only. Extras bring workers by the
entry-point group `bgfmt.workers` (an entry is named by the scheme of an address, such as ``local`` of ``local:4``),
and kernels of devices by `bgfmt.devices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self, TypeVar

from bgfmt.errors import CapabilityError
from bgfmt.solver.machine import thread_count
from bgfmt.tables.registry import entry_points

K = TypeVar("K")
R = TypeVar("R")


class Workers(Protocol):
    """Does tasks. A context manager."""

    #: how many tasks are done at once
    workers: int
    #: whether tasks are done in the memory of this process
    threads: bool = False

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = lambda _: ()
    ) -> Iterator[R]:
        """The results of all tasks as they are done; no task begins before those that `after` names are done.

        Keys stand behind those that they wait for.
        """
        ...

    def do(self, function: Callable[[K], object], keys: Sequence[K]) -> None:
        """Do all tasks, in any order, for what they leave behind."""
        for _ in self.run(function, keys):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class ThreadWorkers(Workers):
    """Threads of this process; one worker is the calling thread itself."""

    threads = True

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = lambda _: ()
    ) -> Iterator[R]:
        if self._pool is None or len(keys) == 1:
            yield from map(function, keys)
            return
        jobs: dict[K, Future[R]] = {}

        def task(key: K) -> R:
            for before in after(key):
                if before in jobs:
                    jobs[before].result()  # begun earlier: keys stand behind those that they wait for
            return function(key)

        try:
            for key in keys:
                jobs[key] = self._pool.submit(task, key)
            for job in as_completed(jobs.values()):
                yield job.result()
        finally:
            wait([job for job in jobs.values() if not job.cancel()])

    def do(self, function: Callable[[K], object], keys: Sequence[K]) -> None:
        """As `Workers.do`, in the order of the keys, which is quicker where tasks are many and short."""
        each: Any = map if self._pool is None or len(keys) == 1 else self._pool.map
        for _ in each(function, keys):
            pass

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def threads_or(workers: Workers | None, threads: int | None) -> AbstractContextManager[Workers]:
    """The workers given, which stay open, or this many threads (one a core when None).

    CapabilityError for workers that do not share the memory of this process.
    """
    if workers is None:
        return ThreadWorkers(thread_count(threads))
    if not workers.threads:
        raise CapabilityError("tables of this kind are made by threads of this process, not by a cluster")
    return nullcontext(workers)


def workers_at(
    address: str, announce: Callable[[str], None] | None = None
) -> AbstractContextManager[Workers]:
    """The workers at an address: ``local:N``, N processes of this machine, or ``tcp://host:port``, a scheduler.

    announce : called with the address of the cluster's dashboard, if it has one.

    CapabilityError for an address that no extra knows; MissingExtraError; ClusterError where nothing answers.
    """
    return workers_for(address)(address, announce)  # type: ignore[no-any-return]


def workers_for(address: str) -> Any:
    """The class of workers at such an address; ``count(address)`` is how many of this machine it asks for.

    CapabilityError for an address that no extra knows.
    """
    what = f"{address!r}: a cluster is local:N or the address of a scheduler, tcp://host:port"
    return _brought("bgfmt.workers", address.partition(":")[0], what)


def device_named(name: str) -> Any:
    """The class of `bgfmt.solver.stored.Hands` that runs the kernels of tiles on a device, with `tiles_at_once`.

    CapabilityError for a device that no extra knows.
    """
    return _brought("bgfmt.devices", name, f"no device is called {name!r}")


def _brought(group: str, name: str, refusal: str) -> Any:
    door = entry_points(group).get(name)
    if door is None:
        raise CapabilityError(refusal)
    return door.load()
