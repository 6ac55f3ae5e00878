"""All legal plays of a roll in a race, ranked: what each is worth, what it loses, and its name.

Without contact every die can be played while chequers remain, so the rules leave one choice only: in which
order, and with which chequers. Plays that reach the same position are one play.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import lookup
from bgfmt.analysis import approximate, bulk, choose
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import cube_owner
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, Move, notation
from bgfmt.tables import OneSided, Table

HOME = 6
Steps = tuple[Move, ...]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankedPlay:
    """One play of a roll.

    notation : standard notation, such as "6/off 6/5".
    result : the position after it, seen by the side that played (a Side where one side was asked about).
    value : by the measure asked; equities are the mover's.
    loss : what it gives up against the best play, 0 for the best, never negative.
    close : whether the loss is no more than the table's rounding can make of two equal plays.
    """

    notation: str
    result: Position | Side
    value: float
    loss: float
    moves: Steps = ()
    measure: str = "money"
    approximate: bool = False
    close: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "play": self.notation,
            "result": str(self.result),
            "value": self.value,
            "loss": self.loss,
            "close": self.close,
        }


def parse_roll(text: str | tuple[int, int]) -> tuple[int, int]:
    """The dice, the larger first, of "61", "6-1", "6 1", "6,1" or a pair; PositionError for anything else."""
    dice = [d for d in text if d not in "-, /"] if isinstance(text, str) else [str(d) for d in text]
    if len(dice) != 2 or any(d not in {"1", "2", "3", "4", "5", "6"} for d in dice):
        raise PositionError(f"a roll is two dice such as 61 or 6-1, not {text!r}")
    high, low = sorted(map(int, dice), reverse=True)
    return high, low


def side_plays(side: Side, roll: tuple[int, int]) -> dict[Side, Steps]:
    """Every different result of playing a roll with a side that is past all contact, and a way to play it.

    In gnubg's order of generation; the first way to a result is kept. `bgfmt.game.moves.race_plays` gives the same
    results without the moves, `bgfmt.game.moves.legal_plays` those of the whole game.
    """
    high, low = max(roll), min(roll)
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    found: dict[Side, Steps] = {}
    for dice in orders:
        for steps, counts in _sequences(list(side.padded(24)), dice, 24 if high == low else None):
            found.setdefault(Side(*counts), steps)
    return found


def _sequences(
    counts: list[int], dice: tuple[int, ...], limit: int | None
) -> Iterator[tuple[Steps, tuple[int, ...]]]:
    if not dice or not any(counts):
        yield (), tuple(counts)
        return
    highest = max(p for p in range(1, 25) if counts[p - 1])
    die = dice[0]
    for point in range(min(limit or 24, highest), 0, -1):
        inside = point > die
        off = highest <= HOME and (point == die or (point < die and point == highest))
        if not counts[point - 1] or not (inside or off):
            continue
        after = counts.copy()
        after[point - 1] -= 1
        if inside:
            after[point - die - 1] += 1
        step = Move(point, point - die if inside else 0)
        for rest, result in _sequences(after, dice[1:], None if limit is None else point):
            yield (step, *rest), result


def rank_plays(
    databases: Databases,
    position: Position | Side,
    roll: str | tuple[int, int],
    *,
    cube: str = "centered",
    measure: str | None = None,
) -> list[RankedPlay]:
    """All plays of a roll, best first.

    Parameters
    ----------
    databases
        One or more databases or tables; the best that covers the position is asked.
    position
        The side on roll first, or one side alone for the measures that look at one side.
    roll
        "61", "6-1" or (6, 1).
    cube
        "centered", "owned" or "opponent", seen by the side that plays; used by "money" only.
    measure
        "money" (equity with the cube where it is), "cubeless", "mean" (expected rolls still to go after the
        play) or "off:n" (chance to be off within n more rolls). By default "money" for two sides and "mean"
        for one. Where only one-sided tables cover the position, equities are approximate and say so.

    Raises
    ------
    NotCoveredError
        No table answers; PositionError for a bad roll, measure, or finished game.
    """
    dice = parse_roll(roll)
    owner = cube_owner(cube)
    two = isinstance(position, Position)
    measure = measure or ("money" if two else "mean")
    one_sided, within = bulk.parse_measure(measure)
    if isinstance(position, Position):
        choose.check_race(position)
        side = position.us
    else:
        side = position
        if not side.chequers:
            raise PositionError("there is nothing to play, all chequers are off")
        if not one_sided:
            raise PositionError(f"{measure!r} needs both sides, the one on roll first (side / side)")
    if side.bar:
        raise NotCoveredError(f"{side} has a chequer on the bar")
    plays = side_plays(side, dice)
    results = list(plays)
    if one_sided:
        table = choose.one_sided_for(databases, side, distributions=within is not None)
        if table is None:
            raise choose.not_covered(databases, side, wanted="what one side needs")
        values = _side_values(table, results, within)
        error: float | None = choose.known_error_of_rolls(table)
        sign = 1.0 if within is None else -1.0
        order = sorted(range(len(results)), key=lambda k: sign * values[k])
    else:
        assert isinstance(position, Position)
        values, cubeless, error = _position_values(
            databases, position, results, owner if measure == "money" else "cubeless"
        )
        # where the other side cashes whatever we play, the better chance to win comes first
        order = sorted(range(len(results)), key=lambda k: (-values[k], -cubeless[k]))
    best = values[order[0]]
    losses = np.abs(values - best)
    return [
        RankedPlay(
            notation(plays[results[k]]),
            Position(results[k], position.them) if isinstance(position, Position) else results[k],
            float(values[k]),
            float(losses[k]),
            plays[results[k]],
            measure,
            approximate=error is None,
            close=error is not None and bool(losses[k] <= 2 * error),
        )
        for k in order
    ]


def rank_all_rolls(
    databases: Databases, position: Position | Side, *, cube: str = "centered", measure: str | None = None
) -> dict[tuple[int, int], list[RankedPlay]]:
    """`rank_plays` for each of the 21 rolls, keyed (larger, smaller)."""
    return {
        (high, low): rank_plays(databases, position, (high, low), cube=cube, measure=measure)
        for high, low, _ in ROLLS
    }


def _side_values(table: Table, results: list[Side], within: int | None) -> Floats:
    numbers = np.array([s.number(table.points) for s in results], np.int64)
    return np.asarray(bulk.side_values(table, numbers, within), np.float64)


def _position_values(
    databases: Databases, position: Position, results: list[Side], cube: str
) -> tuple[Floats, Floats, float | None]:
    """Worth to the mover of each result, with the cube and without it, and how far that may err at most.

    None stands for approximate values.
    """
    table = choose.two_sided_for(databases, position, cubeful=cube != "cubeless")
    if table is not None:
        ours = np.array([s.number(table.points) for s in results], np.int64)
        theirs = np.full(len(ours), position.them.number(table.points))
        equities = lookup._equities_of(table, theirs, ours).astype(np.float64)
        cubeless, owned, centered, opponent = choose.known_error(table)
        errors = {"cubeless": cubeless, "owned": opponent}
        errors |= {"centered": max(centered, 2 * opponent), "opponent": max(owned, 2 * opponent)}
        return bulk.turned(equities, cube), -equities[:, 0], float(errors[cube])
    one = choose.one_sided_for(databases, position.us, position.them, distributions=True)
    if one is None:
        why = "cubeful equities" if choose.two_sided_for(databases, position) else "both sides' equities"
        raise choose.not_covered(databases, position.us, position.them, wanted=why)
    assert isinstance(one, OneSided)
    counts = np.array([s.padded(one.points) for s in results])
    them = np.array([position.them.padded(one.points)] * len(results))
    win, won, lost = np.nan_to_num(approximate.twosided_many(one, them, counts)).T
    money = 2 * win - 1 + won - lost
    # the other side is on roll in these: turn them round as a table's
    values = bulk.turned(np.stack([money, *approximate.cubeful_of_chances(win, won, lost)], axis=1), cube)
    over = 2.0 if one.gammon is not None and position.them.chequers == approximate.FULL else 1.0
    off = np.array([not s.chequers for s in results])
    return np.where(off, over, values), np.where(off, over, -money), None
