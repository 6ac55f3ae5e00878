"""What the paper leaves open, and how it is completed: C1 by default, its rivals as options.

Each choice is named and told in docs/theory/bkg.md. C1 was chosen with 24 moves of the paper's sample game and its
remarks on 15 opening rolls in view, of which it reproduces 22 and 13: that is a fit and no proof.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import PositionError
from bgfmt.extras.lab.thumb import racing
from bgfmt.extras.lab.thumb.doubling import LIMITS, Zone
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS
from bgfmt.game.moves import ROLLS

Array = NDArray[Any]
Escape = Literal["sum", "full", "any", "past"]
Moment = Literal["all", "behind", "sum"]
Hold = Literal["always", "behind", "gammon"]
Bearoff = Literal["enr", "w"]
Rounding = Literal["nearest", "none"]


class Kernel(NamedTuple):
    """What the kernels go by: the completion with numbers in place of words, and the table for the bear-off.

    escapes : (4096,) int64, by code. scale, low : see `Completion`. moment, hold : the place of the word among those
    there are. limits : (2, 5) float64 of the zone, see `thumb.doubling`. nearest : 1.1 times the count is rounded.
    by_w : see `running.worth`. enr (54264,), infinite outside the table, and chances (54264, 8) of P(1)..P(8),
    float64, by gnubg's position number; terms (6, 16) int64, the binomials of that number.
    """

    escapes: Array
    scale: float
    low: int
    moment: int
    hold: int
    limits: Array
    nearest: bool
    by_w: bool
    enr: Array
    chances: Array
    terms: Array


@dataclass(frozen=True)
class Completion:
    """One way to complete the paper.

    scale : what counts of rolls are divided by in Piploss and BLOT DANGER: 36, or 1 as printed.
    moment2 : mean of the squares over ``all`` men, over those ``behind``, or their ``sum``.
    escapes : which rolls get past a blockade, see `blockade`.
    contain_low : the last point of the range of Contain, 9 or 16.
    hold : when the bonus for holding a man counts: ``always``, 10 percent ``behind``, in ``gammon`` danger.
    bearoff : plays from the table by least expected rolls with the two exceptions (``enr``), or by the least W of
        the opponent (``w``).
    zone, rounding : of doubling, see `bgfmt.extras.lab.thumb`.
    """

    scale: int = 36
    moment2: Moment = "all"
    escapes: Escape = "sum"
    contain_low: int = 9
    hold: Hold = "always"
    bearoff: Bearoff = "enr"
    zone: Zone = "Z1"
    rounding: Rounding = "nearest"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        allowed: dict[str, tuple[object, ...]] = {"scale": (36, 1), "contain_low": (9, 16)}
        for field in fields(self):
            choices = allowed.get(field.name) or get_args(hints[field.name])
            if getattr(self, field.name) not in choices:
                words = ", ".join(map(str, choices))
                raise PositionError(f"{field.name} is {words}, not {getattr(self, field.name)!r}")

    @classmethod
    def of(cls, words: dict[str, str]) -> Completion:
        """The completion of such words as the command line has, ``{"scale": "1"}``; PositionError for others."""
        defaults = {field.name: field.default for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, text in words.items():
            key = name.replace("-", "_")
            if key not in defaults:
                raise PositionError(f"BKG has no option {name!r} (it has: {', '.join(defaults)})")
            values[key] = int(text) if isinstance(defaults[key], int) and text.isdecimal() else text
        return cls(**values)

    def place(self, name: str) -> int:
        """The place of the word chosen among those there are."""
        return get_args(get_type_hints(type(self))[name]).index(getattr(self, name))

    @cached_property
    def kernel(self) -> Kernel:
        """The same as numbers, with Gillogly's table."""
        (ids, rows) = racing.gillogly()
        every = board.count(6, MAX_CHEQUERS)
        enr = np.full(every, np.inf)
        chances = np.zeros((every, 8))
        enr[ids] = rows[:, 0]
        chances[ids] = rows[:, 1:]
        return Kernel(
            escapes_table(self.escapes).astype(np.int64), float(self.scale), self.contain_low,
            self.place("moment2"), self.place("hold"), LIMITS[self.zone], self.rounding == "nearest",
            self.bearoff == "w", enr, chances, np.ascontiguousarray(board.number_terms(6), np.int64),
        )  # fmt: skip


C1 = Completion()


CODES = 4096


@cache
def escapes_table(reading: Escape = "sum") -> NDArray[np.uint8]:
    """(4096,) uint8, rolls of 36 for each code, by one of the four readings.

    >>> int(escapes_table()[0b111111]), int(escapes_table()[0b100001010000])
    (0, 24)
    """
    rolls = (sum(w for a, b, w in ROLLS if _plays(code, a, b, reading)) for code in range(CODES))
    table = np.fromiter(rolls, np.uint8)
    table.setflags(write=False)
    return table


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
