"""The board that GridGammon writes where it does not write the play: numbers of a FIBS board between semicolons."""

from __future__ import annotations

import re

from bgfmt.errors import PositionError
from bgfmt.extras.matches import plays
from bgfmt.game.board import Position
from bgfmt.game.moves import BAR

MOST_MOVED = 16  # chequers that may differ in all, on both sides, for it to be a board one play later


def read(text: str, before: Position) -> Position:
    """The board after the play, who moved first.

    Which player and direction the numbers mean is not said; the reading nearest to the board before is taken.

    Raises
    ------
    PositionError where no reading is a board that one play may leave.
    """
    numbers = [int(number) for number in re.findall(r"-?\d{1,6}", text)]
    readings: list[tuple[plays.Board, plays.Board]] = []
    for begin in range(8):  # after length and scores, or at once
        points = numbers[begin : begin + 26]
        if len(points) == 26:
            readings += [_sides(view) for view in (points, points[::-1])]
            readings += [(theirs, mine) for mine, theirs in readings[-2:]]
    best: tuple[int, Position] | None = None
    old = (plays.board(before.us), plays.board(before.them))
    for mine, theirs in readings:
        try:
            found = plays.position(mine, theirs).check()
        except PositionError:
            continue
        apart = sum(
            abs(a - b) for pair in zip((mine, theirs), old, strict=True) for a, b in zip(*pair, strict=True)
        )
        # the other side changes by chequers sent to its bar only
        possible = sum(theirs) == sum(old[1]) and all(
            a <= b for a, b in zip(theirs[:BAR], old[1], strict=False)
        )
        if possible and sum(mine) <= sum(old[0]) and (best is None or apart < best[0]):
            best = apart, found
    if best is None or best[0] > MOST_MOVED:
        raise PositionError("a play that is not recorded, and no board after it that can be read")
    return best[1]


def _sides(points: list[int]) -> tuple[plays.Board, plays.Board]:
    """Positive numbers are chequers of the one who counts from 1, on 25 the bar; negative ones of the other."""
    mine = [0, *(max(0, n) for n in points[1:])]
    theirs = [0, *(max(0, -n) for n in points[-2::-1])]
    return mine, theirs
