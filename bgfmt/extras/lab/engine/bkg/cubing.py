"""What BKG goes by once the sides have passed each other: rolls, chances, counts, and its cube decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bgfmt.extras.lab.engine.bkg.boards import array_of
from bgfmt.extras.lab.engine.bkg.resigning import games_lost, turns_of
from bgfmt.extras.lab.thumb import counting
from bgfmt.extras.lab.thumb import racing as thumb_racing
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.player import Bkg


class Racing(NamedTuple):
    """A race before the roll; pairs are of the side on roll and of the other.

    enr : expected rolls, of the table or estimated. win : W / (W + V) of the eight columns, by which BKG goes, None
    where a side is not in the table. win_full : W of the whole distributions, None unless all men are home. acount :
    the adjusted counts, pips. by_count : what they alone say: double, redouble, take. takes : whether the other side
    accepts. resigns : games given up.
    """

    enr: tuple[float, float]
    win: float | None
    win_full: float | None
    acount: tuple[float, float]
    by_count: tuple[bool, bool, bool]
    minturns: tuple[int, int]
    maxturns: tuple[int, int]
    doubles: bool
    redoubles: bool
    takes: bool
    resigns: int


def racing(engine: Bkg, state: GameState) -> Racing:
    """What BKG goes by in a race."""
    from bgfmt.extras.lab.engine.bkg.kernels import choosing, running

    home, cube, position = engine.home, engine.cube, state.position
    board = array_of(position)
    rows = [running.row(home, side) for side in board]
    sides = [position.us.padded(24), position.them.padded(24)]
    turns = [turns_of(home, side) for side in (position.us, position.them)]
    counts = counting.adjusted_thirds(sides[0], sides[1]), counting.adjusted_thirds(sides[1], sides[0])
    numbers = [running.number(home, side) for side in board]
    full, rounding = None, engine.completion.rounding
    if min(numbers) >= 0:
        chances = thumb_racing.distributions()[1]
        full = float(thumb_racing.win_chance(chances[numbers[0]], chances[numbers[1]]))
    return Racing(
        enr=(float(running.expected_rolls(home, board[0])), float(running.expected_rolls(home, board[1]))),
        win=float(running.win_chance(home, rows[0], rows[1])) if min(rows) >= 0 else None,
        win_full=full,
        acount=(int(counts[0]) / 3, int(counts[1]) / 3),
        by_count=(
            bool(counting.doubles(*sides, rounding=rounding)),
            bool(counting.doubles(*sides, owned=True, rounding=rounding)),
            bool(counting.takes(*sides, rounding=rounding)),
        ),
        minturns=(turns[0].least, turns[1].least),
        maxturns=(turns[0].most, turns[1].most),
        doubles=bool(choosing.doubles(home, cube, board, False)),
        redoubles=bool(choosing.doubles(home, cube, board, True)),
        takes=bool(choosing.takes(home, cube, board)),
        resigns=games_lost(home, position),
    )
