"""The recipe of GNU Backgammon's `gnubg.bd` of 2001: one-sided distributions, and chances to win in doubles.

Differs from today's recipe in the rank that chooses a play: the mean from the sums before they are rounded, in whole
thousandths of a roll; and in the two-sided part, which is not an integer recipe but float64, roll after roll in the
order 1-1, 2-1, 2-2, ... 6-6. The rules were derived from the file: its MD5 sum, which the program of then checked, is
ffbb2108abe1fd1a79c6d9d3eadf56cf, and a test makes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.tables import OneSided, TwoSided

POINTS, ROLLS, WHOLE = 6, 32, 65535
ONE_SIDED, TWO_SIDED = 15, 6  # chequers of the two parts
THOUSANDTH = 2359  # 36 * 65535 / 1000, rounded: sums of 36 rolls in thousandths of a roll
NAME = "gnubg-2001"
MOST_PLAYS = 256


class Parts(NamedTuple):
    """The two tables of the file, in its order."""

    one_sided: OneSided
    two_sided: TwoSided


def solve() -> Parts:
    """Both tables: 6 points and 15 chequers one-sided without gammons, 6 points and 6 chequers two-sided cubeless."""
    terms = np.asarray(board.number_terms(POINTS), np.int64)
    rows = np.zeros((board.count(POINTS, ONE_SIDED), ROLLS), np.uint16)
    _one_sided(_counts(ONE_SIDED), terms, rows)
    n = board.count(POINTS, TWO_SIDED)
    chances = np.zeros((n, n), np.float64)
    _two_sided(_counts(TWO_SIDED), terms, chances)
    stored = (chances * 65535.5).astype(np.uint16)[..., None]
    common: dict[str, Any] = {
        "points": POINTS,
        "provenance": f"solved by bgfmt, recipe {NAME}",
        "recipe": NAME,
    }
    return Parts(
        OneSided(chequers=ONE_SIDED, bearoff=rows, **common),
        TwoSided(chequers=TWO_SIDED, equities=stored, **common),
    )


def _counts(chequers: int) -> Any:
    """Chequers on each point of all positions, (n, points) int64, in order of position number."""
    numbers = np.arange(board.count(POINTS, chequers))
    return np.ascontiguousarray(board.unrank_array(numbers, POINTS), np.int64)


@njit()
def _number(side: Any, terms: Any) -> int:
    above = 0
    number = 0
    for k in range(POINTS):
        above += side[POINTS - 1 - k]
        number += terms[k, above]
    return number


@njit()
def _move(side: Any, point: int, die: int) -> bool:
    """Move a chequer of `side` from an index by a die, where the rules allow it; whether they do."""
    if side[point] == 0:
        return False
    to = point - die
    if to < -1:
        for higher in range(point + 1, POINTS):
            if side[higher] > 0:
                return False
    side[point] -= 1
    if to >= 0:
        side[to] += 1
    return True


@njit()
def _take_back(side: Any, point: int, die: int) -> None:
    side[point] += 1
    if point >= die:
        side[point - die] -= 1


@njit()
def _plays(side: Any, high: int, low: int, terms: Any, found: Any) -> int:
    """Position numbers after a roll, in the order in which they are found, repeats included; how many there are."""
    many = 0
    if high != low:
        for swapped in range(2):
            first, second = (low, high) if swapped else (high, low)
            for p in range(POINTS - 1, -1, -1):
                if not _move(side, p, first):
                    continue
                if _number(side, terms) == 0:
                    found[many] = 0
                    many += 1
                for q in range(POINTS - 1, -1, -1):
                    if _move(side, q, second):
                        found[many] = _number(side, terms)
                        many += 1
                        _take_back(side, q, second)
                _take_back(side, p, first)
        return many
    at = np.full(4, POINTS, np.int64)
    depth = 0
    while depth >= 0:
        at[depth] -= 1
        if at[depth] < 0:
            depth -= 1
            if depth >= 0:
                _take_back(side, at[depth], high)
            continue
        if not _move(side, at[depth], high):
            continue
        number = _number(side, terms)
        if depth == 3 or number == 0:
            found[many] = number
            many += 1
            _take_back(side, at[depth], high)
            continue
        depth += 1
        at[depth] = at[depth - 1] + 1
    return many


@njit()
def _one_sided(counts: Any, terms: Any, rows: Any) -> None:
    """Distributions of all positions; a play leads to a lower position number, so their order will do."""
    n = len(counts)
    rank = np.zeros(n, np.int64)
    found = np.zeros(MOST_PLAYS, np.int64)
    sums = np.zeros(ROLLS, np.int64)
    rows[0, 0] = WHOLE
    for x in range(1, n):
        side = counts[x].copy()
        sums[:] = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                best = -1
                for k in range(_plays(side, high, low, terms, found)):
                    if best < 0 or rank[found[k]] < rank[best]:
                        best = found[k]
                weight = 1 if high == low else 2
                for i in range(ROLLS - 1):
                    sums[i + 1] += weight * rows[best, i]
        total = 0
        mean = 0
        most = 0
        for i in range(ROLLS):
            mean += i * sums[i]
            value = (sums[i] + 18) // 36
            rows[x, i] = value
            total += value
            if value > rows[x, most]:
                most = i
        rows[x, most] -= total - WHOLE
        rank[x] = mean // THOUSANDTH


@njit()
def _two_sided(counts: Any, terms: Any, chances: Any) -> None:
    """Chance of the side on roll to win, [us, them], float64; by rising us + them."""
    n = len(counts)
    found = np.zeros(MOST_PLAYS, np.int64)
    ends = np.zeros((n, 21), np.int64)
    plays = np.zeros((n, 21, MOST_PLAYS), np.int32)
    for x in range(1, n):
        side = counts[x].copy()
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                ends[x, roll] = _plays(side, high, low, terms, found)
                plays[x, roll, : ends[x, roll]] = found[: ends[x, roll]]
                roll += 1
    chances[0] = 1.0
    for total in range(2, 2 * n - 1):
        for us in range(max(1, total - n + 1), min(n, total)):
            them = total - us
            value = 0.0
            roll = 0
            for high in range(1, 7):
                for low in range(1, high + 1):
                    best = -1.0
                    for k in range(ends[us, roll]):
                        best = max(best, 1.0 - chances[them, plays[us, roll, k]])
                    value += best if high == low else 2.0 * best
                    roll += 1
            chances[us, them] = value / 36.0
