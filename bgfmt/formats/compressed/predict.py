"""Predictions of a tile, exactly: integers added up so that nothing is lost, by vectors of the processor.

A sum of 16-bit products stays below 2**53 (256 factors, shifts to 15), in doubles. Products of the smaller factors
are added up in 32 bits, as far as the shifts allow it; there a sum begins anew. The result does not depend on the
order of addition.
"""

from __future__ import annotations

import math
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.compressed.layout import Scales

AT_ONCE = 1024  # records of a row, so that converted factors stay near the processor
Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
#: how far a factor of 8 bits, and one of 4, can be raised within 16 bits; what is left the other side is raised by
ROOM = (8, 12)


class Plan(NamedTuple):
    """How the small factors of one column of a tile are multiplied: by how many bits they are raised on either side,
    (M + S,), where a sum begins anew, and what the sums are multiplied by."""

    left: Numbers
    right: Numbers
    parts: Numbers
    scale: float


def plan(narrow: NDArray[np.uint8], pairs: NDArray[np.uint8]) -> Plan:
    """The plan for these shifts."""
    shifts = np.concatenate([narrow, pairs]).astype(np.int64)
    if not len(shifts):
        return Plan(shifts, shifts, np.zeros(1, np.int64), 1.0)
    least = int(shifts.min())
    by = shifts - least
    mine = np.minimum(by, np.repeat(ROOM, [len(narrow), len(pairs)]))
    tops = np.left_shift(np.repeat([1 << 14, 1 << 7], [len(narrow), len(pairs)]), by)
    odd = np.arange(0, len(narrow), 2)
    steps = np.concatenate(
        [np.add.reduceat(tops[: len(narrow)], odd) if len(odd) else tops[:0], tops[len(narrow) :]]
    )
    parts, total = [0], 0
    for k, top in enumerate(steps.tolist()):
        if total + top >= 1 << 31:
            parts.append(k)
            total = 0
        total += top
    return Plan(mine, by - mine, np.array([*parts, len(steps)]), float(1 << least))


def room(kept: local, shape: tuple[int, ...]) -> NDArray[np.uint16]:
    """Room for predictions, uint16, which this thread uses again the next time it asks: fresh memory costs as much as
    filling it."""
    many = math.prod(shape)
    if len(getattr(kept, "room", ())) < many:
        kept.room = np.empty(many, np.uint16)
    found: NDArray[np.uint16] = kept.room[:many].reshape(shape)
    return found


def predict(rows: Bytes, columns: Bytes, scales: Scales, out: NDArray[np.uint16]) -> None:
    """Predictions of the records of some rows and columns of a tile, (C, rows, columns) uint16 into `out`."""
    from bgfmt.formats.compressed import kernels_predict as kernels

    m, w = len(rows), len(columns)
    at = 0
    for c, (counts, (wide, narrow, pairs)) in enumerate(zip(scales.counts, scales, strict=True)):
        by, end = plan(narrow, pairs), at + int((counts * (2, 1, 1)).sum())
        many, steps = len(wide), int(by.parts[-1])
        mine, theirs = rows[:, at:end], columns[:, at:end]
        left = np.zeros((m + -m % 4, many)), np.zeros((m + -m % 4, steps), np.int32)
        kernels.left(mine, counts, wide, by.left, *left)
        for start in range(0, w, AT_ONCE):
            part = theirs[start : start + AT_ONCE]
            padded = len(part) + -len(part) % 32
            right = np.zeros(padded * many), np.zeros(padded * steps, np.int32)
            kernels.right(part, counts, by.right, *right)
            kernels.products(*left, *right, by.parts, by.scale, out[c, :, start : start + AT_ONCE])
        at = end
