"""What this machine has: threads and memory."""

from __future__ import annotations

from pathlib import Path

from bgfmt.errors import SolverError
from bgfmt.storage import system


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
