"""The kernels of a tile on a CUDA device, or on Numba's simulator of one (NUMBA_ENABLE_CUDASIM=1).

The door `bgfmt.devices` names `DeviceKernels`.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from bgfmt.errors import CapabilityError, MissingExtraError, install_hint
from bgfmt.game.results import WEIGHTS
from bgfmt.solver.layers import PipOrder
from bgfmt.solver.stored import TileKernels, buffer

AT_ONCE = 4  # tiles made together, so that reading and writing of some go on beside the kernels of others
_taking = threading.Lock()
_taken: dict[tuple[int, int], tuple[Any, ...]] = {}


@cache
def cuda() -> Any:
    """numba.cuda; MissingExtraError without it, CapabilityError where there is no device."""
    try:
        module: Any = import_module("numba.cuda")
        simulated = _simulated()
        there = module.is_available()
    except ImportError:
        install = install_hint("cuda")
        raise MissingExtraError(f"a CUDA device needs numba-cuda: {install}", install) from None
    if not simulated and not there:
        raise CapabilityError("no CUDA device is at hand")
    return module


def _simulated() -> bool:
    config: Any = import_module("numba").config
    return bool(getattr(config, "ENABLE_CUDASIM", 0))


class DeviceKernels(TileKernels):
    """Arrays and kernels of a tile on the device; see `bgfmt.solver.stored.TileKernels`."""

    def __init__(self, order: PipOrder, columns: int, gammons: bool = False) -> None:
        if gammons:
            raise CapabilityError("tables that count gammons are made without a device")
        self.columns = columns
        self.empty = cuda().device_array
        self._plays = _plays(order)

    @staticmethod
    def tiles_at_once(threads: int) -> int:
        """Tiles that a device makes together; the simulator makes one."""
        cuda()
        return 1 if _simulated() else min(AT_ONCE, threads)

    def turned_buffer(self, name: str, places: int, sides: int) -> Any:
        return buffer(name, (places, sides, self.columns), np.int16, self.empty)

    def store_turned(self, stored: Any, near: Any, side: int, at: int) -> None:
        if not stored.size:
            return
        from bgfmt.extras.cluster import kernels_cuda as kernels

        if isinstance(stored, np.ndarray):
            stored = cuda().to_device(np.ascontiguousarray(stored))
        places = stored.shape[1] // self.columns
        grid = -(-places // kernels.THREADS), stored.shape[0]
        kernels.lay[grid, min(kernels.THREADS, places)](stored, near, side, at)

    def compute_records(
        self,
        us: tuple[int, int],
        near: Any,
        window: int,
        sides: tuple[int, int],
        out: Any,
        row: int,
        place: int,
    ) -> None:
        low, high = sides
        if us[0] >= us[1] or low >= high:
            return
        from bgfmt.extras.cluster import kernels_cuda as kernels

        width = min(kernels.THREADS, high - low)
        grid = -(-(high - low) // width), us[1] - us[0]
        kernels.best[grid, width](us[0], near, window, *self._plays, out, row, place, low, high)


def _plays(order: PipOrder) -> tuple[Any, ...]:
    """The plays of a board on the device, taken there once."""
    with _taking:
        size = order.points, order.chequers
        if size not in _taken:
            _taken.clear()
            arrays = order.ends, order.results, WEIGHTS
            _taken[size] = tuple(cuda().to_device(np.ascontiguousarray(array)) for array in arrays)
        return _taken[size]
