"""Values of a pair of positions, one column per cube state, and the cube decision on them.

Values are zero-sum, for the side on roll: 2 * MWC - 1 in a match, points per unit of the cube for money. So the value
of a pair to the side that has just moved is exactly the negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgfmt.game.results import Array
from bgfmt.met.score import NOBODY, CubeState, Score

__all__ = ["CUBELESS", "Columns", "join_columns", "money_columns", "single_game_columns"]


Worth = Callable[[int, int], float]
CUBELESS = None
MAX_GAIN = 3  # single game, gammon, backgammon


class Doubling(NamedTuple):
    """The doubles that each side may offer, for K columns; arrays (2, K), the side on roll at the root first.

    may : whether the side may double. passed : value if the double is passed. The value if it is taken is
    add + times * (value in column `source`).
    """

    may: Array
    passed: Array
    source: Array
    add: Array
    times: Array


@dataclass(frozen=True)
class Columns:
    """K columns: a cube state each, its doubles, and the values of won games.

    Attributes
    ----------
    states : cube states; None is cubeless, in match play the probability of winning the game.
    doubling : doubles of each side.
    won : (2, K, 4) value to each side of winning a single game, a gammon, a backgammon (entries 1, 2, 3).
    """

    states: tuple[CubeState | None, ...]
    doubling: Doubling
    won: Array

    def __len__(self) -> int:
        return len(self.states)

    def place(self, state: CubeState) -> int:
        """Return the index of the column of a cube state; 0, the cubeless column, for a state without its own."""
        return self.states.index(state) if state in self.states else 0

    def choose_cube_action(self, side: int, values: Array) -> Array:
        """Return the values (..., K) of a side on roll with its best cube action: double or not.

        side : 0 for the side that is on roll in the position to be solved, else 1. values : those of not doubling,
        one for each of the K columns (cube states).
        """
        d = Doubling(*(array[side] for array in self.doubling))
        doubled = np.minimum(d.add + d.times * values[..., d.source], d.passed)
        return np.where(d.may, np.maximum(values, doubled), values)

    def exchange_sides(self) -> Columns:
        """Return the same columns with the two sides exchanged, for a position in which the other side is on roll."""
        states = tuple(
            s and CubeState(s.value, s.owner if s.owner == NOBODY else 1 - s.owner) for s in self.states
        )
        return Columns(states, Doubling(*(array[::-1] for array in self.doubling)), self.won[::-1])


def single_game_columns(states: Sequence[CubeState | None]) -> Columns:
    """Return columns for these cube states in which no double is allowed, and a win of any size is worth 1.

    states : the state of each column; None is the cubeless one. Callers fill in doubles and values.
    """
    k = len(states)
    here = np.tile(np.arange(k, dtype=np.int64), (2, 1))
    doubling = Doubling(np.zeros((2, k), np.bool_), np.ones((2, k)), here, np.zeros((2, k)), np.ones((2, k)))
    won = np.ones((2, k, MAX_GAIN + 1))
    return Columns(tuple(states), doubling, won)


def match_columns(score: Score, *, gammons: bool, worth: Worth | None = None) -> Columns:
    """Build the columns (one for each cube state) that a match score needs, from its present cube on.

    Without gammons, a state in which nobody may double has no column of its own: its value is the cubeless one,
    scaled between losing and winning the game at that cube. With gammons every state has a column.

    gammons : whether gammons can be won. worth : function of (side, points) that returns the value of winning these
    points, instead of 2 * MWC - 1 at the score.
    """
    states: list[CubeState | None] = [s for s in score.cubes if gammons or score.live(s)]
    if not gammons:
        states.insert(0, CUBELESS)
    columns = single_game_columns(states)
    worth = worth or (lambda side, points: value_of_points(score, side, points))
    may, passed, source, add, times = columns.doubling
    for k, state in enumerate(states):
        if state is None:
            continue
        for side in (0, 1):
            for gain in range(1, MAX_GAIN + 1) if gammons else (1,):
                columns.won[side, k, gain] = worth(side, gain * state.value)
            if not score.may_double(side, state):
                continue
            may[side, k] = True
            passed[side, k] = columns.won[side, k, 1]
            doubled = CubeState(2 * state.value, 1 - side)
            if doubled in states:
                source[side, k] = states.index(doubled)
            else:
                source[side, k] = 0
                add[side, k], times[side, k] = scale_between(
                    worth(side, -doubled.value), worth(side, doubled.value)
                )
    return columns


def value_of_points(score: Score, side: int, points: int) -> float:
    """Return 2 * MWC - 1 of a side (0 on roll, 1 the other) after it wins these points, or loses them if negative.

    These values of the two sides add up to 0.
    """
    return 2 * score.after(0, points) - 1 if side == 0 else 1 - 2 * score.after(0, -points)


def scale_between(lose: float, win: float) -> tuple[float, float]:
    """Return (add, times): add + times * x is `lose` for a cubeless value x of -1, and `win` for 1."""
    return (win + lose) / 2, (win - lose) / 2


def dead_cube_scale(score: Score, state: CubeState) -> tuple[float, float]:
    """Return (add, times): add + times * x is the value of the side on roll with this cube, x its cubeless value.

    The cube is dead (nobody may double any more), no gammon is possible, and values are 2 * MWC - 1.
    """
    return scale_between(value_of_points(score, 0, -state.value), value_of_points(score, 0, state.value))


def money_columns(*, jacoby: bool = False, gammons: bool = True) -> Columns:
    """Build the columns of money play: cubeless, centered, owned by the side on roll, owned by the other side.

    Values are equities per unit of the present cube. jacoby : gammons count only once the cube is turned. gammons :
    whether gammons and backgammons count more than 1.
    """
    states = (CUBELESS, CubeState(1, NOBODY), CubeState(1, 0), CubeState(1, 1))
    columns = single_game_columns(states)
    may, _, source, _, times = columns.doubling
    for side in (0, 1):
        for k in (1, 2 + side):
            may[side, k] = True
            source[side, k] = 2 + (1 - side)
            times[side, k] = 2.0
    if gammons:
        columns.won[...] = np.arange(MAX_GAIN + 1.0)
    if jacoby:
        columns.won[:, 1] = 1.0
    return columns


def join_columns(parts: Sequence[Columns]) -> tuple[Columns, list[Array]]:
    """Join the columns of several problems side by side, to solve them at once.

    Returns them and, for each problem, the indices of its columns. The cubeless column, which must be the first in
    each problem that has one, is shared.
    """
    shared = int(parts[0].states[0] is CUBELESS)
    places = []
    start = shared
    for part in parts:
        own = len(part) - shared
        places.append(np.concatenate([np.arange(shared), start + np.arange(own)]).astype(np.int64))
        start += own
    kept = [slice(0 if part is parts[0] else shared, None) for part in parts]

    def concatenate(arrays: Sequence[Array]) -> Array:
        return np.concatenate([a[:, keep] for a, keep in zip(arrays, kept, strict=True)], axis=1)

    sources = [place[part.doubling.source] for part, place in zip(parts, places, strict=True)]
    doubling = Doubling(*(concatenate([p.doubling[i] for p in parts]) for i in range(len(Doubling._fields))))
    states = tuple(s for part, keep in zip(parts, kept, strict=True) for s in part.states[keep])
    won = concatenate([part.won for part in parts])
    return Columns(states, doubling._replace(source=concatenate(sources)), won), places
