"""The FIBS board line in gnubg's own dialect, as it sends it to an external player.

Always player 1's view: positive numbers are player 1's chequers. Names and scores stand player 0 first, except
while a double is pending, when they are swapped. Jacoby and beavers are not in it.
"""

from __future__ import annotations

from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.game.identifiers.state import MatchState, full, side_of

FIELDS = 53
UNLIMITED = 9999


def fibs(state: MatchState) -> str:
    """The board line of a state."""
    zero, one = full(state.sides[0]), full(state.sides[1])
    points = [-zero[24], *(one[p] - zero[23 - p] for p in range(24)), one[24]]
    order = (1, 0) if state.doubled else (0, 1)
    dice = (0, 0) if state.dice is None or state.doubled else state.dice
    may = (int(state.owner != 0), int(state.owner != 1))
    off = [15 - state.sides[1].chequers, 15 - state.sides[0].chequers]
    fields: list[object] = [
        "board", *(state.names[k].replace(":", "_") for k in order), state.length,
        *(state.scores[k] for k in order), *points, 1 if state.turn == 1 else -1, *dice, *dice, 1 << state.cube,
        *may, int(state.doubled), 1, -1, 0, 25, *off, 0, 0, 0, 0, int(state.post_crawford), int(not state.crawford),
    ]  # fmt: skip
    return ":".join(map(str, fields))


def from_fibs(text: str) -> MatchState:
    """The state of a board line."""
    fields = text.strip("\0\r\n ").split(":")
    if len(fields) != FIELDS or fields[0] != "board":
        raise PositionError(f"a board line has {FIELDS} fields after a first word 'board', not {len(fields)}")
    try:
        numbers = [0, 0, 0, *map(int, fields[3:])]
    except ValueError:
        raise PositionError("a field of the board line that should be a number is none") from None
    points, turn, dice, cube = numbers[6:32], numbers[32], (numbers[33], numbers[34]), numbers[37]
    if points[0] > 0 or points[25] < 0 or turn not in (1, -1):
        raise PositionError("the board line has a chequer on the wrong bar, or no one on roll")
    if cube < 1 or cube & (cube - 1) or not all(0 <= die <= 6 for die in dice) or (0 in dice and any(dice)):
        raise PositionError(f"the board line's cube is {cube} and its dice are {dice[0]} and {dice[1]}")
    zero = [max(0, -points[24 - p]) for p in range(24)] + [-points[0]]
    one = [max(0, points[1 + p]) for p in range(24)] + [points[25]]
    doubled = bool(numbers[40])
    swap = -1 if doubled else 1
    names, scores = (fields[1], fields[2])[::swap], (numbers[4], numbers[5])[::swap]
    may_one, may_zero = bool(numbers[38]), bool(numbers[39])
    sides = (side_of(zero), side_of(one))
    Position(*sides).check()
    length = 0 if numbers[3] == UNLIMITED else numbers[3]
    return MatchState(
        sides,
        turn=1 if turn == 1 else 0,
        cube=cube.bit_length() - 1,
        owner=None if may_one == may_zero else 1 if may_one else 0,
        dice=dice if dice[0] else None,
        doubled=doubled,
        scores=(scores[0], scores[1]),
        length=length,
        crawford=bool(length) and numbers[52] == 0,
        names=(names[0], names[1]),
    )
