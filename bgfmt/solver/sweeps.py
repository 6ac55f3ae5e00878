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
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.hypergammon import Iteration
from bgfmt.solver.hypergammon_solve import PLACES
from bgfmt.storage import PathLike, create
from bgfmt.tables import Hypergammon

MAGIC = b"bgfmt sweeps 1\n\n"
CHUNK = 8 << 20


def begun_with(restart: Hypergammon | None) -> str:
    """What tells one beginning of a solve from another: empty, or the digest of the numbers it began with."""
    if restart is None:
        return ""
    seen = hashlib.sha256()
    for us in range(restart.positions):
        seen.update(np.ascontiguousarray(restart.records[us]).tobytes())
    return seen.hexdigest()


def is_state(path: PathLike) -> bool:
    """Whether a file is one of these."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def keep(iteration: Iteration, path: PathLike, begun: str) -> None:
    """Write a state, in place of an older one."""
    facts = {
        "chequers": iteration.chequers,
        "recipe": iteration.recipe,
        "sweeps": iteration.sweeps,
        "change": iteration.change,
        "begun": begun,
    }
    text = json.dumps(facts).encode()
    seen = hashlib.sha256()
    with create(path, force=True) as sink:
        for part in (MAGIC, struct.pack("<I", len(text)), text):
            seen.update(part)
            sink.write(part)
        for us in range(len(iteration.values)):
            row = iteration.values[us].astype(iteration.values.dtype.newbyteorder("<")).tobytes()
            seen.update(row)
            sink.write(row)
        sink.write(seen.digest())


def kept(path: PathLike, chequers: int, recipe: str, begun: str) -> Iteration:
    """Read a state of this very solve.

    Raises
    ------
    SolverError
        It is none, is damaged, or is of another solve.
    """
    name = os.fspath(path)
    if not is_state(path):
        raise SolverError(f"{name}: not the state of a hypergammon solve")
    seen = hashlib.sha256()
    with open(path, "rb") as file:

        def take(size: int) -> bytes:
            data = file.read(size)
            if len(data) != size:
                raise SolverError(f"{name}: cut short")
            seen.update(data)
            return data

        facts: dict[str, Any] = {}
        take(len(MAGIC))
        size = struct.unpack("<I", take(4))[0]
        if size > 1 << 16:
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
        for us in range(n):
            values[us] = np.frombuffer(take(values[us].nbytes), values.dtype).reshape(n, 10)
        digest = seen.digest()
        if file.read(len(digest) + 1) != digest:
            raise SolverError(f"{name}: its checksum does not fit")
    return Iteration(chequers, recipe, values, sweeps, change, False)
