"""Dask's workers, of this machine or where a scheduler is; see `bgfmt.extras.cluster.addresses`.

Dask is imported here only, when a cluster is asked for. A worker may end at any time: its tasks are done by others.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from bgfmt.errors import BgfmtError, ClusterError
from bgfmt.extras.cluster.addresses import LOCAL, plain, reach, workers_here
from bgfmt.solver.workers import ThreadWorkers, Waiting, Workers, none

VERSION: str = import_module("bgfmt").__version__
K = TypeVar("K")
R = TypeVar("R")
TRIES = 3  # to start a local cluster, and to do a task on whose workers too many ended
ANSWERING = 60  # seconds in which a scheduler has to answer
STARTING = 120  # seconds in which a first worker has to be there
COUNTING = 1.0  # seconds after which workers are counted again
GETTING = 20  # seconds in which the result of a finished task has to come
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.scheduler.work-stealing": True,
    "distributed.worker.daemon": True,
    "distributed.comm.timeouts.connect": "10s",
}


class DaskWorkers(Workers):
    """A client of a Dask cluster. `announce` is told where its dashboard is; `meanwhile` is called, and has to return
    soon, when workers of this machine are about to be started.

    Raises
    ------
    CapabilityError for an address of none; MissingExtraError without Dask; ClusterError where it does not answer.
    """

    def __init__(
        self,
        address: str,
        announce: Callable[[str], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        wanted = workers_here(address)
        forked = begin(address)
        distributed: Any = import_module("distributed")
        dask: Any = import_module("dask")
        self.address = address
        self._leaving: threading.Thread | None = None
        self._closing = contextlib.ExitStack()
        self._closing.enter_context(_quiet())
        self._closing.enter_context(dask.config.set(SETTINGS))
        if forked and hasattr(distributed.utils, "_forkserver_preload_set"):
            distributed.utils._forkserver_preload_set = (
                True  # else it imports in this process all that it may preload
            )
            self._closing.enter_context(
                dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
            )
        self._closing.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)  # mostly they get on
        try:
            self._wanted = wanted or 0
            if wanted and meanwhile is not None:
                meanwhile()
            with _undisturbed():
                self.local: Any = self._local(distributed, wanted) if wanted else None
            target = address if self.local is None else self.local
            if self.local is None:
                reach(address)
            self._client: Any = self._closing.enter_context(
                distributed.Client(target, timeout=ANSWERING, set_as_default=False)
            )
            try:
                self._client.wait_for_workers(1, timeout=STARTING)
            except TimeoutError:
                raise TimeoutError(f"no worker came in {STARTING} seconds") from None
            if self.local is None:
                self._installed()
            self._counted, self._seen = float("-inf"), time.monotonic()
            self._threads()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            self._close()
            raise ClusterError(address, f"no cluster: {plain(error)}") from None
        except BaseException:
            self._close()
            raise
        if announce is not None and self._client.dashboard_link and find_spec("bokeh"):
            announce(str(self._client.dashboard_link))

    def _local(self, distributed: Any, workers: int) -> Any:
        for left in reversed(range(TRIES)):
            try:
                return self._closing.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                        dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL,
                    )
                )  # fmt: skip
            except RuntimeError:  # a worker ended while it was started
                if not left:
                    raise
        raise AssertionError

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = none
    ) -> Iterator[R]:
        """No more tasks are given out than there are threads, so that none waits behind another on a busy worker."""
        distributed: Any = import_module("distributed")
        waiting = Waiting(keys, after)
        place = {key: at for at, key in enumerate(keys)}
        jobs: dict[Any, K] = {}
        tries: dict[K, int] = {}
        ended: SimpleQueue[Any] = SimpleQueue()

        def give(some: Iterable[K]) -> None:
            for key in some:
                job = self._client.submit(_call, VERSION, function, key, pure=False, priority=-place[key])
                jobs[job] = key
                job.add_done_callback(ended.put)

        def again(key: K, error: Exception) -> None:
            tries[key] = tries.get(key, 0) + 1
            if tries[key] > TRIES:
                raise error
            give([key])

        try:
            while True:
                give(waiting.take(self._threads() - len(jobs)))
                if not jobs:
                    return
                try:
                    job = ended.get(timeout=COUNTING)
                except Empty:
                    if self._client.status not in ("running", "connecting"):
                        raise ClusterError(self.address, "the cluster was lost") from None
                    continue
                key = jobs.pop(job)
                if job.status == "error":
                    error = job.exception()
                    if not isinstance(error, distributed.KilledWorker):
                        raise _told(self.address, error)
                    again(key, _told(self.address, error))
                    continue
                if job.status != "finished":
                    raise ClusterError(self.address, "the cluster was lost")
                waiting.done(key)
                give(waiting.take(self.workers - len(jobs)))  # before what takes a while, and a worker waits
                try:
                    result = job.result(timeout=GETTING)
                except TimeoutError as error:  # the worker ended that had the result
                    again(key, error)
                    continue
                yield result
        except (OSError, TimeoutError, distributed.CancelledError) as error:
            raise ClusterError(self.address, f"the cluster was lost ({plain(error)})") from None
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(jobs), force=True)

    def _installed(self) -> None:
        """RuntimeError where a worker has no bgfmt, if it is installed here: its first task would end the worker."""
        found = self._client.get_versions(packages=["bgfmt"])
        for worker, there in found["workers"].items():
            if not there["packages"].get("bgfmt") and found["client"]["packages"].get("bgfmt"):
                raise RuntimeError(f"the worker at {worker} has no bgfmt")

    def _threads(self) -> int:
        """Threads of all workers that are there now; TimeoutError when none has been there for long."""
        if time.monotonic() - self._counted > COUNTING:
            self._mend()
            threads: dict[str, int] = self._client.nthreads()
            self.workers = max(1, sum(threads.values()))
            self._counted = time.monotonic()
            if threads:
                self._seen = self._counted
            elif self._counted - self._seen > STARTING:
                raise TimeoutError(f"no worker has been there for {STARTING} seconds")
        return self.workers

    def _mend(self) -> None:
        """Start workers in place of those of this machine that ended for good: whose process ended as it began."""
        local = self.local
        if local is None:
            return

        def forget() -> None:
            for name, nanny in list(local.workers.items()):
                if nanny.status.name in ("closed", "failed"):
                    del local.workers[name]

        local.loop.add_callback(forget)
        local.scale(self._wanted)

    def prepare(self, function: Callable[[], object]) -> None:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):  # tasks do it where it fails
            self._client.run(function, on_error="ignore")

    def leave(self) -> None:
        """Closes in a thread of its own, which takes a second; `__exit__` waits for it."""
        if self._leaving is None:
            self._leaving = threading.Thread(target=self._close, name="closing a cluster")
            self._leaving.start()

    def __enter__(self) -> DaskWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        if self._leaving is not None:
            self._leaving.join()

    def _close(self) -> None:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._closing.close()


def begin(address: str) -> bool:
    """Start the process that workers of this machine are forked from, if any are to be; whether it could be.

    It imports once what each worker would, beside this process's own imports: call it before they are done.
    """
    if not LOCAL.fullmatch(address) or "forkserver" not in multiprocessing.get_all_start_methods():
        return False
    from multiprocessing import forkserver, resource_tracker

    if find_spec("distributed") is None:
        return False
    forkserver.set_forkserver_preload(["bgfmt.solver.ready"])
    resource_tracker.ensure_running()  # else it would be started below, and let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # they are for this process to handle
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return True


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """An interrupt comes at the end: workers half started would tell of it, at length and each for itself.

    Where interrupts are ignored, as by what a shell started in the background, they still are.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask tells nothing of its own: what ends here is said by an error, and what ends there is done again."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def workers_of(
    cluster: str | None,
    threads: int,
    announce: Callable[[str], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> contextlib.AbstractContextManager[Workers]:
    """The workers of a cluster, or a number of threads; see `DaskWorkers`."""
    if cluster is None:
        return ThreadWorkers(threads)
    return DaskWorkers(cluster, announce, meanwhile)


def _call(version: str, function: Callable[[Any], Any], key: Any) -> Any:
    """On a worker: the task; what goes wrong is told in words, since not every error pickles."""
    if version != VERSION:
        raise RuntimeError(f"a worker has bgfmt {VERSION}, not {version}")
    try:
        return function(key)
    except (OSError, MemoryError) as error:
        raise RuntimeError(plain(error)) from None


def _told(address: str, error: Exception) -> BgfmtError:
    return error if isinstance(error, BgfmtError) else ClusterError(address, plain(error))
