"""Dask workers at an address: ``local:N``, N processes of this machine, or a scheduler such as ``tcp://host:8786``.

Dask is imported only when a cluster is used. A worker may exit at any time: others repeat its tasks.
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
START_ATTEMPTS = 3  # attempts to start a local cluster
LISTEN_SECONDS = 10  # in which a server must listen at the address of a scheduler
ANSWER_SECONDS = 60  # in which a scheduler must answer
START_SECONDS = 120  # in which a first worker must connect
COUNT_SECONDS = 1.0  # after which workers are counted again
MAX_GREETING_BYTES = 1 << 20  # a scheduler first sends the length of its greeting in 8 bytes
LOGGERS = ("distributed", "distributed.client")  # those to which Dask gives a level of their own
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.scheduler.work-stealing": True,
    "distributed.worker.daemon": True,
    "distributed.comm.timeouts.connect": "10s",
}


class DaskWorkers(Workers):
    """A client of a Dask cluster; an entry point of `bgfmt.workers`.

    announce : called with the address of the cluster's dashboard, or with what is missing for one.

    CapabilityError if the address is not one of a cluster; MissingExtraError without Dask; ClusterError if no cluster
    answers.
    """

    def __init__(self, address: str, announce: Callable[[str], None] | None = None) -> None:
        self._wanted = self.count(address) or 0
        how = "a cluster needs Dask", install_hint("cluster")
        distributed = extra("distributed", *how)
        dask = extra("dask", *how)
        self.address = address
        self._closing = contextlib.ExitStack()
        for name in LOGGERS:  # errors are reported by exceptions or by a repetition of the task
            logger = logging.getLogger(name)
            self._closing.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL + 1)
        self._closing.enter_context(dask.config.set(SETTINGS))
        self._closing.enter_context(warnings.catch_warnings())
        # other versions usually work
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
        self.local: Any = None
        try:
            if self._wanted:
                with _block_interrupts():
                    self.local = self._local_cluster(distributed)
            else:
                _check_scheduler(address)
            self._client: Any = self._closing.enter_context(
                distributed.Client(self.local or address, timeout=ANSWER_SECONDS, set_as_default=False)
            )
            try:
                self._client.wait_for_workers(1, timeout=START_SECONDS)
            except TimeoutError:
                raise TimeoutError(f"no worker connected within {START_SECONDS} seconds") from None
            if self.local is None:
                self._check_installed()
            self._counted = float("-inf")
            self._seen = time.monotonic()
            self._threads()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            self.__exit__()
            raise ClusterError(address, f"cannot start or reach the cluster: {_error_text(error)}") from None
        except BaseException:
            self.__exit__()
            raise
        if announce is not None:
            lacks = self.local is not None and find_spec("bokeh") is None
            link = f"none without bokeh: {install_hint('cluster')}" if lacks else self._client.dashboard_link
            announce(str(link or "this scheduler has none"))

    @staticmethod
    def count(address: str) -> int | None:
        """Return the number of workers N for the address `local:N`, None for that of a scheduler (tcp://host:port).

        CapabilityError for any other text.
        """
        local = LOCAL.fullmatch(address)
        if local is None and not REMOTE.fullmatch(address):
            raise CapabilityError(
                f"{address!r}: a cluster must be local:N or the address of a scheduler, tcp://host:port"
            )
        return int(local[1]) if local else None

    def _local_cluster(self, distributed: Any) -> Any:
        """Start the workers of this machine, with `START_ATTEMPTS` attempts."""
        for left in reversed(range(START_ATTEMPTS)):
            try:
                return self._closing.enter_context(
                    distributed.LocalCluster(
                        n_workers=self._wanted, threads_per_worker=1, processes=True, host="127.0.0.1",
                        dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL,
                    )
                )  # fmt: skip
            except RuntimeError:  # a worker exited while it was started
                if not left:
                    raise
        raise AssertionError

    def run(
        self, function: Callable[[K], R], keys: Sequence[K], after: Callable[[K], Iterable[K]] = lambda _: ()
    ) -> Iterator[R]:
        """Run a function once for each key on the cluster; yield the results in the order in which the tasks finish.

        All tasks are submitted at once, so that the dashboard counts them.

        Parameters
        ----------
        function, keys : both are sent to the workers.
        after : returns the keys whose tasks must be finished before that of a key; they precede it in `keys`.

        Raises
        ------
        ClusterError
            The cluster is lost.
        """
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
            raise ClusterError(self.address, f"the cluster was lost ({_error_text(error)})") from None
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(jobs.values()), force=True)

    def _next(self, ended: SimpleQueue[Any]) -> Any:
        """Return the next finished task; TimeoutError or ClusterError if no worker is left."""
        while True:
            try:
                return ended.get(timeout=COUNT_SECONDS)
            except Empty:
                self._threads()
                if self._client.status not in ("running", "connecting"):
                    raise ClusterError(self.address, "the cluster was lost") from None

    def _result(self, job: Any) -> Any:
        """Return the result of a task, or raise its error in one line."""
        if job.status == "error":
            error = job.exception()
            raise error if isinstance(error, BgfmtError) else ClusterError(self.address, _error_text(error))
        if job.status == "cancelled":
            raise ClusterError(self.address, "the cluster was lost")
        # if the worker exits with the result, another one repeats the task
        return job.result(timeout=START_SECONDS)

    def _check_installed(self) -> None:
        """Check that all workers have bgfmt if it is installed here; RuntimeError if not.

        The first task would end a worker without it.
        """
        versions = self._client.get_versions(packages=["bgfmt"])
        for worker, facts in versions["workers"].items():
            if not facts["packages"].get("bgfmt") and versions["client"]["packages"].get("bgfmt"):
                raise RuntimeError(f"bgfmt is not installed on the worker at {worker}")

    def _threads(self) -> int:
        """Return the number of threads of all workers; TimeoutError if there was none for `START_SECONDS`."""
        if time.monotonic() - self._counted > COUNT_SECONDS:
            self._restart_workers()
            threads: dict[str, int] = self._client.nthreads()
            self.workers = max(1, sum(threads.values()))
            self._counted = time.monotonic()
            if threads:
                self._seen = self._counted
            elif self._counted - self._seen > START_SECONDS:
                raise TimeoutError(f"no worker has been connected for {START_SECONDS} seconds")
        return self.workers

    def _restart_workers(self) -> None:
        """Restart local workers whose process ended while it was started."""
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


def _check_scheduler(address: str) -> None:
    """Check that a Dask scheduler listens at an address; OSError if not.

    Dask itself would look up an unknown name again and again, and wait without limit for a greeting.
    """
    match = REMOTE.fullmatch(address)
    if match is None or match[1] not in ("tcp", "tls"):
        return
    host = match[2].strip("[]")
    port = int(match[3])
    until = time.monotonic() + LISTEN_SECONDS
    while True:
        try:
            connection = socket.create_connection((host, port), LISTEN_SECONDS)
            break
        except (socket.gaierror, OverflowError) as error:
            raise OSError(_error_text(error)) from None
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    with connection:
        if match[1] == "tls":  # its greeting is encrypted
            return
        connection.settimeout(LISTEN_SECONDS)
        greeting = b""
        with contextlib.suppress(TimeoutError):
            greeting = connection.recv(8)
        if not 0 < int.from_bytes(greeting, "little") < MAX_GREETING_BYTES:
            raise OSError("the server there is not a Dask scheduler")


@contextlib.contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block interrupts: this process receives them afterwards, threads and processes started meanwhile never do."""
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


def _error_text(error: BaseException) -> str:
    """Return the text of an error in one line."""
    text = (isinstance(error, OSError) and not error.filename and error.strerror) or str(error)
    return " ".join(text.split())[:200] or type(error).__name__


def _call(version: str, function: Callable[[Any], Any], key: Any, _before: list[Any]) -> Any:
    """Run a task on a worker; `_before` are the results of the tasks before it.

    Errors become RuntimeErrors with a text, as not every error can be pickled.
    """
    if version != VERSION:
        raise RuntimeError(f"a worker has bgfmt {VERSION}, but needs {version}")
    try:
        return function(key)
    except (OSError, MemoryError) as error:
        raise RuntimeError(_error_text(error)) from None
