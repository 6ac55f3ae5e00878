"""An oracle of expected points, the two-sided database of a 2011 blog, in fractions; the cube is ignored.

    v(us, them) = (1/36) * sum over the 36 rolls of max over results s of us: 1 if s is empty, else -v(them, s)

With `gammons` a loser who has all fifteen chequers on the board pays 2. `docs/theory/systems.md` describes the text
format.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from bgfmt.errors import PositionError
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import ROLLS, side_plays


@cache
def _results(side: Side) -> tuple[tuple[int, frozenset[Side]], ...]:
    """Return (weight, results) of the 21 rolls; rolls with the same results are merged."""
    weights: dict[frozenset[Side], int] = {}
    for a, b, weight in ROLLS:
        results = frozenset(side_plays(side, (a, b)))
        weights[results] = weights.get(results, 0) + weight
    return tuple((weight, results) for results, weight in weights.items())


@cache
def _value(us: Side, them: Side, gammons: bool) -> Fraction:
    """Return the expected points of `us`, who is on roll."""
    if not them.chequers:  # the game is over
        return Fraction(-2 if gammons and us.chequers == MAX_CHEQUERS else -1)
    parts = (weight * max(-_value(them, s, gammons) for s in results) for weight, results in _results(us))
    return Fraction(sum(parts), 36)


def expected_points(position: Position, *, gammons: bool = False) -> Fraction:
    """Return the exact expected points of the side on roll.

    Meant for few chequers, as every pair that can follow is computed.

    >>> expected_points(Position(Side(1, 0, 0, 0, 0, 1), Side(0, 1, 0, 0, 1)))
    Fraction(20017, 52488)
    """
    if not position.us.chequers or not position.them.chequers:
        raise PositionError(f"{position}: the game is over, one side has no chequers left")
    return _value(position.us, position.them, gammons)


def entries(points: int, chequers: int) -> Iterator[tuple[Side, Side, Fraction]]:
    """Yield (side on roll, other side, expected points) of all pairs, both sides in ascending position number."""
    sides = [Side(*board.unrank(k, points)) for k in range(1, board.count(points, chequers))]
    for us in sides:
        for them in sides:
            yield us, them, _value(us, them, False)


def as_text(points: int, chequers: int) -> Iterator[str]:
    """Yield the database as lines of text: a header, then counts in hexadecimal and the value to six decimals."""
    many = (board.count(points, chequers) - 1) ** 2
    yield f"bearoff-2s 1 points={points} checkers={chequers} entries={many} value=points\n"
    for us, them, value in entries(points, chequers):
        millionths = (abs(value) * 2_000_000 + 1) // 2  # half up in magnitude
        sign = "-" if value < 0 else "+"
        sides = " ".join("".join(f"{c:x}" for c in s.padded(points)) for s in (us, them))
        yield f"{sides} {sign}{millionths // 1_000_000}.{millionths % 1_000_000:06d}\n"
