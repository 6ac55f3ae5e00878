"""How every test is run: kept bytecode, no deadlines, and what `make check` leaves out.

tests/durations.txt lists the tests that take long, with the seconds of a processor that each took, its processes
included. `make measure` writes it anew. What it lists is marked `slow` and left out of `make check`; what takes ten
seconds or more comes first, so that no worker of pytest-xdist waits for another at the end.
"""

from __future__ import annotations

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
_spent: defaultdict[str, float] = defaultdict(float)  # of a test with all its parameters

# What a shell starts in the background ignores interrupts, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled modules are kept whatever the environment says: hundreds of tests start Python anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No example is too slow: a busy machine stops any process for as long as it likes.
hypothesis.settings.register_profile("bgfmt", deadline=None)
hypothesis.settings.load_profile("bgfmt")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--measure", action="store_true", help="write tests/durations.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and put what is long first."""
    lines = DURATIONS.read_text(encoding="utf-8").splitlines() if DURATIONS.exists() else []
    seconds = {name: float(text) for text, name in (line.split(maxsplit=1) for line in lines)}
    for item in items:
        if name_of(item.nodeid) in seconds:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: seconds.get(name_of(item.nodeid), 0) < LONG)


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
    if call.when == "teardown":
        item.user_properties.append(("processor", processor() - item.stash[BEGIN]))
    return (yield)


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "teardown":
        _spent[name_of(report.nodeid)] += sum(v for k, v in report.user_properties if k == "processor")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--measure") and not hasattr(session.config, "workerinput"):
        slow = sorted((name, spent) for name, spent in _spent.items() if spent >= SLOW)
        DURATIONS.write_text("".join(f"{spent:.1f} {name}\n" for name, spent in slow), encoding="utf-8")
