"""The kernels of a tile on a CUDA device, or on Numba's simulator of one (NUMBA_ENABLE_CUDASIM=1).

The entry point `bgfmt.devices` names `DeviceKernels`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from bgfmt.errors import CapabilityError, MissingExtraError, install_hint
from bgfmt.extras.large.tiles import TileKernels, buffer, order_of
from bgfmt.game.results import WEIGHTS
from bgfmt.solver.layers import PipOrder

TILES_AT_ONCE = 4  # at a time, so that some are read and written while the kernels of others run


@cache
def cuda() -> Any:
    """Return the module numba.cuda; MissingExtraError without it, CapabilityError without a device."""
    try:
        module: Any = import_module("numba.cuda")
        simulated = _simulated()
        there = module.is_available()
    except ImportError:
        install = install_hint("cuda")
        raise MissingExtraError(f"a CUDA device needs numba-cuda: {install}", install) from None
    if not simulated and not there:
        raise CapabilityError("no CUDA device was found")
    return module


def _simulated() -> bool:
    """Return True if Numba simulates the device."""
    config: Any = import_module("numba").config
    return bool(getattr(config, "ENABLE_CUDASIM", 0))


class DeviceKernels(TileKernels):
    """Arrays and kernels of a tile on the device; see `bgfmt.extras.large.tiles.TileKernels`."""

    def __init__(self, order: PipOrder, columns: int, gammons: bool = False) -> None:
        if gammons:
            raise CapabilityError("tables that count gammons cannot be solved on a device")
        self.columns = columns
        self.empty = cuda().device_array
        self._plays = _plays(order.points, order.chequers)

    @staticmethod
    def tiles_at_once(threads: int) -> int:
        """Return how many tiles (blocks of a table that are solved as a whole) are computed at the same time.

        It is 4, or `threads` if that is less; 1 on Numba's simulator of a device.
        """
        cuda()
        return 1 if _simulated() else min(TILES_AT_ONCE, threads)

    def turned_buffer(self, name: str, places: int, sides: int) -> Any:
        """Return working space on the device, (places, sides, columns) int16; a call with the same name reuses it."""
        return buffer(name, (places, sides, self.columns), np.int16, self.empty)

    def store_turned(self, stored: Any, near: Any, side: int, at: int) -> None:
        """Convert stored records to values as seen by the side that has just moved, and write them to `near`.

        Parameters
        ----------
        stored : (sides, places * columns) uint16, on the host or the device.
        near : (places, sides, columns) int16 on the device, see `turned_buffer`.
        side, at : indices in `near` of the first side and of the first place.
        """
        if not stored.size:
            return
        from bgfmt.extras.cluster import kernels_cuda as kernels

        if isinstance(stored, np.ndarray):
            stored = cuda().to_device(np.ascontiguousarray(stored))
        places = stored.shape[1] // self.columns
        grid = -(-places // kernels.THREADS), stored.shape[0]
        kernels.store_turned[grid, min(kernels.THREADS, places)](stored, near, side, at)

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
        """Compute the stored records of pairs: sides at places us[0]..us[1]-1, on roll, against some sides of `near`.

        A place is the rank of a position in order of pips.

        Parameters
        ----------
        near : (places, sides, columns) int16, values as seen by the side that has just moved.
        window : place of the first row of `near`.
        sides : range of indices along the sides of `near`, (first, past the last).
        out : uint16 on the device, receives the records of us[0] in row `row`, of us[0] + 1 in the next, and so on.
        row, place : the record against side x of `near` begins in its row at column (place + x) * columns.
        """
        low, high = sides
        if us[0] >= us[1] or low >= high:
            return
        from bgfmt.extras.cluster import kernels_cuda as kernels

        width = min(kernels.THREADS, high - low)
        grid = -(-(high - low) // width), us[1] - us[0]
        kernels.compute_records[grid, width](us[0], near, window, *self._plays, out, row, place, low, high)


@lru_cache(maxsize=1)
def _plays(points: int, chequers: int) -> tuple[Any, ...]:
    """Return the plays of all boards on the device; those of one size are kept there."""
    order = order_of(points, chequers)
    arrays = order.ends, order.results, WEIGHTS
    return tuple(cuda().to_device(np.ascontiguousarray(array)) for array in arrays)
