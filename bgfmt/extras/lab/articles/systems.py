"""Functions of three articles, under the names that their authors gave them.

H. A. Peelle, "Backgammon tools in J", Vector 24 (1: expected rolls; 4: ace-point bearoffs): `Rolls`, `Pwin`, `Ace`,
`BTree`, `BTreeA`, `DoubleOffAce`. A. Benjamin and A. M. Ross, "Enumerating backgammon positions: the perfect hash",
Interface XVI 1 (1996): `multichoose`, `bearoff_positions` and, from `bgfmt.orders`, the hash itself. A blog of
19 October 2011, "Bearoff databases": `layouts`, `two_sided_layouts`; its values are those
of the solver `expected-points`.

Functions with a parameter `exact` can return fractions instead of floats; `BTree` and `BTreeA` use the type of number
that they are given. Floats are added in the order of the articles, so that they agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from bgfmt import solver
from bgfmt.errors import PositionError
from bgfmt.extras.lab.orders import *  # noqa: F403 - Ross's hash and the other orders answer here too
from bgfmt.extras.lab.orders import multichoose
from bgfmt.game.board import MAX_CHEQUERS, Side, count
from bgfmt.game.moves import ROLLS, side_plays

Number = float | Fraction
Counts = Side | Sequence[int]
MAX_POSITIONS = 4_000_000  # solved for one call of `Rolls`, which takes some seconds


def _constants(exact: bool) -> tuple[Number, Number, Number]:
    """Return 1/6 (a double), 5/6 (no double) and 1, as floats or fractions."""
    return (Fraction(1, 6), Fraction(5, 6), Fraction(1)) if exact else (1 / 6, 5 / 6, 1.0)


# -- Peelle, part 1: expected rolls ----------------------------------------------------------------------


def Rolls(counts: Counts, *, exact: bool = False) -> Number:
    """Return the least expected number of rolls to bear off all chequers, after an article by Peelle.

    A number larger than the distance bears off from the highest occupied point (the maximum sign of his appendix). He
    has six points; farther back the rules of the game apply. Floats come from the solver's table, fractions (for few
    chequers) from the definition.

    counts : chequers from the ace point up. exact : return a fraction. PositionError for a side on the bar or beyond
    what is solved.

    >>> Rolls((0, 1, 0, 0, 1, 0), exact=True)
    Fraction(239, 162)
    """
    side = counts if isinstance(counts, Side) else Side(*counts)
    if side.bar:
        raise PositionError(f"{side}: Rolls needs chequers on points, not on the bar")
    if exact or side.chequers <= 3:
        return _mean(side) if exact else float(_mean(side))
    points = max(6, side.highest)
    chequers = MAX_CHEQUERS if points == 6 else side.chequers
    if (positions := count(points, chequers)) > MAX_POSITIONS:
        raise PositionError(
            f"{side}: Rolls of {chequers} chequers on {points} points needs {positions:,} positions; "
            f"at most {MAX_POSITIONS:,} are solved for one answer"
        )
    return float(_means(points, chequers)[side.number(points)])


@cache
def _means(points: int, chequers: int) -> Any:
    """Return the expected rolls of all positions of a size, cached."""
    return solver.mean_rolls(points, chequers).means


@cache
def _mean(side: Side) -> Fraction:
    """Return the least expected number of rolls as a fraction."""
    if not side.chequers:
        return Fraction(0)
    parts = (weight * min(map(_mean, side_plays(side, (a, b)))) for a, b, weight in ROLLS)
    return 1 + Fraction(sum(parts), 36)


@cache
def distribution(side: Side) -> tuple[Fraction, ...]:
    """Return the exact probabilities of 0, 1, 2, ... rolls to bear off, with play for the fewest expected rolls."""
    if not side.chequers:
        return (Fraction(1),)
    total: list[Fraction] = [Fraction(0)]
    for a, b, weight in ROLLS:
        best = min(side_plays(side, (a, b)), key=_mean)
        after = distribution(best)
        total += [Fraction(0)] * (len(after) + 1 - len(total))
        for i, chance in enumerate(after):
            total[i + 1] += chance * Fraction(weight, 36)
    return tuple(total)


def Pwin(ours: Any, theirs: Any) -> Any:
    """Return the probability that the side on roll bears off first, after an article by Peelle.

    The side on roll wins if both need equally many rolls.

    ours, theirs : probabilities of bearing off in exactly 0, 1, 2, ... rolls (floats or fractions), or Sides, whose
    exact distributions are then computed.

    >>> float(Pwin(Side(8), Side(6)))  # doctest: +ELLIPSIS
    0.30105...
    """
    a, b = (distribution(x) if isinstance(x, Side) else list(x) for x in (ours, theirs))
    later: Any = sum(b)
    win: Any = 0
    for i, chance in enumerate(a):
        win += chance * later
        if i < len(b):
            later -= b[i]
        else:
            break
    return win


# -- Peelle, part 4: ace-point bearoffs -------------------------------------------------------------------


@cache
def _ace(a: int, b: int, exact: bool) -> Number:
    """Return `Ace` of a and b pairs of pieces, built up from the smallest numbers to avoid deep recursion."""
    double, single, one = _constants(exact)
    most = max(a, b)
    results: dict[tuple[int, int], Number] = {}  # a side without pieces has won, and is not in it
    for total in range(1, a + b + 1):
        for x in range(max(1, total - most), min(total, most) + 1):
            o = total - x
            after_double = results.get((o, max(x - 2, 0)), one)
            results[x, o] = one - (double * after_double + single * results.get((o, x - 1), one))
    return results.get((a, b), one)


def Ace(x: int, o: int, *, exact: bool = False) -> Number:
    """Return the probability that the player on roll wins an ace-point bearoff (Peelle's `Ace`).

    The formula is 1 - (1/6 Ace(o, x-4) + 5/6 Ace(o, x-2)), and 1 where x < 1 (a player without pieces has won
    already).

    x, o : pieces on the ace point of the player on roll and of the other. exact : return a fraction.

    >>> Ace(8, 6, exact=True)
    Fraction(2341, 7776)
    """
    return _ace(max(0, -(-x // 2)), max(0, -(-o // 2)), exact)


def BTree(p: Any, level: int) -> list[Any]:
    """Return level `level` of the binary probability tree of `p`: 2 ** level products of `p` and 1 - `p`.

    >>> BTree(Fraction(1, 6), 1)
    [Fraction(1, 6), Fraction(5, 6)]
    """
    if level > 24:
        raise PositionError(f"level {level} of the tree has 2^{level} numbers; the highest level is 24")
    tree: list[Any] = [p**0]
    for _ in range(max(0, level)):
        tree = [p * value for value in tree] + [(1 - p) * value for value in tree]
    return tree


def BTreeA(p: Any, level: int) -> list[Any]:
    """Return a level of the tree in which a double (probability `p`) advances two levels and any other roll one.

    The sum is the probability that a stack of `level` pairs on the ace point goes off with a double on the last roll.

    >>> sum(BTreeA(Fraction(1, 6), 8))
    Fraction(479891, 1679616)
    """
    if level > 30:
        raise PositionError(f"level {level} of the truncated tree is too long; the highest level is 30")
    this = [p**0]
    after = [p**1, 0 * p]
    for _ in range(level):
        further = [p * value for value in this] + [(1 - p) * value for value in after]
        this = after
        after = further
    return this


def DoubleOffAce(n: int, *, exact: bool = False) -> Number:
    """Return the probability that the last pieces of a stack of `n` on the ace point go off with a double.

    The limit for large n is 2/7.

    exact : return a fraction.

    >>> round(DoubleOffAce(15), 6)
    0.285715
    """
    double, single, one = _constants(exact)
    values: list[Number] = [one]  # by pairs of pieces
    for pairs in range(1, -(-n // 2) + 1):
        after = values[max(0, pairs - 2)]
        values.append(double * after + (single * values[pairs - 1] if pairs > 1 else 0 * one))
    return values[max(0, -(-n // 2))]


# -- counting --------------------------------------------------------------------------------------------


def bearoff_positions(points: int = 6, chequers: int = MAX_CHEQUERS) -> int:
    """Return the number of positions of one side, including all off: (points + 1) multichoose chequers.

    >>> bearoff_positions()
    54264
    """
    return multichoose(points + 1, chequers)


def naive_cells(points: int = 6, chequers: int = MAX_CHEQUERS) -> int:
    """Return (chequers + 1) ** (points + 1): the size of an array indexed by the chequers on each point and off.

    It is Ross's 16 ** 7 for six points and fifteen chequers.
    """
    return int((chequers + 1) ** (points + 1))


def layouts(points: int, chequers: int) -> int:
    """Return the number of layouts of one side with 1 to M chequers on N points, C(N + M, M) - 1.

    The formula is that of a blog of 2011. points, chequers : N and M.
    """
    return comb(points + chequers, chequers) - 1


def two_sided_layouts(points: int, chequers: int) -> int:
    """Return the number of layouts of both sides with 1 to M chequers on N points, ((N + M)! / N! / M! - 1) ** 2.

    The formula is that of a blog of 2011. points, chequers : N and M.

    >>> two_sided_layouts(6, 10)
    64112049
    """
    return int(layouts(points, chequers) ** 2)
