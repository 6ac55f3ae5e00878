"""Threads, fork, asyncio and free-threaded Python: what docs/stability.md says of each."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bgfmt
from bgfmt import Advisor, GameState
from tests.conftest import GOLDEN, ROOT

THREADS = 16
TABLES = (GOLDEN / "gnubg/ts_06x03.bd", GOLDEN / "gnubg/os_p06.bd")
#: small races: money, a score, a play, and one that no table covers and is calculated
STATES = (
    GameState.parse("0 1 0 0 1 / 0 1 1"),
    GameState.parse("0 0 0 0 1 1 / 0 0 2"),
    GameState.parse("1 1 1 / 0 0 3"),
    GameState.parse("0 0 0 0 0 1 1 / 1 1"),
)


@pytest.fixture(scope="module")
def advisor() -> Iterator[Advisor]:
    with Advisor([str(path) for path in TABLES]) as advisor:
        yield advisor


def answer(advisor: Advisor) -> list[str]:
    """Return every answer as text, floats to the last bit."""
    answers = []
    for state in STATES:
        answers.append(repr(advisor.cube(state).best))
        answers.append(repr([play.value for play in advisor.plays(state.rolled((2, 1))).plays]))
    return answers


@pytest.fixture(scope="module")
def expected(advisor: Advisor) -> list[str]:
    return answer(advisor)


def test_threads_share_an_advisor_and_a_database(expected: list[str]) -> None:
    """The advisor is new, so that the threads race to solve and not to read what is cached."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with (
            Advisor([str(path) for path in TABLES]) as fresh,
            bgfmt.open(TABLES[1]) as database,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            means = [database.lookup(state.position.us).as_dict() for state in STATES[:3]]

            def look_up(_: int) -> bool:
                return means == [database.lookup(state.position.us).as_dict() for state in STATES[:3]]

            answers = list(pool.map(lambda _: answer(fresh), range(THREADS)))
            assert all(pool.map(look_up, range(4 * THREADS)))
    finally:
        sys.setswitchinterval(interval)
    assert answers == [expected] * THREADS


def test_threads_may_be_the_first_to_use_bgfmt() -> None:
    """In a new interpreter sixteen threads import, open and query at once."""
    program = f"""
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import sys
sys.setswitchinterval(1e-6)
barrier = Barrier({THREADS})
def ask(_):
    barrier.wait()
    import bgfmt
    with bgfmt.open({str(TABLES[1])!r}) as database:
        return database.lookup(bgfmt.Side(0, 2, 2, 2, 0, 4)).mean_rolls
with ThreadPoolExecutor({THREADS}) as pool:
    print(len(set(pool.map(ask, range({THREADS})))))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )
    assert done.stdout == "1\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_answers_like_its_parent(advisor: Advisor, expected: list[str]) -> None:
    context = multiprocessing.get_context("fork")
    with context.Pool(2, initializer=set_inherited, initargs=(advisor,)) as pool:
        results = [pool.apply_async(answer_inherited) for _ in range(4)]
        assert [result.get(timeout=120) for result in results] == [expected] * 4
    assert answer(advisor) == expected


inherited: list[Advisor] = []


def set_inherited(advisor: Advisor) -> None:
    inherited.append(advisor)


def answer_inherited() -> list[str]:
    return answer(inherited[-1])


def test_asyncio_runs_queries_in_threads(advisor: Advisor, expected: list[str]) -> None:
    async def ask() -> list[list[str]]:
        return await asyncio.gather(*(asyncio.to_thread(answer, advisor) for _ in range(THREADS)))

    assert asyncio.run(ask()) == [expected] * THREADS


def test_a_pickled_database_opens_its_file_again() -> None:
    """The way to other processes without fork."""
    context = multiprocessing.get_context("spawn")
    with bgfmt.open(TABLES[1]) as database, context.Pool(1) as pool:
        side = STATES[0].position.us
        assert pool.apply(database.lookup, (side,)).as_dict() == database.lookup(side).as_dict()


def test_no_part_of_bgfmt_is_an_extension_module() -> None:
    """An extension module would have a free-threaded Python turn its lock on again; a library for ctypes does not."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    assert not list(Path(bgfmt.__file__).parent.rglob(f"*{suffix}"))


def test_lock_is_left_off_by_imports() -> None:
    """On a free-threaded Python, bgfmt with its look-ups leaves the lock off, as long as NumPy does."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python is not free-threaded")
    program = f"import bgfmt, sys; bgfmt.load({str(TABLES[1])!r}); print(sys._is_gil_enabled())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout == "False\n", done.stderr
