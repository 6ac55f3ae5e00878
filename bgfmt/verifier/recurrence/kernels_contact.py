"""What makebearoff makes of pairs whose sides have not passed each other, in compiled loops; see `contact`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_two_sided import LOW, turn

Array = Any
HOME = 6
STUCK = -65535  # what a roll without a play counts


@njit()
def moved(us: Array, them: Array, source: int, die: int, after: Array, met: Array) -> bool:
    """Move a chequer of ours from `source` (0 is point 1): the sides after it in `after` and `met`, or False."""
    points = len(us)
    if us[source] == 0:
        return False
    to = source - die
    if to < 0:
        for k in range(HOME if to == -1 else source + 1, points):
            if us[k] and (k >= HOME or to < -1):
                return False
    place = 23 - to  # of the point it lands on, as they count
    if to >= 0 and place < points and them[place] > 1:
        return False
    after[:] = us
    met[:] = them
    after[source] -= 1
    if to >= 0:
        if place < points and them[place] == 1:
            after[to] = 1
            met[place] = 0
        else:
            after[to] += 1
    return True


@njit()
def weigh(row: Array, after: Array, terms: Array, best: Array) -> None:
    """Take the values of a play to `after` where they are greater; row : (n, columns), the other side's."""
    points, columns = len(after), row.shape[1]
    number, above = 0, 0
    for k in range(points):
        above += after[points - 1 - k]
        number += terms[k, above]
    e0 = np.int64(row[number, 0]) + LOW
    best[0] = max(best[0], ~e0)
    if columns == 4:
        e1 = np.int64(row[number, 1]) + LOW
        e2 = np.int64(row[number, 2]) + LOW
        e3 = np.int64(row[number, 3]) + LOW
        best[1] = max(best[1], ~e3)
        best[2] = max(best[2], ~turn(e2, e3))
        best[3] = max(best[3], ~turn(e1, e3))


@njit()
def singles(
    us: Array,
    them: Array,
    row: Array,
    terms: Array,
    one: int,
    two: int,
    boards: Array,
    met: Array,
    best: Array,
) -> int:
    """The plays of two different dice, `one` first, that use both; how many there are."""
    points, found = len(us), 0
    for a in range(points):
        if moved(us, them, a, one, boards[0], met[0]):
            for b in range(points):
                if moved(boards[0], met[0], b, two, boards[1], met[1]):
                    weigh(row, boards[1], terms, best)
                    found += 1
    return found


@njit()
def only(
    us: Array, them: Array, row: Array, terms: Array, die: int, boards: Array, met: Array, best: Array
) -> int:
    """The plays of one die; how many there are."""
    found = 0
    for a in range(len(us)):
        if moved(us, them, a, die, boards[0], met[0]):
            weigh(row, boards[0], terms, best)
            found += 1
    return found


@njit()
def doubles(
    us: Array, them: Array, row: Array, terms: Array, die: int, boards: Array, met: Array, best: Array
) -> None:
    """The plays of a double that use as many dice as can be used, the highest chequers first."""
    points = len(us)
    next_source = np.zeros(5, np.int64)
    any_here = np.zeros(5, np.bool_)
    depth, most = 0, 0
    boards[0] = us
    met[0] = them
    next_source[0] = points - 1
    while depth >= 0:
        deeper = False
        while next_source[depth] >= 0:
            source = next_source[depth]
            next_source[depth] -= 1
            if moved(boards[depth], met[depth], source, die, boards[depth + 1], met[depth + 1]):
                any_here[depth] = True
                depth += 1
                next_source[depth] = source if depth < 4 else -1
                any_here[depth] = False
                deeper = True
                break
        if deeper:
            continue
        if depth and not any_here[depth] and depth >= most:
            if depth > most:
                best[:] = STUCK
                most = depth
            weigh(row, boards[depth], terms, best)
        depth -= 1


@njit()
def values(rows: Array, us: Array, them: Array, at: Array, terms: Array, out: Array) -> None:
    """out[i] = what makebearoff gives for sides us[i] and them[i], (m, points) int8, from row at[i] of `rows`.

    rows : (r, n, columns) uint16, those of the other side on roll. out : (m, columns) int64, as stored.
    """
    points, columns = us.shape[1], rows.shape[2]
    boards, met = np.zeros((5, points), np.int8), np.zeros((5, points), np.int8)
    best, total = np.empty(4, np.int64), np.empty(4, np.int64)
    for i in range(len(us)):
        row = rows[at[i]]
        total[:] = 0
        for a in range(1, 7):
            for b in range(1, a + 1):
                best[:] = STUCK
                if a == b:
                    doubles(us[i], them[i], row, terms, a, boards, met, best)
                else:
                    found = singles(us[i], them[i], row, terms, a, b, boards, met, best)
                    found += singles(us[i], them[i], row, terms, b, a, boards, met, best)
                    if found == 0 and only(us[i], them[i], row, terms, a, boards, met, best) == 0:
                        only(us[i], them[i], row, terms, b, boards, met, best)
                for c in range(columns):
                    total[c] += best[c] if a == b else 2 * best[c]
        for c in range(columns):
            value = total[c]
            out[i, c] = 32768 + value // 36 if value >= 0 else 32768 - (-value) // 36
