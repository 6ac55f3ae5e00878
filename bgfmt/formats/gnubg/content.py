"""What the numbers of a file without header say of the table they belong to.

Some entries follow from the rules of the game alone, without a table: a side all of whose chequers are off has
won, and where the opponent's last chequer comes off with any roll, the side on roll wins just as often as it bears
off in one roll. Each is compared with what the file has, as far as its size says that it could be that table.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import moves
from bgfmt.game.board import Side

FEW = 40  # sides whose chance to bear off in one roll is compared
OF = 36
LOOKED_AT = 64  # rows of a two-sided table


def two_sided(rows: NDArray[Any], points: int) -> bool:
    """Whether stored equities (n, n, columns) can be those of a table of so many points.

    Row 0 (we have borne off) is all 0xFFFF, column 0 (they have) all 0, and column 1 (they have a chequer on the ace
    point) holds 65535 times the chance to bear off in one roll, rounded one way or the other.
    """
    some = rows[np.unique(np.linspace(0, len(rows) - 1, LOOKED_AT, dtype=np.int64))]
    if not (some[0] == 0xFFFF).all() or some[1:, 0].any():
        return False
    sides = min(len(rows), FEW)
    wanted = np.array([one_roll(number, points) for number in range(1, sides)], np.int64)
    found = rows[1:sides][:, 1, 0].astype(np.int64)
    return bool((np.abs(found * OF - wanted * 65535) <= 2 * OF).all())


def distributions(rows: NDArray[Any], points: int) -> bool:
    """Whether distributions (n, parts, 32) can be those of a table of so many points, side by side.

    All add up to 65535, and the first number of rolls is 1 as often as a roll bears the whole side off.
    """
    some = rows[np.arange(0, len(rows), max(1, len(rows) // 1000))]
    if not (some.sum(axis=2, dtype=np.int64) == 65535).all():
        return False
    sides = min(len(rows), FEW)
    wanted = np.array([one_roll(number, points) for number in range(1, sides)], np.int64)
    found = rows[1:sides][:, 0, 1].astype(np.int64)
    return bool((np.abs(found * OF - wanted * 65535) <= 2 * OF).all())


@cache
def one_roll(number: int, points: int) -> int:
    """In how many of 36 rolls the side of this position number bears off all its chequers at once."""
    side = Side.from_number(number, points)
    if side.chequers > 4:
        return 0
    counts = side.padded(points)
    done = (0,) * points
    return sum(roll.weight * (done in moves.race_plays(counts, roll.high, roll.low)) for roll in moves.ROLLS)
