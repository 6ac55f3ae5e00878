"""The gaps of the paper and how they are filled: C1 by default, alternatives as options.

docs/theory/bkg.md names and explains each choice. C1 was fitted to 24 moves of the paper's sample game and its
remarks on 15 opening rolls, of which it reproduces 22 and 13: that proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import PositionError, suggest_nearest
from bgfmt.extras.lab.tables import ROLLS as COLUMNS
from bgfmt.extras.lab.tables import domain_ids
from bgfmt.extras.lab.thumb import racing
from bgfmt.extras.lab.thumb.doubling import LIMITS, Zone
from bgfmt.game import board
from bgfmt.game.moves import ROLLS

Array = NDArray[Any]
#: {field of a completion: its values, C1's first}
CHOICES: dict[str, tuple[int | str, ...]] = {
    "scale": (36, 1),
    "moment2": ("all", "behind", "sum"),
    "escapes": ("sum", "full", "any", "past"),
    "contain_low": (9, 16),
    "hold": ("always", "behind", "gammon"),
    "bearoff": ("enr", "w"),
    "zone": tuple(LIMITS),
    "rounding": ("nearest", "none"),
}


class Kernel(NamedTuple):
    """A completion as the compiled functions take it, with numbers in place of words, and the bear-off table.

    escapes : (4096,) int64, see `escapes_table`.
    scale, low : see `Completion`; `low` is `contain_low`.
    moment, hold : index of the word among the choices of `moment2` and `hold`.
    limits : (2, 5) float64 thresholds of the zone, see `thumb.doubling`.
    nearest : 1.1 times the count is rounded.
    by_w : see `running.worth`.
    enr, chances : (54264,) expected rolls, infinite outside the table, and (54264, 8) P(1)..P(8), float64, by gnubg's
        position number.
    terms : (6, 16) int64, the binomials of that number.
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
    """One way to fill the gaps of the paper.

    scale : divisor of counts of rolls in Piploss and BLOT DANGER: 36, or 1 as printed.
    moment2 : mean of the squares over ``all`` men, over those ``behind``, or their ``sum``.
    escapes : which rolls get past a blockade, see `escapes_table`.
    contain_low : the last point of the range of Contain, 9 or 16.
    hold : when the bonus for holding a man counts: ``always``, 10 percent ``behind``, in ``gammon`` danger.
    bearoff : plays from the table by least expected rolls with the two exceptions (``enr``), or by the least W of
        the opponent (``w``).
    zone, rounding : of doubling, see `bgfmt.extras.lab.thumb`.
    """

    scale: int = 36
    moment2: str = "all"
    escapes: str = "sum"
    contain_low: int = 9
    hold: str = "always"
    bearoff: str = "enr"
    zone: Zone = "Z1"
    rounding: str = "nearest"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                words = ", ".join(map(str, choices))
                raise PositionError(f"{name} must be {words}, not {getattr(self, name)!r}")

    @classmethod
    def of(cls, words: Mapping[str, str]) -> Completion:
        """Parse options of an engine on the command line, such as ``{"scale": "1"}``.

        words : names and values as text. PositionError for unknown ones.
        """
        values: dict[str, Any] = {}
        for name, text in words.items():
            key = name.replace("-", "_")
            if key not in CHOICES:
                near = suggest_nearest(key, CHOICES)
                raise PositionError(f"BKG has no option {name!r}{near}; it has: {', '.join(CHOICES)}")
            values[key] = next((choice for choice in CHOICES[key] if str(choice) == text), text)
        return cls(**values)

    def place(self, name: str) -> int:
        """Return the index of the value of the field `name` in `CHOICES`."""
        return CHOICES[name].index(getattr(self, name))

    @cached_property
    def kernel(self) -> Kernel:
        """These options of BKG, with Gillogly's table, as a tuple for compiled functions."""
        means, every = racing.distributions()
        ids = domain_ids("union")
        enr = np.full(len(means), np.inf)
        enr[ids] = means[ids]
        chances = np.zeros((len(means), COLUMNS))
        chances[ids] = every[ids, :COLUMNS]
        return Kernel(
            escapes_table(self.escapes).astype(np.int64), float(self.scale), self.contain_low,
            self.place("moment2"), self.place("hold"), LIMITS[self.zone], self.rounding == "nearest",
            self.bearoff == "w", enr, chances, np.ascontiguousarray(board.number_terms(6), np.int64),
        )  # fmt: skip


C1 = Completion()


CODES = 4096


@cache
def escapes_table(reading: str = "sum") -> NDArray[np.uint8]:
    """Return how many rolls of 36 get past each blockade: (4096,) uint8, indexed by a bit mask.

    Bit d - 1 of the index is set if the other side holds the point at distance d.

    reading : what the paper may mean by getting past: "sum", "full", "any" or "past", see docs/theory/bkg.md.

    >>> int(escapes_table()[0b111111]), int(escapes_table()[0b100001010000])
    (0, 24)
    """
    rolls = (sum(w for a, b, w in ROLLS if _plays(code, a, b, reading)) for code in range(CODES))
    table = np.fromiter(rolls, np.uint8)
    table.setflags(write=False)
    return table


def _plays(code: int, a: int, b: int, reading: str) -> bool:
    """Return True if a roll gets past a blockade."""

    def open_(d: int) -> bool:
        """Return True if the other side does not hold the point d pips ahead."""
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
