"""The rules of thumb under study: what each makes of a position, and where it comes from.

A rule looks at `Pairs` and answers three questions for each: would the side on roll double a centered
cube, would it redouble its own, and would the other side take. None of them knows the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.extras.lab.study import counts
from bgfmt.extras.lab.thumb import doubling, racing

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """N positions, what a rule may look at.

    us, them : counts (N, 6) of the side on roll and of the other. our_chances, their_chances : (N, rolls) chances of
    each to need exactly 1, 2, ... rolls.
    """

    us: NDArray[Any]
    them: NDArray[Any]
    our_chances: Floats
    their_chances: Floats

    @cached_property
    def win(self) -> Floats:
        """W, the chance of the side on roll where both play for the fewest rolls, (N,)."""
        return racing.win_chance(self.our_chances, self.their_chances)

    @cached_property
    def our_rolls(self) -> Floats:
        """Mean rolls of the side on roll, (N,)."""
        return _mean(self.our_chances)

    @cached_property
    def their_rolls(self) -> Floats:
        """Mean rolls of the other side, (N,)."""
        return _mean(self.their_chances)


def _mean(chances: Floats) -> Floats:
    return np.asarray(chances @ np.arange(1, chances.shape[1] + 1))


class Decisions(NamedTuple):
    """What a rule says of N positions, bool arrays: double, redouble, and whether a double is taken."""

    double: Bools
    redouble: Bools
    take: Bools


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: its name, in words, who it is from, and what it decides."""

    name: str
    title: str
    source: str
    decide: Callable[[Pairs], Decisions]


@dataclass(frozen=True)
class Thresholds:
    """Double and redouble from a number on, take up to one; `score` counts in parts, of which `part` make one."""

    score: Callable[[Pairs], Any]
    double: float
    redouble: float
    take: float
    part: int = 1

    def __call__(self, pairs: Pairs) -> Decisions:
        """What the rule decides."""
        scores = self.score(pairs)
        double, redouble, take = (self.part * limit for limit in (self.double, self.redouble, self.take))
        return Decisions(scores >= double, scores >= redouble, scores <= take)


def _count(
    score: Callable[[Any, Any], Any], double: float, redouble: float, take: float, part: int = 1
) -> Thresholds:
    """Thresholds of the counts of two sides."""
    return Thresholds(lambda p: score(p.us, p.them), double, redouble, take, part)


def _by_win(zone: doubling.Zone) -> Any:
    def decide(p: Pairs) -> Decisions:
        doubles = partial(doubling.doubles, p.win, p.our_rolls, zone=zone)
        return Decisions(doubles(), doubles(owned=True), doubling.takes(p.win))

    return decide


_BKG = "H. J. Berliner, BKG, a program that plays backgammon, 1977"
_KEELER = "E. Keeler and J. Gillogly, Popular Bridge, June 1975, as BKG has it"
_KEITH = "T. Keith, Cube Handling in Noncontact Positions, 2004"
_TRICE = "W. Trice, Backgammon Boot Camp, 2004"
_ALL = (
    Rule("8-9-12", "pip count: double 8 % ahead, redouble 9 %, take up to 12 %", "folklore of the 1970s",
         _count(counts.percent_ahead, 8, 9, 12)),
    Rule("thorp", "Thorp's count", "E. O. Thorp, The Optimal Strategy for the Pure Running Game, 1975",
         _count(counts.thorp, -2, -1, 2, part=10)),
    Rule("ward", "Ward's count", "J. Ward, Winning Is More Fun", _count(counts.ward, -2, -1, 2, part=20)),
    Rule("keith", "Keith's count", _KEITH, _count(counts.keith, -4, -3, -2, part=7)),
    Rule("keith-gnubg", "Keith's count, not rounded, as GNU Backgammon has it", _KEITH,
         _count(partial(counts.keith, down=False), -4, -3, -2, part=7)),
    Rule("isight", "the Isight count", "A. Reichert, Improved Cube Handling in Races: Insights with Isight, 2014",
         _count(counts.isight, -6, -5, -2, part=6)),
    Rule("kleinman", "Kleinman's K", "D. Kleinman, Vision Laughs at Counting, 1980",
         _count(counts.kleinman, 0.44, 0.61, 1.2)),
    Rule("trice", "Trice's rule of 62 on pips", _TRICE, _count(counts.trice, -3, -2, 0)),
    Rule("trice-epc", "Trice's rule on effective pips", _TRICE,
         Thresholds(lambda p: counts.effective(p.our_rolls, p.their_rolls), -3, -2, 0)),
    Rule("acount", "the Keeler-Gillogly count, rounded", _KEELER, _count(counts.acount, -2, -1, 2, part=30)),
    Rule("acount-none", "the Keeler-Gillogly count, not rounded", _KEELER,
         _count(partial(counts.acount, rounded=False), -2, -1, 2, part=30)),
    Rule("w-z0", "winning chance: double from 65 %, take up to 79 %", _BKG, _by_win("Z0")),
    Rule("w-z1", "winning chance with thresholds by rolls below 65 %", f"{_BKG}; thresholds are ours",
         _by_win("Z1")),
    Rule("w-always", "winning chance: double from 51 %", f"{_BKG}; for comparison", _by_win("always")),
    Rule("w-best", "winning chance: double 63.75 %, redouble 66.25 %, take up to 76.75 %",
         "ours, the best single limits over six points and six chequers",
         Thresholds(lambda p: p.win, 0.6375, 0.6625, 0.7675)),
)  # fmt: skip
RULES = {rule.name: rule for rule in _ALL}


def chosen(names: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """The rules of these names, all where none is named; CapabilityError for one that there is not."""
    strange = [name for name in names if name not in RULES]
    if strange:
        raise CapabilityError(f"there is no rule {strange[0]!r}; there are {', '.join(RULES)}")
    return tuple(RULES[name] for name in names) or _ALL
