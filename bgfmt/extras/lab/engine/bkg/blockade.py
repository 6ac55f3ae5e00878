"""The blockade table: 12 bits of points made in front of a man to the number of rolls that he can play.

Bit d - 1 of a code is set where the enemy has made the point d pips in front of the man, d = 1..12. The paper calls
an entry once the rolls that can be played and once those that get past the blockade; four readings are built:

sum : the man can move the sum of the two dice over an open point (of doubles, two parts). BKG's, by its moves.
full : the same, but of a double all four parts.
any : one of the dice can be played.
past : as `sum`, and the man lands beyond the nearest point made; 0 where there is none.

With fifteen men at most seven points can be made, so 3302 of the 4096 codes can be.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game.moves import ROLLS

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.completion import Escape

CODES = 4096
MOST_MADE = 7


@cache
def escapes_table(reading: Escape = "sum") -> NDArray[np.uint8]:
    """(4096,) uint8, rolls of 36 for each code, by one of the four readings.

    >>> int(escapes_table()[0b111111]), int(escapes_table()[0b100001010000])
    (0, 24)
    """
    table = np.array(
        [sum(w for a, b, w in ROLLS if _plays(c, a, b, reading)) for c in range(CODES)], np.uint8
    )
    table.setflags(write=False)
    return table


def possible() -> NDArray[np.int64]:
    """The codes of at most seven points, ascending."""
    return np.array([code for code in range(CODES) if code.bit_count() <= MOST_MADE], np.int64)


def packed(table: NDArray[Any]) -> bytes:
    """Six bits an entry, four entries in three bytes, the first in the high bits."""
    bits = np.unpackbits(np.asarray(table, np.uint8)[:, None], axis=1)[:, 2:]
    return np.packbits(bits.reshape(-1)).tobytes()


def _plays(code: int, a: int, b: int, reading: Escape) -> bool:
    def open_(d: int) -> bool:
        return d > 12 or not code >> (d - 1) & 1

    if reading == "any":
        return open_(a) or open_(b)
    if a == b and reading == "full":
        return all(open_(k * a) for k in range(1, 5))
    over = open_(a + b) and (open_(a) or open_(b))
    if reading == "past":
        nearest = (code & -code).bit_length()
        return over and 0 < nearest < a + b
    return over
