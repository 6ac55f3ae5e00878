"""Settings of every test run: no deadlines, Ctrl-C for started programs, the number of workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import hypothesis
import pytest

# No example is too slow: a busy machine stops any process for as long as it likes.
hypothesis.settings.register_profile("bgfmt", deadline=None)
hypothesis.settings.load_profile("bgfmt")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Let the programs that tests start be interrupted: a shell's background jobs ignore SIGINT and so would they."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def kept_bytecode() -> Iterator[None]:
    """Let the hundreds of Python processes that tests start keep their compiled modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run three workers on two processors: many tests wait for a program, a server or a browser."""
    return (os.cpu_count() or 1) * 3 // 2
