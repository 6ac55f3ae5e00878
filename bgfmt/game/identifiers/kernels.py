"""Position IDs of all pairs of many sides at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.identifiers.gnubg_id import ALPHABET
from bgfmt.jit import njit

LENGTH = 14


def side_bits(counts: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The bits of a Position ID that sides take, uint64, and how many they are, of counts (n, up to 25)."""
    rows = np.asarray(counts, np.int64)
    bits = np.zeros(len(rows), np.uint64)
    at = np.zeros(len(rows), np.int64)
    for point in range(rows.shape[1]):
        ones = (np.int64(1) << rows[:, point]) - 1
        bits |= (ones << at).astype(np.uint64)
        at += rows[:, point] + 1
    return bits, at + (25 - rows.shape[1])


def write_ids(us: NDArray[Any], them: NDArray[Any], out: NDArray[np.uint8]) -> None:
    """The Position IDs of all pairs of sides, counts (a, points) and (b, points), into the last 14 of `out` (a*b, w).

    Rows in order us * b + them.
    """
    ours, _ = side_bits(us)
    theirs, sizes = side_bits(them)
    _write(ours, theirs, sizes, ALPHABET, out)


@njit()
def _write(ours: Any, theirs: Any, sizes: Any, letters: Any, out: Any) -> None:
    row = 0
    first = out.shape[1] - LENGTH
    for i in range(len(ours)):
        high = ours[i]
        for j in range(len(theirs)):
            size = np.uint64(sizes[j])
            low = theirs[j] | high << size
            rest = high >> (np.uint64(64) - size)  # a side takes 25 to 40 bits
            line = out[row]
            at = first
            for k in range(3):
                shift = np.uint64(24 * k)
                three = low >> shift
                if k == 2:
                    three |= rest << np.uint64(16)
                a, b, c = (
                    np.int64(three & np.uint64(255)),
                    np.int64(three >> np.uint64(8) & np.uint64(255)),
                    np.int64(three >> np.uint64(16) & np.uint64(255)),
                )
                line[at] = letters[a >> 2]
                line[at + 1] = letters[(a & 3) << 4 | b >> 4]
                line[at + 2] = letters[(b & 15) << 2 | c >> 6]
                line[at + 3] = letters[c & 63]
                at += 4
            last = np.int64(rest >> np.uint64(8) & np.uint64(255))
            line[at] = letters[last >> 2]
            line[at + 1] = letters[(last & 3) << 4]
            row += 1
