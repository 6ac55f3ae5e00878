"""Time in proportion to the size: what the doubling tests measure, as soundly as a busy machine allows."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

ROUNDS = 8
LEAST = 0.005  # seconds; shorter times are mostly those of calls
SLACK = (
    3.0  # how far above proportion the quickest of all rounds may lie; of eight times the size n² is 8 above
)


def took(work: Callable[[], object]) -> float:
    """Seconds of the processor for one call, without collections of garbage."""
    was = gc.isenabled()
    gc.disable()
    begin = time.process_time()
    try:
        work()
    finally:
        spent = time.process_time() - begin
        if was:
            gc.enable()
    return spent


def assert_linear(short: Callable[[], object], long: Callable[[], object], times: float) -> float:
    """Assert that the long work, `times` as much, takes `times` as long, by the quickest of some rounds.

    Rounds end as soon as the two are in proportion: other work on the machine makes a round slower, never quicker,
    and no number of rounds brings n² down to it. Returns the quickest long time in seconds.
    """
    least = most = math.inf
    for _ in range(ROUNDS):
        least, most = min(least, took(short)), min(most, took(long))
        if most < SLACK * times * max(least, LEAST):
            return most
    raise AssertionError(f"{times:.1f} times the work takes {most:.3f} s instead of {least:.3f} s")
