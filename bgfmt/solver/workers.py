"""Workers that run the tasks of a long computation: threads of this process, or processes of a cluster.

A task is a function called with a key. Tasks may wait for others; a task may run more than once, so its effect must
be the same each time. The core knows only this interface. Extras register workers as entry points `bgfmt.workers`
(named by the scheme of an address, such as ``local`` of ``local:4``), and kernels of devices as `bgfmt.devices`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self, TypeVar

from bgfmt.errors import CapabilityError
from bgfmt.solver.machine import thread_count
from bgfmt.tables.registry import entry_points

__all__ = ["ThreadWorkers", "Workers", "device_class", "open_workers", "threads_or_workers", "workers_class"]


K = TypeVar("K")
R = TypeVar("R")


class Workers(Protocol):
    """Interface of workers; a context manager."""

    #: number of tasks that run at once
    workers: int
    #: True if tasks run in the memory of this process
    threads: bool = False

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = lambda _: ()
    ) -> Iterator[R]:
        """Call `function(key)` for all keys; yield the results in the order in which the calls finish.

        after : returns the keys whose calls must be finished before that of a key; these come earlier in `keys`.
        """
        ...

    def do(self, function: Callable[[K], object], keys: Sequence[K]) -> None:
        """Call `function(key)` for all keys, in any order, and discard the results."""
        for _ in self.run(function, keys):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class ThreadWorkers(Workers):
    """Threads of this process; a single worker is the calling thread itself."""

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
        """Call `function(key)` for all keys, in their order, and discard the results.

        This is faster than `run` for many short calls.
        """
        each: Any = map if self._pool is None or len(keys) == 1 else self._pool.map
        for _ in each(function, keys):
            pass

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def threads_or_workers(workers: Workers | None, threads: int | None) -> AbstractContextManager[Workers]:
    """Return a context manager of the given workers, which stay open, or else of new threads.

    threads : number of threads, one for each core if None.

    Raises CapabilityError for workers that do not share the memory of this process.
    """
    if workers is None:
        return ThreadWorkers(thread_count(threads))
    if not workers.threads:
        raise CapabilityError("tables of this kind cannot be solved on a cluster")
    return nullcontext(workers)


def open_workers(
    address: str, announce: Callable[[str], None] | None = None
) -> AbstractContextManager[Workers]:
    """Return a context manager of the workers at an address.

    address : ``local:N``, N processes on this machine, or ``tcp://host:port``, a scheduler. announce : called with
    the address of the cluster's dashboard, if it has one.

    Raises CapabilityError for an unknown kind of address, MissingExtraError, and ClusterError if nothing answers.
    """
    return workers_class(address)(address, announce)  # type: ignore[no-any-return]


def workers_class(address: str) -> Any:
    """Return the class of workers for an address such as ``local:4`` or ``tcp://host:port``.

    Its ``count(address)`` is the number of workers on this machine. CapabilityError for an unknown kind of address.
    """
    what = f"{address!r}: a cluster is local:N or the address of a scheduler, tcp://host:port"
    return _load_entry_point("bgfmt.workers", address.partition(":")[0], what)


def device_class(name: str) -> Any:
    """Return the class that computes parts of a two-sided table on a device such as "cuda".

    Devices are entry points of the group `bgfmt.devices`. Its ``tiles_at_once(threads)`` is how many parts (tiles)
    are solved at a time.

    Raises CapabilityError for an unknown device.
    """
    return _load_entry_point("bgfmt.devices", name, f"no device {name!r}")


def _load_entry_point(group: str, name: str, refusal: str) -> Any:
    point = entry_points(group).get(name)
    if point is None or not point.is_installed():
        raise CapabilityError(refusal)
    return point.load()
