"""How every test is run: kept bytecode, no deadlines, and what `make check` leaves out.

tests/durations.txt lists the tests that take long, with the seconds of a processor that each took, its processes and
the compiling of its kernels included, as in a new checkout. `make measure` writes it anew. What it lists is marked
`slow` and left out of `make check`; what takes ten seconds or more comes first, the file with the longest test before
others, so that no worker of pytest-xdist waits for another at the end.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

DURATIONS = Path(__file__).parent / "tests" / "durations.txt"
SLOW, LONG = 0.3, 10.0  # seconds
BEGIN = pytest.StashKey[float]()
KERNELS = pytest.StashKey["Kernels"]()
_spent: defaultdict[str, float] = defaultdict(float)  # of a test with all its parameters
_called: defaultdict[str, set[str]] = defaultdict(set)  # the kernels of a test
_compiling: defaultdict[str, float] = defaultdict(float)  # the longest that compiling a kernel took

# What a shell starts in the background ignores interrupts, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled modules are kept whatever the environment says: hundreds of tests start Python anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as commands do

# No example is too slow: a busy machine stops any process for as long as it likes.
hypothesis.settings.register_profile("bgfmt", deadline=None)
hypothesis.settings.load_profile("bgfmt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--measure", action="store_true", help="write tests/durations.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and put what is long first."""
    lines = DURATIONS.read_text(encoding="utf-8").splitlines() if DURATIONS.exists() else []
    seconds = {name: float(text) for text, name in (line.split(maxsplit=1) for line in lines)}
    longest: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        took = seconds.get(name_of(item.nodeid))
        if took is not None:
            item.add_marker(pytest.mark.slow)
            longest[item.path] = max(longest[item.path], took)
    items.sort(key=lambda item: -longest[item.path] * (seconds.get(name_of(item.nodeid), 0) >= LONG))


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector need not search them again and again."""
    gc.freeze()


class Kernels:
    """Which kernels a test calls, and how long compiling them takes."""

    def __init__(self) -> None:
        from numba.core import event

        from bgfmt import jit

        self.called: set[str] = set()
        self.compiled: dict[str, float] = {}
        self.compiling = 0.0  # in all; a kernel's time has in it that of the kernels it calls
        self.begin: list[tuple[str, float]] = []
        call = jit.Kernel.__call__

        def recorded(kernel: Any, *args: Any, **named: Any) -> Any:
            self.called.add(f"{kernel.__module__}.{kernel.__qualname__}")
            return call(kernel, *args, **named)

        jit.Kernel.__call__ = recorded  # type: ignore[method-assign,assignment]
        listener: Any = type("Listener", (event.Listener,), {"on_start": self.start, "on_end": self.end})
        register: Any = event.register
        register("numba:compile", listener())

    def start(self, happening: Any) -> None:
        function = happening.data["dispatcher"].py_func
        self.begin.append((f"{function.__module__}.{function.__qualname__}", processor()))

    def end(self, happening: Any) -> None:
        name, begin = self.begin.pop()
        took = processor() - begin
        self.compiled[name] = self.compiled.get(name, 0.0) + took
        if not self.begin:
            self.compiling += took


class Turns:
    """Of several workers one compiles a kernel; the others wait, and load what it has kept.

    A kernel's turn holds while those that it calls are compiled, each in its own. No kernel calls itself by another.
    """

    def __init__(self, folder: Path) -> None:
        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.dispatcher import Dispatcher

        compiled = Dispatcher.compile

        def in_turn(dispatcher: Any, signature: Any) -> Any:
            name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
            if not name.startswith("bgfmt."):
                return compiled(dispatcher, signature)
            with global_compiler_lock, open(folder / name, "w") as file:  # the lock first, as a thread has it
                fcntl.flock(file, fcntl.LOCK_EX)
                try:
                    return compiled(dispatcher, signature)
                finally:
                    fcntl.flock(file, fcntl.LOCK_UN)  # a process forked meanwhile has the file too

        Dispatcher.compile = in_turn


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--measure"):
        config.stash[KERNELS] = Kernels()
    if "PYTEST_XDIST_WORKER" in os.environ and getattr(config, "cache", None) is not None:
        Turns(config.cache.mkdir("turns"))


def name_of(nodeid: str) -> str:
    """The name of a test without its parameters."""
    return nodeid.partition("[")[0]


def processor() -> float:
    """Seconds of a processor that this process has taken, and its children that have ended."""
    usages = (resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGIN] = processor()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[None]:  # the report goes from the worker to the process that writes the file
    if call.when == "teardown" and (kernels := item.config.stash.get(KERNELS, None)):
        spent = processor() - item.stash[BEGIN] - kernels.compiling
        item.user_properties.append(("spent", (spent, sorted(kernels.called), dict(kernels.compiled))))
        kernels.called.clear()
        kernels.compiled.clear()
        kernels.compiling = 0.0
    return (yield)


def pytest_runtest_logreport(report: Any) -> None:
    for name, value in report.user_properties if report.when == "teardown" else ():
        if name == "spent":
            seconds, called, compiled = value
            _spent[name_of(report.nodeid)] += seconds
            _called[name_of(report.nodeid)].update(called)
            for kernel, compiling in compiled.items():
                _compiling[kernel] = max(_compiling[kernel], compiling)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--measure") and not hasattr(session.config, "workerinput"):
        seconds = {
            name: spent + sum(_compiling[kernel] for kernel in _called[name])
            for name, spent in _spent.items()
        }
        slow = sorted((name, spent) for name, spent in seconds.items() if spent >= SLOW)
        DURATIONS.write_text("".join(f"{spent:.1f} {name}\n" for name, spent in slow), encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two processors: many tests wait for a program, a server or a browser."""
    return (os.cpu_count() or 1) * 3 // 2
