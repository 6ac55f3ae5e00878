"""The rules of thumb under study: what each decides for a position, and its source.

A rule takes `Pairs` and returns for each whether the side on roll doubles a centered cube, whether it redoubles its
own, and whether the other side takes. No rule uses the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, suggest_nearest
from bgfmt.extras.lab.study import counts
from bgfmt.extras.lab.thumb import doubling, racing

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """N positions as rules see them.

    us, them : (N, 6) chequers by point of the side on roll and of the other.
    our_chances, their_chances : (N, rolls) probabilities of each side to need exactly 1, 2, ... rolls.
    """

    us: NDArray[Any]
    them: NDArray[Any]
    our_chances: Floats
    their_chances: Floats

    @cached_property
    def win(self) -> Floats:
        """Win probability of the side on roll if both sides play for the fewest rolls, (N,)."""
        return racing.win_chance(self.our_chances, self.their_chances)

    @cached_property
    def our_rolls(self) -> Floats:
        """Expected rolls of the side on roll, (N,)."""
        return _mean(self.our_chances)

    @cached_property
    def their_rolls(self) -> Floats:
        """Expected rolls of the other side, (N,)."""
        return _mean(self.their_chances)


def _mean(chances: Floats) -> Floats:
    """Return the means of distributions of rolls."""
    return np.asarray(chances @ np.arange(1, chances.shape[1] + 1))


class Decisions(NamedTuple):
    """The decisions of a rule for N positions, (N,) bool: double, redouble, and whether a double is taken."""

    double: Bools
    redouble: Bools
    take: Bools


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: its name, a title, its source, and the function that decides."""

    name: str
    title: str
    source: str
    decide: Callable[[Pairs], Decisions]


@dataclass(frozen=True)
class Thresholds:
    """A rule that compares a count with limits: double and redouble from a limit on, take up to one.

    score : returns the counts of pairs as multiples of 1 / `part`, for exact comparisons.
    """

    score: Callable[[Pairs], Any]
    double: float
    redouble: float
    take: float
    part: int = 1

    def __call__(self, pairs: Pairs) -> Decisions:
        """Return the decisions for some pairs."""
        scores = self.score(pairs)
        double, redouble, take = (self.part * limit for limit in (self.double, self.redouble, self.take))
        return Decisions(scores >= double, scores >= redouble, scores <= take)


def _count(
    score: Callable[[Any, Any], Any], double: float, redouble: float, take: float, part: int = 1
) -> Thresholds:
    """Return a rule with limits for a count of two sides."""
    return Thresholds(lambda p: score(p.us, p.them), double, redouble, take, part)


def _by_win(zone: doubling.Zone) -> Any:
    """Return a rule that decides by W, with the thresholds of a zone."""

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
    Rule("best-6", "the best count of six numbers", "ours, docs/theory/best-count.md",
         _count(counts.six_numbers, -3, -3, 0)),
    Rule("w-z0", "winning chance: double from 65 %, take up to 79 %", _BKG, _by_win("Z0")),
    Rule("w-z1", "winning chance with thresholds by rolls below 65 %", f"{_BKG}; thresholds are ours",
         _by_win("Z1")),
    Rule("w-always", "winning chance: double from 51 %", f"{_BKG}; for comparison", _by_win("always")),
    Rule("w-best", "winning chance: double 63.75 %, redouble 66.25 %, take up to 76.75 %",
         "ours, the best single limits over six points and six chequers",
         Thresholds(lambda p: p.win, 0.6375, 0.6625, 0.7675)),
)  # fmt: skip
RULES = {rule.name: rule for rule in _ALL}


def select_rules(names: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """Return the rules of thumb of these names, all if none is given; CapabilityError for an unknown name."""
    strange = [name for name in names if name not in RULES]
    if strange:
        near = suggest_nearest(strange[0], RULES)
        raise CapabilityError(f"no rule {strange[0]!r}{near}; known: {', '.join(RULES)}")
    return tuple(RULES[name] for name in names) or _ALL
