"""Resources of this machine (threads, memory, disk), and the estimate of a solve."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.storage import system

__all__ = [
    "INTERPRETER_BYTES",
    "MAXIMA_PER_SECOND",
    "START_SECONDS",
    "Plan",
    "aligned_zeros",
    "available_memory",
    "check_disk",
    "check_memory",
    "plan_mapped",
    "results_per_position",
    "thread_count",
]


MAXIMA_PER_SECOND = 1.6e10  # int16 maxima on one core, measured in tiles of a store and in whole tables
START_SECONDS = 0.7  # interpreter, numpy, numba and the compiled code from its cache
INTERPRETER_BYTES = 150_000_000
MIN_MAPPED_MEMORY_BYTES = 500_000_000  # least memory for a table whose arrays are memory-mapped
PAGED_BYTES_PER_SECOND = 0.4e9  # of mapped arrays larger than memory, measured with 14 points


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use: `threads`, or if None one for each core that this process may use."""
    return max(1, threads) if threads is not None else system.cores()


def available_memory() -> int | None:
    """Return the bytes of memory that are free or can be freed; None if the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_memory(needed: int, what: str) -> None:
    """Raise SolverError if less than `needed` bytes of memory are available.

    what : description of the table, for the message.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise SolverError(
            f"{what} needs {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are available"
        )


def check_disk(output: int, path: Path, scratch: int, kept: Path) -> None:
    """Raise SolverError if a disk has too little free space.

    output, path : bytes and path of the output file. scratch, kept : bytes and path of the working files. Both are
    counted together if they are on the same disk.
    """
    needs: dict[int, tuple[int, Path]] = {}
    for size, file in ((output, path), (scratch, kept)):
        if not size:  # nothing is written there, which may be an address
            continue
        folder = file.resolve().parent
        disk = os.stat(folder).st_dev
        before, first = needs.get(disk, (0, folder))
        needs[disk] = (before + size, first)
    for total, folder in needs.values():
        free = shutil.disk_usage(folder).free
        if total > free:
            needed = system.format_size(total)
            raise SolverError(f"{folder}: needs {needed} of disk, {system.format_size(free)} are free")


@dataclass(frozen=True)
class Plan:
    """The estimated cost of a solve.

    Attributes
    ----------
    what : description of the table.
    positions : number of entries.
    seconds : time on an otherwise idle machine.
    memory, output, scratch : bytes of memory, of the output file, and of working files.
    """

    what: str
    positions: int
    seconds: float
    memory: int
    output: int
    scratch: int = 0

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.positions:,} positions, about {self.seconds:.1f} s, "
            f"{self.memory / 1e9:.2f} GB of memory, {self.output / 1e9:.3f} GB for the file"
            + (f" and {self.scratch / 1e9:.3f} GB of scratch" if self.scratch else "")
        )

    @property
    def fits_in_memory(self) -> bool:
        """True if as much memory as the plan needs is available now, or if the system does not say."""
        available = available_memory()
        return available is None or self.memory <= available


def plan_mapped(plan: Plan, memory: int) -> Plan:
    """Return a plan changed to a solve in memory-mapped files, by a process of at most `memory` bytes.

    If the arrays are larger than that, it adds the time to write, read and write them again. Raises SolverError if
    `memory` is below the minimum.
    """
    if memory < MIN_MAPPED_MEMORY_BYTES:
        least = MIN_MAPPED_MEMORY_BYTES / 1e9
        given = memory / 1e9
        raise SolverError(f"this table needs at least {least:.1f} GB of memory, not {given:.2f} GB")
    arrays = plan.memory - INTERPRETER_BYTES
    paged = 3 * arrays / PAGED_BYTES_PER_SECOND if plan.memory > memory else 0.0
    return replace(plan, memory=min(memory, plan.memory), scratch=arrays, seconds=plan.seconds + paged)


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a zeroed array whose first byte begins a cache line."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + size].view(dtype).reshape(shape)


def results_per_position(points: int, chequers: int) -> int:
    """Estimate how many (roll, position reached) pairs a position has on average, within a tenth."""
    return int(21 + 2.2 * (points - 1) * (chequers - 1)) if chequers > 1 else 21
