"""Compiled hypergammon: the ten numbers of one record, and the bytes of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.solver.kernels.hypergammon_plays import PLACES

Array = Any


@njit()
def cube_taken(one: Any, centered: Any, doubled: Any) -> Any:
    """The equity of the side on roll that may double, after its best cube action and the answer to it."""
    two = doubled + doubled
    if two >= centered and one >= centered:
        return one if two >= one else two
    return centered


@njit()
def turn(one: Any, record: Array, out: Array, chances: int, equities: int, step: int) -> None:
    """Ten numbers of a record as `State.told` has them, into out[chances], out[chances + step], ..."""
    out[chances] = one - record[0]
    out[chances + step] = record[3]
    out[chances + 2 * step] = record[4]
    out[chances + 3 * step] = record[1]
    out[chances + 4 * step] = record[2]
    out[equities] = -record[5]
    out[equities + step] = -record[9]
    out[equities + 2 * step] = -cube_taken(one, record[7], record[9])
    out[equities + 3 * step] = -cube_taken(one, record[8], record[9])
    out[equities + 4 * step] = -cube_taken(one, record[6], record[9])


@njit()
def finished(boards: Array, chequers: int, one: Any, us: int, them: int, record: Array) -> None:
    """The fixed values of a game that is over: the side with nothing left has won, the other side first."""
    record[:] = 0
    zero = one - one
    left_us = left_them = far = 0
    for i in range(PLACES):
        left_us += boards[us, i]
        left_them += boards[them, i]
    won = left_them > 0
    loser = boards[them] if won else boards[us]
    for i in range(18, PLACES):
        far += loser[i]
    whole = (left_them if won else left_us) == chequers
    sign = one if won else -one
    if won:
        record[0] = one
    first = 1 if won else 3
    gammon = backgammon = zero
    if whole:
        record[first] = gammon = one
        if far:
            record[first + 1] = backgammon = one
    for k in range(5, 10):
        record[k] = sign + sign * gammon + sign * backgammon
    record[8] = sign


@njit()
def decode(records: Array, values: Array) -> None:
    """values (m, 10) float32 from records (m, 28) uint8, as makehyper reads a file it restarts from."""
    scale = np.float32(1) / np.float32(16777215)
    half = np.float32(0.5)
    six = np.float32(6)
    one = np.float32(1)
    for m in range(len(records)):
        out = values[m]
        for k in range(9):
            low = np.int64(records[m, 3 * k]) | np.int64(records[m, 3 * k + 1]) << 8
            number = np.float32(low | np.int64(records[m, 3 * k + 2]) << 16) * scale
            if k < 5:
                out[k] = number
            else:
                out[k + 1] = (number - half) * six
        out[5] = ((out[0] + out[0]) - one) + ((out[1] - out[3]) + (out[2] - out[4]))


@njit()
def encode(values: Array, sixth: Any, half: Any, scale: Any, records: Array) -> None:
    """records (m, 28) uint8 from values (m, 10) float32: parts of 16777215, what is beyond cut off."""
    for m in range(len(values)):
        for k in range(9):
            number = values[m, k] * scale if k < 5 else (values[m, k + 1] * sixth + half) * scale
            whole = np.int64(number)
            records[m, 3 * k] = whole & 255
            records[m, 3 * k + 1] = whole >> 8 & 255
            records[m, 3 * k + 2] = whole >> 16 & 255
        records[m, 27] = 0
