"""Dask's workers at an address: ``local:N``, N processes of this machine, or a scheduler's, ``tcp://host:8786``.

Dask is imported here only, when a cluster is asked for. A worker may end at any time: its tasks are done by others.
"""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

from bgfmt.errors import BgfmtError, CapabilityError, ClusterError, extra, install_hint
from bgfmt.solver.workers import Workers

VERSION: str = import_module("bgfmt").__version__
K = TypeVar("K")
R = TypeVar("R")
LOCAL = re.compile(r"local:([1-9]\d{0,3})")
REMOTE = re.compile(r"(tcp|tls|ws|wss|ucx)://([^\s/]+):(\d{1,5})")
TRIES = 3  # to start a local cluster
LISTENING = 10  # seconds in which somebody has to listen at the address of a scheduler
ANSWERING = 60  # seconds in which a scheduler has to answer
STARTING = 120  # seconds in which a first worker has to be there
COUNTING = 1.0  # seconds after which workers are counted again
MOST_GREETING = 1 << 20  # bytes; a scheduler says first how long its greeting is, in 8 bytes
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.scheduler.work-stealing": True,
    "distributed.worker.daemon": True,
    "distributed.comm.timeouts.connect": "10s",
}


class DaskWorkers(Workers):
    """A client of a Dask cluster; the door `bgfmt.workers`.

    announce : called with the address of its dashboard, or with what one needs.

    CapabilityError for the address of no cluster; MissingExtraError without Dask; ClusterError where none answers.
    """

    def __init__(self, address: str, announce: Callable[[str], None] | None = None) -> None:
        self._wanted = self.count(address) or 0
        how = "a cluster needs Dask", install_hint("cluster")
        distributed = extra("distributed", *how)
        dask = extra("dask", *how)
        self.address = address
        self._closing = contextlib.ExitStack()
        self._closing.enter_context(_quiet())
        self._closing.enter_context(dask.config.set(SETTINGS))
        self._closing.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)  # mostly they get on
        self.local: Any = None
        try:
            if self._wanted:
                with _interrupts_later():
                    self.local = self._local_cluster(distributed)
            else:
                _reach(address)
            self._client: Any = self._closing.enter_context(
                distributed.Client(self.local or address, timeout=ANSWERING, set_as_default=False)
            )
            try:
                self._client.wait_for_workers(1, timeout=STARTING)
            except TimeoutError:
                raise TimeoutError(f"no worker came in {STARTING} seconds") from None
            if self.local is None:
                self._check_installed()
            self._counted = float("-inf")
            self._seen = time.monotonic()
            self._threads()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            self.__exit__()
            raise ClusterError(address, f"no cluster: {_plain(error)}") from None
        except BaseException:
            self.__exit__()
            raise
        if announce is not None:
            lacks = self.local is not None and find_spec("bokeh") is None
            link = "none, since bokeh is missing: pip install bokeh" if lacks else self._client.dashboard_link
            announce(str(link or "none at this scheduler"))

    @staticmethod
    def count(address: str) -> int | None:
        """How many workers of this machine an address asks for, None where they are elsewhere.

        CapabilityError for the address of no cluster.
        """
        local = LOCAL.fullmatch(address)
        if local is None and not REMOTE.fullmatch(address):
            raise CapabilityError(
                f"{address!r}: a cluster is local:N or the address of a scheduler, tcp://host:port"
            )
        return int(local[1]) if local else None

    def _local_cluster(self, distributed: Any) -> Any:
        for left in reversed(range(TRIES)):
            try:
                return self._closing.enter_context(
                    distributed.LocalCluster(
                        n_workers=self._wanted, threads_per_worker=1, processes=True, host="127.0.0.1",
                        dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL,
                    )
                )  # fmt: skip
            except RuntimeError:  # a worker ended while it was started
                if not left:
                    raise
        raise AssertionError

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = lambda _: ()
    ) -> Iterator[R]:
        """All tasks are given out at once, each behind those that it waits for, so that the dashboard counts them."""
        distributed: Any = import_module("distributed")
        ended: SimpleQueue[Any] = SimpleQueue()
        jobs: dict[Any, Any] = {}
        name = getattr(function, "__name__", "task")
        solve = uuid4().hex
        try:
            for place, key in enumerate(keys):
                before = [jobs[k] for k in after(key) if k in jobs]
                jobs[key] = self._client.submit(
                    _call, VERSION, function, key, before, key=f"{name}-{solve}-{place}", priority=-place
                )
                jobs[key].add_done_callback(ended.put)
            for _ in keys:
                yield self._result(self._next(ended))
        except (OSError, TimeoutError, distributed.CancelledError) as error:
            raise ClusterError(self.address, f"the cluster was lost ({_plain(error)})") from None
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(jobs.values()), force=True)

    def _next(self, ended: SimpleQueue[Any]) -> Any:
        """The next task that ends; TimeoutError or ClusterError where nobody is left to do any."""
        while True:
            try:
                return ended.get(timeout=COUNTING)
            except Empty:
                self._threads()
                if self._client.status not in ("running", "connecting"):
                    raise ClusterError(self.address, "the cluster was lost") from None

    def _result(self, job: Any) -> Any:
        """What a task gave; the error that ended it, in one line."""
        if job.status == "error":
            error = job.exception()
            raise error if isinstance(error, BgfmtError) else ClusterError(self.address, _plain(error))
        if job.status == "cancelled":
            raise ClusterError(self.address, "the cluster was lost")
        # a worker that ended with it is replaced by one that makes it again
        return job.result(timeout=STARTING)

    def _check_installed(self) -> None:
        """RuntimeError where a worker has no bgfmt, if it is installed here: its first task would end the worker."""
        versions = self._client.get_versions(packages=["bgfmt"])
        for worker, facts in versions["workers"].items():
            if not facts["packages"].get("bgfmt") and versions["client"]["packages"].get("bgfmt"):
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
        """Start workers in place of those of this machine whose process ended as it began."""
        local = self.local
        if local is None:
            return

        def forget() -> None:
            for name, nanny in list(local.workers.items()):
                if nanny.status.name in ("closed", "failed"):
                    del local.workers[name]

        local.loop.add_callback(forget)
        local.scale(self._wanted)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._closing.close()


def _reach(address: str) -> None:
    """OSError unless a Dask scheduler listens at an address.

    Dask itself looks up an unknown name again and again, and waits for ever for a greeting that does not come.
    """
    match = REMOTE.fullmatch(address)
    if match is None or match[1] not in ("tcp", "tls"):
        return
    host = match[2].strip("[]")
    port = int(match[3])
    until = time.monotonic() + LISTENING
    while True:
        try:
            connection = socket.create_connection((host, port), LISTENING)
            break
        except (socket.gaierror, OverflowError) as error:
            raise OSError(_plain(error)) from None
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    with connection:
        if match[1] == "tls":  # its greeting is enciphered
            return
        connection.settimeout(LISTENING)
        greeting = b""
        with contextlib.suppress(TimeoutError):
            greeting = connection.recv(8)
        if not 0 < int.from_bytes(greeting, "little") < MOST_GREETING:
            raise OSError("what listens there is no Dask scheduler")


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Block interrupts: this process hears them afterwards, threads and processes begun meanwhile never do."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it later would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's own messages: the error says what ends here, and what ends there is done again."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def _plain(error: BaseException) -> str:
    """The text of an error, in one line."""
    text = (isinstance(error, OSError) and not error.filename and error.strerror) or str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def _call(version: str, function: Callable[[Any], Any], key: Any, _before: list[Any]) -> Any:
    """On a worker: the task, once those before it are done. Errors become text, since not every error pickles."""
    if version != VERSION:
        raise RuntimeError(f"a worker has bgfmt {VERSION}, not {version}")
    try:
        return function(key)
    except (OSError, MemoryError) as error:
        raise RuntimeError(_plain(error)) from None
