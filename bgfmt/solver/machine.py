"""What this machine has, threads, memory and disk, and what a solve will take of it, said before it starts."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.storage import system

LANES = 1.6e10  # int16 maxima a second on one core, measured in tiles of a store and in whole tables
START_SECONDS = 0.7  # interpreter, numpy, numba and the compiled code from its cache
INTERPRETER_BYTES = 150_000_000
LEAST_BYTES = 500_000_000  # of memory for a table whose arrays are mapped
PAGED_RATE = 0.4e9  # bytes a second of mapped arrays larger than memory, measured with 14 points


def thread_count(threads: int | None) -> int:
    """Threads to use: those asked for, or one for each core this process may run on."""
    return max(1, threads) if threads is not None else system.cores()


def available_memory() -> int | None:
    """Bytes of memory that are free or can be freed, None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_memory(needed: int, what: str) -> None:
    """SolverError when the machine has not got this much memory to give."""
    available = available_memory()
    if available is not None and needed > available:
        raise SolverError(
            f"{what} needs {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are available"
        )


def check_disk(output: int, path: Path, scratch: int, kept: Path) -> None:
    """SolverError when a disk has too little room for what is to be written to it."""
    disks: dict[int, list[tuple[int, str, Path]]] = {}
    for size, file, what in ((output, path, "output"), (scratch, kept, "scratch")):
        if size:
            folder = file.resolve().parent
            disks.setdefault(os.stat(folder).st_dev, []).append((size, f"{_size(size)} {what}", folder))
    for needs in disks.values():
        sizes, parts, (folder, *_) = zip(*needs, strict=True)
        total = sum(sizes)
        free = shutil.disk_usage(folder).free
        if total > free:
            text = f"needs {_size(total)} of disk ({', '.join(parts)}), {_size(free)} are free"
            raise SolverError(f"{folder}: {text}")


def _size(number: float) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


@dataclass(frozen=True)
class Plan:
    """An estimate: `seconds` of an otherwise idle machine; bytes of `memory`, of the `output` file, of `scratch`."""

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
    def fits(self) -> bool:
        """Whether the memory is there now (True where the system does not say)."""
        available = available_memory()
        return available is None or self.memory <= available


def in_mapped_files(plan: Plan, memory: int) -> Plan:
    """The plan of a table whose arrays lie in mapped files, so that a process takes `memory` bytes at most.

    They go out, come in and go out once more. SolverError for less than any such solve takes.
    """
    if memory < LEAST_BYTES:
        least = LEAST_BYTES / 1e9
        given = memory / 1e9
        raise SolverError(f"this table needs {least:.1f} GB of memory at least, not {given:.2f} GB")
    arrays = plan.memory - INTERPRETER_BYTES
    paged = 3 * arrays / PAGED_RATE if plan.memory > memory else 0.0
    return replace(plan, memory=min(memory, plan.memory), scratch=arrays, seconds=plan.seconds + paged)


def zeros_on_lines(shape: tuple[int, ...], dtype: Any) -> Any:
    """A zeroed array whose rows of whole cache lines begin on cache lines."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + size].view(dtype).reshape(shape)


def results_a_position(points: int, chequers: int) -> int:
    """About how many (roll, result) pairs a position has on average; measured within a tenth."""
    return int(21 + 2.2 * (points - 1) * (chequers - 1)) if chequers > 1 else 21
