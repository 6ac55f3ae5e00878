"""The state of a hypergammon solve in a file, so that a long one can go on after it ended.

offset  size  content
0       16    "bgfmt sweeps 1\n\n"
16      4     size of the description, little-endian
20      -     description: JSON with chequers, recipe, threshold, sweeps, change, begun (what the solve began with)
-       -     the numbers, (n, n, 10) float32 or float64, little-endian, C order
end     32    SHA-256 of everything before

It is written whole beside the old one and takes its place, so that there is always one good state.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.hypergammon import PLACES, Iteration
from bgfmt.storage import PathLike, create
from bgfmt.tables import Hypergammon

MAGIC = b"bgfmt sweeps 1\n\n"
MOST_TEXT = 1 << 16  # bytes of a description


def begun_with(restart: Hypergammon | None) -> str:
    """What tells one beginning of a solve from another: empty, or the digest of the numbers it began with."""
    if restart is None:
        return ""
    digest = hashlib.sha256()
    for us in range(restart.positions):
        digest.update(np.ascontiguousarray(restart.records[us]).tobytes())
    return digest.hexdigest()


def is_state(path: PathLike) -> bool:
    """Whether a file is the state of a hypergammon solve."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def write(iteration: Iteration, path: PathLike, begun: str) -> None:
    """Write a state, in place of an older one."""
    facts = {
        "chequers": iteration.chequers, "recipe": iteration.recipe, "sweeps": iteration.sweeps,
        "change": iteration.change, "begun": begun,
    }  # fmt: skip
    text = json.dumps(facts).encode()
    digest = hashlib.sha256()
    with create(path, force=True) as sink:
        little = iteration.values.dtype.newbyteorder("<")
        for part in (MAGIC + struct.pack("<I", len(text)) + text, *iteration.values):
            data = part if isinstance(part, bytes) else part.astype(little).tobytes()
            digest.update(data)
            sink.write(data)
        sink.write(digest.digest())


def read(path: PathLike, chequers: int, recipe: str, begun: str) -> Iteration:
    """Read a state of this very solve.

    Raises
    ------
    SolverError
        The file is no state, is damaged, or is the state of another solve.
    """
    name = os.fspath(path)
    if not is_state(path):
        raise SolverError(f"{name}: not the state of a hypergammon solve")
    digest = hashlib.sha256()
    with open(path, "rb") as file:

        def take(size: int) -> bytes:
            data = file.read(size)
            if len(data) != size:
                raise SolverError(f"{name}: cut short")
            digest.update(data)
            return data

        size = struct.unpack("<I", take(len(MAGIC) + 4)[len(MAGIC) :])[0]
        if size > MOST_TEXT:
            raise SolverError(f"{name}: damaged at byte {len(MAGIC)}")
        try:
            facts = json.loads(take(size))
            same = [facts["chequers"], facts["recipe"], facts["begun"]] == [chequers, recipe, begun]
            sweeps, change = int(facts["sweeps"]), float(facts["change"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise SolverError(f"{name}: damaged at byte {len(MAGIC) + 4}") from None
        if not same:
            what = f"{facts.get('chequers')} chequers, recipe {facts.get('recipe')}"
            raise SolverError(f"{name}: the state of another solve ({what})")
        n = board.count(PLACES, chequers)
        values = np.empty((n, n, 10), "<f4" if recipe == "gnubg" else "<f8")
        for row in values:
            row[:] = np.frombuffer(take(row.nbytes), values.dtype).reshape(n, 10)
        if file.read(digest.digest_size + 1) != digest.digest():
            raise SolverError(f"{name}: its checksum does not fit")
    return Iteration(chequers, recipe, values, sweeps, change, False)
