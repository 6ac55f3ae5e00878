"""Counts of whole numbers that people can keep in mind: what they may add to the pips, and what decides by them.

A rule of this form has a count for each side, pips and a whole number for each of some terms. The lead is the other
side's count less that of the side on roll, to which its n-th part is added, rounded down. It doubles and redoubles
from a lead on, and takes up to one. `bgfmt.extras.lab.study.search` looks for the best of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.study.counts import HOME, of_chequers, pips

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Term:
    """What a count may add: in words, how many numbers it takes to remember with its weight, and of counts (N, 6 or
    more) how many there are, (N,), never negative."""

    words: str
    numbers: int
    of: Callable[[Integers], Any]


def _beyond(points: slice, allowed: int) -> Callable[[Integers], Any]:
    return lambda counts: np.maximum(counts[..., points].sum(axis=-1) - allowed, 0)


def _chequers(points: slice) -> Callable[[Integers], Any]:
    return _beyond(points, 0)


TERMS = {
    "chequer": Term("chequer", 1, _chequers(slice(None))),
    "pair": Term("two chequers left, and for one that is over", 1, lambda c: -(-c.sum(axis=-1) // 2)),
    "ace": Term("chequer on the ace point", 1, _chequers(slice(0, 1))),
    "low": Term("chequer on the ace or the 2 point", 1, _chequers(slice(0, 2))),
    "three": Term("chequer on the ace, 2 or 3 point", 1, _chequers(slice(0, 3))),
    "outside": Term("chequer outside the home board", 1, _chequers(slice(HOME, None))),
    "gap": Term("empty point of the home board", 1, lambda c: (c[..., :HOME] == 0).sum(axis=-1)),
    "high gap": Term("empty point 4, 5 or 6", 1, lambda c: (c[..., 3:HOME] == 0).sum(axis=-1)),
    "ace>1": Term("chequer beyond one on the ace point", 2, _beyond(slice(0, 1), 1)),
    "ace>2": Term("chequer beyond two on the ace point", 2, _beyond(slice(0, 1), 2)),
    "low>2": Term("chequer beyond two on the ace and the 2 point", 2, _beyond(slice(0, 2), 2)),
    "stack>3": Term("chequer beyond three on a point", 2, lambda c: np.maximum(c - 3, 0).sum(axis=-1)),
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

    def lead(self, us: Any, them: Any) -> Integers:
        """How far the other side is behind, (N,)."""
        own = self.count(us)
        return self.count(them) - own - (own // self.part if self.part else 0)

    def decide(self, pairs: Any) -> tuple[NDArray[np.bool_], ...]:
        """Whether to double, to redouble and to take, each bool (N,), of what has sides `us` and `them`."""
        lead = self.lead(pairs.us, pairs.them)
        return lead >= self.double, lead >= self.redouble, lead <= self.take

    def __str__(self) -> str:
        terms = "".join(f", {weight:+} each {TERMS[name].words}" for name, weight in self.weights)
        part = f"add 1/{self.part} to your own; " if self.part else ""
        limits = f"double from {self.double:+}, redouble from {self.redouble:+}, take up to {self.take:+}"
        return f"pips{terms}; {part}{limits}"
