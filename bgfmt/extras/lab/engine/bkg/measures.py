"""What BKG goes by: its measuring functions of a position, one by one (the paper, section V), and its race.

Resigning (section VI): a side gives up what its least number of rolls cannot save, once the sides have passed each
other. It resigns when its Minturns exceeds the other's Maxturns; a gammon when Minloff does, the rolls to one man
off; a backgammon when the rolls to leave the enemy's home board do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bgfmt.extras.lab.engine.bkg.boards import array_of
from bgfmt.extras.lab.engine.bkg.completion import C1, Completion
from bgfmt.extras.lab.thumb import counting
from bgfmt.extras.lab.thumb import racing as thumb_racing
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.kernels.running import Home
    from bgfmt.extras.lab.engine.bkg.player import Bkg

Pair = tuple[int, int]


class Measures(NamedTuple):
    """What BKG measures of J, who has just moved, and N, who is next; pairs are of J and of N.

    p1, p2 : rolls of 36 that hit J, that hit twice. piploss : pips J loses, summed over rolls. escapes : from
    Mostback. acontain, contsq : how firmly a side is held, and where. moment2, closeboard and what follows: of J,
    closeboard of both. edge, winfactor : of J.
    """

    pips: Pair
    p1: int
    p2: int
    piploss: int
    escapes: Pair
    contain: Pair
    acontain: Pair
    contsq: Pair
    mobility: Pair
    mostback: Pair
    closeboard: Pair
    moment2: float
    homblots: int
    histack: int
    gap: int
    expallin: int
    exploff: int
    expturns: int
    next_point: int
    builders: int
    slotted: int
    edge: int
    winfactor: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in self._asdict().items()}


def measure(position: Position, completion: Completion = C1) -> Measures:
    """The measuring functions; `position.us` is J, who has just moved."""
    from bgfmt.extras.lab.engine.bkg.kernels import hits, measures

    kernel = completion.kernel
    j, n = array_of(position.check())
    table, low = kernel.table, kernel.low
    risk = hits.danger(j, n)
    held = [measures.held_at(table, low, *pair) for pair in ((j, n), (n, j))]
    back = [int(measures.mostback(side)) for side in (j, n)]
    pips = [int(measures.pipcount(side)) for side in (j, n)]
    point = int(measures.next_point(j, n))

    def both(function: Any) -> Pair:
        return int(function(j, n)), int(function(n, j))

    return Measures(
        pips=(pips[0], pips[1]),
        p1=int(risk.one),
        p2=int(risk.two),
        piploss=int(risk.piploss),
        escapes=both(lambda x, y: measures.escapes(table, y, measures.mostback(x))),
        contain=both(lambda x, y: measures.contain(table, low, y)),
        acontain=(int(held[0][1]), int(held[1][1])),
        contsq=(int(held[0][0]), int(held[1][0])),
        mobility=both(lambda x, y: measures.mobility(table, x, y)),
        mostback=(back[0], back[1]),
        closeboard=both(measures.closeboard),
        moment2=float(measures.moment2(j, kernel.moment)),
        homblots=int(measures.homblots(j)),
        histack=int(measures.histack(j)),
        gap=int(measures.gap(j)),
        expallin=int(measures.expallin(j)),
        exploff=int(measures.exploff(j)),
        expturns=int(measures.expturns(j)),
        next_point=point,
        builders=int(measures.builders(j, point)),
        slotted=int(measures.slotted(j, point)),
        edge=pips[1] - pips[0] - 4,
        winfactor=float((pips[0] + 4 + 2 * held[0][1]) / max(pips[1] + 2 * held[1][1], 1)),
    )


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


# -- resigning ----------------------------------------------------------------------------------------


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
