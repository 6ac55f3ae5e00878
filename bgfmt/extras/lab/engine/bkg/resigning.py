"""Resigning (the paper, section VI): a side gives up what its least number of rolls cannot save.

A side resigns when its Minturns exceeds the other's Maxturns; a gammon when Minloff does, the rolls to one man off;
a backgammon when the rolls to leave the enemy's home board do. Only after the sides have passed each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bgfmt.extras.lab.engine.bkg.boards import array_of
from bgfmt.game.board import Position, Side

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.kernels.running import Home


class Turns(NamedTuple):
    """Rolls that a side needs with 6-6 every time (least) and with 2-1 (most): to be off, and to one man off.

    leave : least rolls until no man is in the enemy's home board.
    """

    least: int
    most: int
    least_off: int
    most_off: int
    leave: int


def turns_of(home: Home, side: Side) -> Turns:
    """Minturns, Maxturns, Minloff, Maxloff of a side that nobody is in the way of; the last two 0 with a man off."""
    from bgfmt.extras.lab.engine.bkg.kernels import turns

    row = array_of(Position(side, Side()))[0]
    off = (0, 0) if row[0] else (int(turns.least_to_one_off(row)), int(turns.most_to_one_off(row)))
    return Turns(
        int(turns.least(row)),
        int(turns.most(home.terms, home.greatest, row)),
        *off,
        int(turns.least_to_leave(row)),
    )


def games_lost(home: Home, position: Position) -> int:
    """Games that the side on roll has lost for certain: 0 to 3. It rolls first, so equal numbers are not lost yet."""
    if position.contact or not position.us.chequers or not position.them.chequers:
        return 0
    us, most = turns_of(home, position.us), turns_of(home, position.them).most
    return 0 if us.least <= most else 1 + (us.least_off > most) + (us.least_off > most and us.leave > most)


def most_to_win(home: Home, position: Position) -> int:
    """Games that the side *not* on roll, who has offered to resign, may still lose at most; `position` is theirs.

    The side on roll is the one that answers. A gammon is out of reach when a man of the loser's is off in time
    even with 2-1, or is off already.
    """
    loser = position.them
    if position.contact:
        return 3
    them = turns_of(home, loser)
    fastest = turns_of(home, position.us).least
    if them.most_off < fastest or loser.chequers < 15:
        return 1
    return 3 if them.leave >= fastest else 2
