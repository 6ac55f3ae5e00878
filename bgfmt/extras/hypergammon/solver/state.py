"""The state of a hypergammon solve in a file, so that an interrupted one can be continued.

size  content
-     a line: "bgfmt sweeps 2: " and what the solve is of, as from `_first_line`
4     number of sweeps, little-endian
8     change in the last sweep, float64, little-endian
-     the numbers, (n, n, 10) float32 or float64, little-endian, C order
32    SHA-256 of everything before

A new state is written completely before it replaces the old one, so that there is always one good state.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from itertools import chain

import numpy as np

from bgfmt.errors import ScratchError, SolverError
from bgfmt.extras.hypergammon.solver.iteration import PLACES, Iteration
from bgfmt.game import board
from bgfmt.storage import PathLike, create, open_source
from bgfmt.tables import Hypergammon

MAGIC = b"bgfmt sweeps 2: "
PROGRESS = struct.Struct("<Id")
CHECKSUM_BYTES = hashlib.sha256().digest_size


def start_checksum(restart: Hypergammon | None) -> str:
    """Return the SHA-256 in hexadecimal of the numbers that a solve starts from; "" if these are the usual ones.

    restart : the table that the solve starts from, None for the usual numbers.
    """
    if restart is None:
        return ""
    digest = hashlib.sha256()
    for us in range(len(restart.records)):
        digest.update(np.ascontiguousarray(restart.records[us]).tobytes())
    return digest.hexdigest()


def is_state(path: PathLike) -> bool:
    """Check whether a file is the state of a hypergammon solve."""
    with contextlib.suppress(OSError), open_source(path, guard=True) as source:
        return bytes(source.buffer[: len(MAGIC)]) == MAGIC
    return False


def _first_line(chequers: int, recipe: str, begun: str) -> bytes:
    return MAGIC + f"{chequers} chequers, recipe {recipe}, from {begun or 'the start'}\n".encode()


def write(iteration: Iteration, path: PathLike, begun: str) -> None:
    """Write the state of a solve to a file, replacing an older one.

    begun : `start_checksum` of the solve.
    """
    line = _first_line(iteration.chequers, iteration.recipe, begun)
    head = line + PROGRESS.pack(iteration.sweeps, iteration.change)
    digest = hashlib.sha256()
    little = iteration.values.dtype.newbyteorder("<")
    with create(path, force=True) as sink:
        for data in chain([head], (row.astype(little).tobytes() for row in iteration.values)):
            digest.update(data)
            sink.write(data)
        sink.write(digest.digest())


def read(path: PathLike, chequers: int, recipe: str, begun: str) -> Iteration:
    """Read the state of a solve from a file.

    Parameters
    ----------
    chequers, recipe : of the solve that is to be continued.
    begun : its `start_checksum`.

    Raises
    ------
    SolverError
        The file is no state of a solve.
    ScratchError
        The state is damaged, or one of another solve.
    """
    name = os.fspath(path)
    n = board.count(PLACES, chequers)
    dtype = np.dtype("<f4" if recipe == "gnubg" else "<f8")
    line = _first_line(chequers, recipe, begun)
    begin = len(line) + PROGRESS.size
    end = begin + n * n * 10 * dtype.itemsize
    if not is_state(path):
        raise SolverError(f"{name}: is not the state of a hypergammon solve")
    with open_source(path) as source:
        data = source.buffer
        if bytes(data[: len(line)]) != line:
            message = f"the state of another solve, not of {line[len(MAGIC) :].decode().strip()}"
            raise ScratchError(name, "foreign", message)
        if len(data) != end + CHECKSUM_BYTES or hashlib.sha256(data[:end]).digest() != bytes(data[end:]):
            raise ScratchError(name, "damaged", "damaged or truncated: its checksum does not match")
        sweeps, change = PROGRESS.unpack(bytes(data[len(line) : begin]))
        values = source.array(dtype, (n, n, 10), begin).copy()
    return Iteration(chequers, recipe, values, sweeps, change, False)
