"""Timing whole processes from outside: wall seconds and peak memory of each run, and the median of several."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

BGFMT = [sys.executable, "-m", "bgfmt"]


@dataclass(frozen=True)
class Run:
    """Wall seconds, peak resident memory in MB and the processors' seconds of a finished process."""

    seconds: float
    megabytes: float
    cpu: float = 0.0


def run(command: Sequence[str | Path], cwd: Path | None = None) -> Run:
    """Run a command to its end; RuntimeError when it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return Run(seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def pairs(ours: Sequence[str | Path], theirs: Sequence[str | Path], times: int = 5) -> tuple[Run, Run, float]:
    """Run two commands in turn, `times` each after one warm-up: median of each, and the median ratio of pairs."""
    run(ours)
    run(theirs)
    mine, other = [], []
    for _ in range(times):
        other.append(run(theirs))
        mine.append(run(ours))
    ratio = median(a.seconds / b.seconds for a, b in zip(mine, other, strict=True))
    return _middle(mine), _middle(other), ratio


def _middle(runs: list[Run]) -> Run:
    return Run(median(r.seconds for r in runs), max(r.megabytes for r in runs))


def row(what: str, ours: Run, theirs: Run, ratio: float, bar: str = "") -> str:
    """One line of a table of results."""
    return (
        f"{what:<46} {ours.seconds:8.2f} s {ours.megabytes:7.0f} MB   "
        f"{theirs.seconds:8.2f} s   ratio {ratio:6.2f}  {bar}"
    )
