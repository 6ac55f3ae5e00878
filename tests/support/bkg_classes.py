"""State-classes (the paper on BKG, section VI): recognisers in a fixed order, a rest class, an expectation for each.

BKG of 1977 did not have them; the paper proposes them and works out one example, whose board is lost. Implemented
are a list of classes, the class of a position, the expectation over the 36 rolls with the best play of each, the
classes that can follow, and the example with its constants.

    W(state) = sum over rolls of 1/36 * W(class reached by the best play)
    W(class with a blot in danger) = P1/36 * W(hit) + (1 - P1/36) * W(missed)

Expectations are points a game, between -1 and 1, or the unit of the example. A side on roll that may double and
expects 0.5 or more (a winning chance of 0.75) cashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Literal

from bgfmt.errors import PositionError
from bgfmt.extras.engines import Engine
from bgfmt.game.board import Position
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.game.state import GameState

Number = float | Fraction
CASH = Fraction(1, 2)


class Category(IntEnum):
    """The prospects of a class, the better the greater; for even classes stable and unstable are the same."""

    LOST_STABLE = 0
    LOST_UNSTABLE = 1
    UNFAVOURABLE_STABLE = 2
    UNFAVOURABLE_UNSTABLE = 3
    EVEN = 4
    FAVOURABLE_UNSTABLE = 5
    FAVOURABLE_STABLE = 6
    WON_UNSTABLE = 7
    WON_STABLE = 8


@dataclass(frozen=True)
class StateClass:
    """A class of positions; `position.us` has just moved.

    has : returns whether a position belongs to it. expects : returns the expectation of a position.
    """

    name: str
    category: Category
    has: Callable[[Position], bool]
    expects: Callable[[Position], Number]


class Classes:
    """A system of classes, checked in order; the last one has all positions that no other has."""

    def __init__(self, classes: Sequence[StateClass], rest: StateClass) -> None:
        if len({c.name for c in (*classes, rest)}) != len(classes) + 1:
            raise PositionError("two state classes have the same name")
        self.classes = tuple(classes)
        self.rest = rest

    def of(self, position: Position) -> StateClass:
        """Return the state-class of a position: the first class of the system to which it belongs."""
        return next((c for c in self.classes if c.has(position)), self.rest)

    def expectation(self, position: Position) -> Number:
        """Return the expectation (points a game) of a position after a play, by its state-class."""
        return self.of(position).expects(position)

    def before_roll(
        self, position: Position, best: Callable[[Position, tuple[int, int]], Position]
    ) -> Number:
        """Return the expectation (points a game) of the side on roll, averaged over the 36 rolls.

        best : returns the position after the best play of (position, dice).
        """
        return weighted_average((r.weight, self.expectation(best(position, (r.high, r.low)))) for r in ROLLS)

    def best_by_class(self, position: Position, dice: tuple[int, int]) -> Position:
        """Return the position after the best play: in the best category, then with the greatest expectation."""
        results = [play.result for play in legal_plays(position, *dice)] or [position]
        return max(results, key=lambda p: (self.of(p).category, self.expectation(p)))

    def following(self, position: Position, engine: Engine) -> tuple[set[str], set[str]]:
        """Return the names of the classes reached after one play of each side, without a hit and with one.

        position : the side on roll first. engine : plays for both sides.
        """
        forward: set[str] = set()
        backward: set[str] = set()
        for ours in ROLLS:
            after, hit = _play(engine, position, (ours.high, ours.low))
            if not after.us.chequers:
                continue
            for theirs in ROLLS:
                end, hit_too = _play(engine, after.swapped(), (theirs.high, theirs.low))
                (backward if hit or hit_too else forward).add(self.of(end.swapped()).name)
        return forward, backward


def _play(engine: Engine, position: Position, dice: tuple[int, int]) -> tuple[Position, bool]:
    """Return the position after the engine's play, and whether it hits."""
    if not legal_plays(position, *dice):
        return position, False
    play = engine.play(GameState.of(position, dice))
    return play.result, any(move.hit for move in play.moves)


def weighted_average(parts: Iterable[tuple[int, Number]]) -> Number:
    """Return the average of values weighted by numbers of rolls of 36.

    parts : (rolls, value) pairs. PositionError unless the rolls add up to 36.

    >>> weighted_average([(20, Fraction(1)), (16, Fraction(0))])
    Fraction(5, 9)
    """
    rows = list(parts)
    if sum(rolls for rolls, _ in rows) != 36:
        raise PositionError(f"{sum(rolls for rolls, _ in rows)} rolls where there are 36")
    return sum((Fraction(rolls, 36) * value for rolls, value in rows), start=Fraction(0))


def expectation_in_danger(hits: int, hit: Number, missed: Number, *, may_double: bool = False) -> Number:
    """Return the expectation with a blot that `hits` of 36 rolls hit: hits/36 * hit + (1 - hits/36) * missed.

    hit, missed : expectations after a hit and otherwise.
    may_double : the side with the blot, then on roll, cashes (expectation 1) if it expects 0.5 or more.
    """
    after: Number = Fraction(1) if may_double and float(missed) >= float(CASH) else missed
    return Fraction(hits, 36) * hit + (1 - Fraction(hits, 36)) * after


def expectation(win: Number, gammons: Number, lose: Number, gammons_lost: Number) -> Number:
    """Return the points a game from the shares of single wins, gammons won, single losses and gammons lost.

    win, gammons, lose, gammons_lost : the shares. PositionError unless they add up to 1.

    >>> from fractions import Fraction as F
    >>> expectation(F(66, 100), F(2, 100), F(30, 100), F(2, 100))
    Fraction(9, 25)
    """
    if abs(float(win + gammons + lose + gammons_lost) - 1) > 1e-9:
        raise PositionError("the shares of a game's state classes do not add up to 1")
    return win + 2 * gammons - lose - 2 * gammons_lost


@dataclass(frozen=True)
class Example:
    """The worked example (Figure 4): expectations of two plays of 6-1, as the paper adds them up.

    run : one man runs. both : both men move up. The classes: I two enemy points still to cross and safe, II the same
    with a blot in danger, III one to cross and safe, IV the same with a blot in danger, V hit.
    """

    run: Fraction
    both: Fraction


def worked_example(reading: Literal["display", "text"] = "display") -> Example:
    """Compute the example of the paper on BKG (two plays of 6-1) with its constants.

    reading : "display": 8 rolls are worth 0.85 when missed and 2 rolls 0.75, as the paper's display adds them up.
    "text": the 8 rolls lead to class IV (0.92) and the 2 to class II (0.85), as its text says.
    """
    third = Fraction(92, 100)
    second = Fraction(85, 100)
    fourth = Fraction(92, 100)
    first = Fraction(55, 100)
    fifth = Fraction(2, 36) * Fraction(1, 2)  # hit: escape with the next roll, then even
    eight, two = (second, Fraction(3, 4)) if reading == "display" else (fourth, second)
    both = weighted_average(
        [
            (5, third),
            (8, expectation_in_danger(16, fifth, eight)),
            (2, expectation_in_danger(23, fifth, two)),
            (21, first),
        ]
    )
    return Example(Fraction(expectation_in_danger(16, fifth, second)), Fraction(both))
