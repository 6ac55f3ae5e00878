"""Judges files of matches in several processes, each with a judge of its own."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from bgfmt.analysis import library
from bgfmt.analysis.sources import ResultCache
from bgfmt.extras.matches.annotate.files import Found, Outcome, outcome_of
from bgfmt.extras.matches.annotate.judging import Judge
from bgfmt.solver.machine import available_memory, thread_count

#: a process takes some 400 MiB; more of them than this gain little beside what the parent does
MAX_WORKERS = 8
BYTES_PER_WORKER = 600 << 20
FILES_PER_WORKER = 3  # below that the start of a process costs more than it saves
#: of calculations kept for what comes up later in a game; more gains nothing measurable
GAMES_BYTES = 64 << 20

_judges: list[Judge] = []  # that of this process, where it is a worker


def usual_workers(files: int) -> int:
    """Return how many processes to start for this many files, from the cores and the memory of this machine."""
    available = available_memory()
    fitting = MAX_WORKERS if available is None else available // BYTES_PER_WORKER
    return max(1, min(thread_count(None), MAX_WORKERS, files // FILES_PER_WORKER, fitting))


def judge_over(tables: Sequence[str], described: str | None, **options: Any) -> Judge:
    """Return a judge that uses the databases of these paths, or, without any, the default ones of this machine.

    described : the format that the option `--as` names for files without a header. options : as `Judge` takes them.
    """
    named = library.open_paths(tables, part=0, format=described) if tables else library.open_default()
    return Judge(named, **options)


def judge_in_processes(
    found: Sequence[Found], make_judge: Callable[[], Judge], workers: int
) -> Iterator[Outcome]:
    """Yield the outcome of judging each file (`outcome_of`), in the order of the files, by `workers` processes.

    make_judge : called once in each process; it is pickled, so a function of a module or a `partial` of one.
    """
    context = get_context("spawn")  # threads of this process and a fork do not go together
    pool = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(make_judge,))
    try:
        yield from pool.map(_outcome, found)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(make_judge: Callable[[], Judge]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    judge = make_judge()
    judge.advisor.sources.results = ResultCache(GAMES_BYTES)
    _judges.append(judge)


def _outcome(one: Found) -> Outcome:
    return outcome_of(one, _judges[-1])
