"""BKG's measuring functions of a position, one by one (the paper, section V), and its numbers for the race.

Resigning (section VI): a side gives up what its least number of rolls cannot save, once the sides have passed each
other. It resigns when its Minturns exceeds the other's Maxturns; a gammon when Minloff does, the rolls to one man
off; a backgammon when the rolls to leave the enemy's home board do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.engine.bkg.completion import C1, Completion, escapes_table
from bgfmt.extras.lab.engine.bkg.kernels import choosing, running
from bgfmt.extras.lab.engine.bkg.kernels.hits import Danger, danger
from bgfmt.extras.lab.engine.bkg.kernels.measures import Measures, measure_side
from bgfmt.extras.lab.thumb import racing as thumb_racing
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import GameState

OF_BOTH = ("pips", "escapes", "contain", "acontain", "contsq", "mobility", "mostback", "closeboard")


def array_of(position: Position) -> NDArray[Any]:
    """Return the board as the compiled functions take it: (2, 26) int64, the side on roll first.

    Index 0 counts the chequers off, 1 to 24 the points, 25 the bar.
    """
    sides = position.us, position.them
    return np.array([(MAX_CHEQUERS - one.chequers, *one.padded(25)[:24], one.bar) for one in sides], np.int64)


def measure(position: Position, completion: Completion = C1) -> dict[str, Any]:
    """Return BKG's measures of a position by name.

    J (`position.us`) has just moved, N is next; lists hold the measures of J and of N. p1, p2 and piploss are of J,
    see `hits.Danger`; edge and winfactor are of J; for the others see `kernels.measures.Measures`.

    completion : how gaps in the paper on BKG are filled.
    """
    table = escapes_table(completion.escapes).astype(np.int64)
    moment = completion.place("moment2")
    sides = array_of(position.check())
    j, n = (
        Measures(*measure_side(table, completion.contain_low, moment, *pair)) for pair in (sides, sides[::-1])
    )
    found = {"pips": [j.pips, n.pips], **Danger(*danger(*sides))._asdict()}
    for name, own, other in zip(Measures._fields, j, n, strict=True):
        found[name] = [own, other] if name in OF_BOTH else own
    winfactor = (j.pips + 4 + 2 * j.acontain) / max(n.pips + 2 * n.acontain, 1)
    return found | {"edge": n.pips - j.pips - 4, "winfactor": winfactor}


class Racing(NamedTuple):
    """BKG's numbers for a race before the roll; pairs are of the side on roll and of the other.

    enr : expected rolls, from the table or estimated.
    win : W / (W + V) of the eight columns, which BKG uses, None if a side is not in the table.
    win_full : W of the whole distributions, None unless all men are home.
    acount : the adjusted counts, in pips.
    by_count : decisions by these alone: double, redouble, take.
    minturns, maxturns : least and greatest number of rolls.
    takes : whether the other side takes.
    resigns : games given up.
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


def racing(completion: Completion, state: GameState) -> Racing:
    """Return the numbers that BKG uses in a race (expected rolls, win probability, counts), and its decisions.

    completion : how gaps in the paper on BKG are filled. state : the state before the roll.
    """
    kernel = completion.kernel
    position = state.position
    board = array_of(position)
    turns = (turns_of(position.us), turns_of(position.them))
    rows, numbers = ([of(kernel, side) for side in board] for of in (running.row, running.number))
    full = None
    if min(numbers) >= 0:
        chances = thumb_racing.distributions()[1]
        full = float(thumb_racing.win_chance(*chances[numbers]))
    beyond = [choosing.count_excess(board[0], board[1], margin, kernel.nearest) for margin in (-2, -1, 2)]
    return Racing(
        enr=(running.expected_rolls(kernel, board[0]), running.expected_rolls(kernel, board[1])),
        win=running.win_chance(kernel, *rows) if min(rows) >= 0 else None,
        win_full=full,
        acount=(choosing.adjusted_thirds(*board) / 3, choosing.adjusted_thirds(*board[::-1]) / 3),
        by_count=(beyond[0] >= 0, beyond[1] >= 0, beyond[2] <= 0),
        minturns=(turns[0].least, turns[1].least),
        maxturns=(turns[0].most, turns[1].most),
        doubles=choosing.doubles(kernel, board, False),
        redoubles=choosing.doubles(kernel, board, True),
        takes=choosing.takes(kernel, board),
        resigns=games_lost(position),
    )


# -- resigning ----------------------------------------------------------------------------------------


FAR = np.arange(26)
#: of a man on each point: pips, dice of two pips, sixes, pips to come home, sixes to come home, sixes to leave the
#: enemy's home board
WAYS = np.column_stack([
    FAR, (FAR + 1) // 2, (FAR + 5) // 6, np.maximum(FAR - 6, 0), np.maximum(FAR - 1, 0) // 6,
    np.maximum(FAR - 13, 0) // 6,
])  # fmt: skip


class Turns(NamedTuple):
    """Rolls that a side needs with 6-6 every time (least) and with 2-1 every time (most).

    least, most : until all men are off. least_off, most_off : until one man is off. leave : least rolls until no man
    is in the enemy's home board.
    """

    least: int
    most: int
    least_off: int
    most_off: int
    leave: int


def turns_of(side: Side) -> Turns:
    """Return the rolls that a side, which has passed the other, needs: with 6-6 and with 2-1 every time.

    With 2-1 every time these are at least a third of the pips and half of the ones and twos in them; for up to seven
    men on twelve points, and for all positions at home, they are exactly as many. Until one man is off all men come
    home, and one of them goes at most six pips.
    """
    counts = array_of(Position(side, Side()))[0]
    on = not counts[0]
    pips, twos, sixes, outside, to_home, to_leave = (counts @ WAYS).tolist()
    nearest = 6 if outside else int(np.flatnonzero(counts)[0])
    return Turns(
        -(-sixes // 4), max(-(-pips // 3), -(-twos // 2)), -(-(1 + to_home) // 4) * on,
        -(-(nearest + outside) // 3) * on, -(-to_leave // 4),
    )  # fmt: skip


def games_lost(position: Position) -> int:
    """Return how many games the side on roll has lost whatever the dice: 0, 1, 2 (gammon) or 3 (backgammon).

    It rolls first, so with equal numbers of rolls nothing is lost.
    """
    if position.contact or not position.us.chequers or not position.them.chequers:
        return 0
    us = turns_of(position.us)
    most = turns_of(position.them).most
    return 0 if us.least <= most else 1 + (us.least_off > most) + (us.least_off > most and us.leave > most)


def most_to_win(position: Position) -> int:
    """Return the most games that the side on roll can still win: 1, 2 (gammon) or 3 (backgammon).

    It is the side that answers an offer to resign. A gammon is impossible if the loser has a man off, or will have
    one in time even with 2-1 every roll.
    """
    if position.contact:
        return 3
    them = turns_of(position.them)
    fastest = turns_of(position.us).least
    if them.most_off < fastest or position.them.chequers < 15:
        return 1
    return 3 if them.leave >= fastest else 2
