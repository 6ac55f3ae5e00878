"""Counts that people can keep in mind: what they may add to the pips, and what decides by them.

A rule of this form has a count for each side: pips and a whole number for each of some terms. The lead is the other
side's count less that of the side on roll, to which its n-th part is added, rounded down. The side on roll doubles
and redoubles from a lead on, the other side takes up to one. `bgfmt.extras.lab.study.search` looks for the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.study.counts import HOME, of_chequers, pips
from bgfmt.extras.lab.study.rules import Decisions

Integers = NDArray[np.int64]
WEIGHTS = (-3, 6)


class Term(NamedTuple):
    """What a count may add: in words, how many numbers it takes to remember with its weight, how many there are on
    counts (..., 6 or more), and the least and the greatest weight."""

    words: str
    numbers: int
    of: Callable[[Integers], Any]
    weights: tuple[int, int] = WEIGHTS


def _beyond(points: slice, allowed: int) -> Callable[[Integers], Any]:
    return lambda counts: np.maximum(counts[..., points].sum(axis=-1) - allowed, 0)


def _short(least: int, allowed: int) -> Callable[[Integers], Any]:
    """What chequers beyond `allowed` on their point fall short of `least` pips."""
    lacking = np.arange(least - 1, 0, -1)
    return lambda counts: np.maximum(counts[..., : least - 1] - allowed, 0) @ lacking


TERMS = {
    "chequer": Term("chequer", 1, _beyond(slice(None), 0)),
    "pair": Term("two chequers, and for an odd one", 1, lambda c: -(-c.sum(axis=-1) // 2)),
    "odd": Term("odd number of chequers", 1, lambda c: c.sum(axis=-1) % 2),
    "ace": Term("chequer on the ace point", 1, _beyond(slice(0, 1), 0)),
    "low": Term("chequer on the ace or the 2 point", 1, _beyond(slice(0, 2), 0)),
    "three": Term("chequer on the ace, 2 or 3 point", 1, _beyond(slice(0, 3), 0)),
    "outside": Term("chequer outside the home board", 1, _beyond(slice(HOME, None), 0)),
    "gap": Term("empty point of the home board", 1, lambda c: (c[..., :HOME] == 0).sum(axis=-1)),
    "high gap": Term("of the points 4, 5, 6 that is empty", 1, lambda c: (c[..., 3:HOME] == 0).sum(axis=-1)),
    "ace>1": Term("chequer beyond one on the ace point", 2, _beyond(slice(0, 1), 1)),
    "ace>2": Term("chequer beyond two on the ace point", 2, _beyond(slice(0, 1), 2)),
    "low>2": Term("chequer beyond two on the ace and the 2 point", 2, _beyond(slice(0, 2), 2)),
    "stack>3": Term("chequer beyond three on a point", 2, lambda c: np.maximum(c - 3, 0).sum(axis=-1)),
    "least 3": Term("pip that a chequer is short of 3", 1, _short(3, 0), (1, 1)),
    "least 3>1": Term("pip that a chequer beyond one on its point is short of 3", 2, _short(3, 1), (1, 1)),
    "least 3>2": Term("pip that a chequer beyond two on its point is short of 3", 2, _short(3, 2), (1, 1)),
    "least 4": Term("pip that a chequer is short of 4", 1, _short(4, 0), (1, 1)),
}


@dataclass(frozen=True)
class Counted:
    """A rule by a count. weights : of terms, by name. part : the part of its own count that the side on roll adds is
    the part-th, 0 for none. double, redouble : least leads. take : the greatest."""

    weights: tuple[tuple[str, int], ...]
    part: int
    double: int
    redouble: int
    take: int

    @property
    def numbers(self) -> int:
        """How many numbers are to be remembered: of terms, the part, and limits that are not 0 and differ."""
        limits = {self.double, self.redouble, self.take} - {0}
        return sum(TERMS[name].numbers for name, _ in self.weights) + (self.part > 0) + len(limits)

    def count(self, side: Any) -> Integers:
        """The count of a side, (N,)."""
        counts = of_chequers(side)
        return np.asarray(pips(counts) + sum(w * TERMS[name].of(counts) for name, w in self.weights))

    def decide(self, pairs: Any) -> Decisions:
        """Whether to double, to redouble and to take, each bool (N,), of what has sides `us` and `them`."""
        own = self.count(pairs.us)
        lead = self.count(pairs.them) - own - (own // self.part if self.part else 0)
        return Decisions(lead >= self.double, lead >= self.redouble, lead <= self.take)

    def __str__(self) -> str:
        terms = "".join(f", {weight:+} for each {TERMS[name].words}" for name, weight in self.weights)
        part = f"1/{self.part} of the own count added; " if self.part else ""
        return (
            f"pips{terms}; {part}double {self.double:+}, redouble {self.redouble:+}, take up to {self.take:+}"
        )
