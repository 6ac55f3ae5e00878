"""How kernels are compiled, decided once for the whole package.

Only kernel modules import this one, and only functions that need a kernel import a kernel module: numba takes
longer to import than everything else together. Compiled code is kept on disk beside the package, or in the
user's cache folder where that is not writable, so that only the first run on a machine compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import prange

F = TypeVar("F", bound=Callable[..., Any])


def njit(*, parallel: bool = False, nogil: bool = True) -> Callable[[F], F]:
    """Compile a kernel: cached, without fast-math (bytes depend on rounding), without the interpreter lock."""

    def decorate(function: F) -> F:
        try:
            return cast(F, numba.njit(cache=True, parallel=parallel, nogil=nogil)(function))
        except RuntimeError:  # numba finds no folder it may write its cache to
            return cast(F, numba.njit(parallel=parallel, nogil=nogil)(function))

    return decorate


def set_threads(threads: int | None) -> int:
    """Use `threads` threads in parallel kernels (all cores when None); return the number in force."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    wanted = most if threads is None else max(1, min(threads, most))
    numba.set_num_threads(wanted)
    return int(wanted)


__all__ = ["njit", "prange", "set_threads"]
