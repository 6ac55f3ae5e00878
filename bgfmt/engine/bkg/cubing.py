"""What BKG goes by once the sides have passed each other: rolls, chances, counts, and its cube decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bgfmt.analysis.thumb import counting
from bgfmt.engine.bkg.boards import array_of
from bgfmt.engine.bkg.resigning import games_lost, turns_of
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.engine.bkg.player import Bkg


class Racing(NamedTuple):
    """A race before the roll; pairs are of the side on roll and of the other.

    enr : expected rolls, of the table or estimated. win : W / (W + V), None where a side is not in the table.
    acount : the adjusted counts, pips. takes : whether the other side accepts. resigns : games given up.
    """

    enr: tuple[float, float]
    win: float | None
    acount: tuple[float, float]
    minturns: tuple[int, int]
    maxturns: tuple[int, int]
    doubles: bool
    redoubles: bool
    takes: bool
    resigns: int


def racing(engine: Bkg, state: GameState) -> Racing:
    """What BKG goes by in a race."""
    from bgfmt.engine.bkg.kernels import choosing, running

    home, cube, position = engine.home, engine.cube, state.position
    board = array_of(position)
    rows = [running.row(home, side) for side in board]
    sides = [position.us.padded(24), position.them.padded(24)]
    turns = [turns_of(home, side) for side in (position.us, position.them)]
    counts = counting.adjusted_thirds(sides[0], sides[1]), counting.adjusted_thirds(sides[1], sides[0])
    return Racing(
        enr=(float(running.expected_rolls(home, board[0])), float(running.expected_rolls(home, board[1]))),
        win=float(running.win_chance(home, rows[0], rows[1])) if min(rows) >= 0 else None,
        acount=(int(counts[0]) / 3, int(counts[1]) / 3),
        minturns=(turns[0].least, turns[1].least),
        maxturns=(turns[0].most, turns[1].most),
        doubles=bool(choosing.doubles(home, cube, board, False)),
        redoubles=bool(choosing.doubles(home, cube, board, True)),
        takes=bool(choosing.takes(home, cube, board)),
        resigns=games_lost(home, position),
    )
