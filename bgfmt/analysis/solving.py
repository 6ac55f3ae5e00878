"""Solve one position exactly, in float64: only the positions that play can reach from it, without any table.

Side A is on roll with board u0, side B has t0. The boards of each side that play can reach are listed (`Family`),
with the numbers of rolls after which each can come up; a pair of boards can arise only where these numbers agree.
For each pair the value to A when B is on roll is stored. A's boards are processed by rising pips: the value of A on
roll is the maximum over the rows of the boards that its plays lead to; then, for a block of A's boards side by side,
the value of B on roll is the maximum over the columns of the boards that B's plays lead to. There is one column of
values for each cube state.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import kernels
from bgfmt.analysis.answers import CALCULATION, Source
from bgfmt.analysis.choose import check_race
from bgfmt.errors import NotCoveredError, PositionError, SolverError, TooMuchWorkError
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.results import WEIGHTS, Singles, build_roll_results
from bgfmt.met.score import OWNERS, CubeState
from bgfmt.solver.columns import CUBELESS, Columns
from bgfmt.solver.machine import check_memory, thread_count

__all__ = [
    "ALL_ROLLS",
    "BOARD_COST",
    "DEFAULT_LIMIT",
    "LANES",
    "MAX_ROLL_BITS",
    "MONEY",
    "RESULT_COST",
    "SPARE",
    "SPARSE",
    "UNREACHED",
    "Array",
    "Family",
    "Game",
    "Progress",
    "SideRolls",
    "Solved",
    "Work",
    "count_nearer_boards",
    "family",
    "plan",
    "solve",
    "solve_side",
]


Array = NDArray[Any]
Progress = Callable[[int, int], None]
ALL_ROLLS = (1 << 63) - 1  # bits of all numbers of rolls
#: default limit of a calculation in pairs of boards times columns: some 20 seconds of two cores
DEFAULT_LIMIT = 400_000_000
BOARD_COST = 400  # finding a board of a side costs as much as this many pairs times columns
RESULT_COST = 8  # and finding one result of a roll as much as this many
UNREACHED = 8  # play reaches more than one in this many of the boards with no chequer farther back
SPARE = 10  # a calculation estimated at more than this many times the limit is not begun
SPARSE = 50  # more than one in this many pairs of boards can come up
MAX_ROLL_BITS = 61  # numbers of rolls of a side above this share a bit
LANES = 128  # boards side by side times columns
#: the cube states of money answers, as the side on roll sees them
MONEY = {"cubeless": CUBELESS, **{owner: CubeState(1, place) for owner, place in OWNERS.items()}}


@dataclass(frozen=True, eq=False)
class Family:
    """All boards that a side can reach by play, by falling pips: the side itself first, all chequers off last.

    counts : (n, points) int8, chequers on points 1, 2, ...
    plies : (n,) int64; bit k is set if the board can come up after k rolls of this side.
    ends, results : results of each of the 21 rolls, as indices of boards; see
        `bgfmt.game.results.build_roll_results`.
    """

    counts: Array
    plies: Array
    ends: Array
    results: Array

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def pips(self) -> Array:
        """Pip count of each board, (n,) int64."""
        return self.counts.astype(np.int64) @ np.arange(1, self.counts.shape[1] + 1)

    @cached_property
    def alive(self) -> int:
        """Numbers of rolls after which the side can still have chequers, as bits: bit k is set for k rolls."""
        return int(np.bitwise_or.reduce(self.plies[:-1]))

    @property
    def gains(self) -> Array:
        """Points that the other side wins by bearing off against each board, (n,): 1, gammon 2, backgammon 3."""
        full = self.counts.sum(axis=1, dtype=np.int64) == board.MAX_CHEQUERS
        gains: Array = 1 + full + (full & self.counts[:, 18:].any(axis=1))
        return gains

    def side(self, place: int) -> Side:
        """Return the board at an index of this family as a `Side`."""
        return Side(*(int(c) for c in self.counts[place]))

    def place(self, side: Side) -> int | None:
        """Return the index in this family of the board of a side, None if play cannot reach it."""
        points = self.counts.shape[1]
        if side.highest > points:
            return None
        found = np.flatnonzero((self.counts == np.array(side.padded(points), np.int8)).all(axis=1))
        return int(found[0]) if len(found) else None

    def plays(self, roll: int, place: int = 0) -> Array:
        """Return the indices of the boards that a roll can be played to.

        roll : 0 to 20 for 11, 21, 22, 31, ... 66. place : index of the board that plays, by default the start.
        """
        first = 21 * place + roll
        return self.results[self.ends[first] : self.ends[first + 1]]


@lru_cache(maxsize=1 << 12)
def count_nearer_boards(side: Side) -> int:
    """Count the boards to which every chequer has stayed on its point or moved towards home or off.

    This is an upper bound of the boards that play can reach.
    """
    ways = [1]  # by chequers placed so far, on points from the highest down
    may = 0
    for counts in reversed(side.counts):
        may += counts
        ways = list(accumulate(ways + [0] * (may + 1 - len(ways))))
    return sum(ways)


def family(
    side: Side, *, alive: int = ALL_ROLLS, limit: int = DEFAULT_LIMIT, most: int = 1 << 40
) -> Family | None:
    """Find the boards that a side can reach by play.

    Parameters
    ----------
    side
        The board to begin with.
    alive
        Numbers of rolls after which the other side can still have chequers, as bits: bit k is k rolls. Boards are
        played on only after these.
    limit
        Limit of the whole calculation, in pairs of boards times columns, of which finding boards takes a part.
    most
        Largest number of boards, roughly.

    Returns
    -------
    The boards; None if they exceed a limit.
    """
    most = max(1000, min(most, limit // BOARD_COST))
    most_results = max(1_000_000, limit // RESULT_COST)
    points = max(6, side.highest)
    bound = count_nearer_boards(side)
    if alive == ALL_ROLLS and bound > 4 * most:
        return None  # play to the end reaches most of them
    terms = np.ascontiguousarray(board.number_terms(points))
    start = np.array(side.padded(points), np.int64)
    room = min(bound, most, 1 << 16) + 6 * points + 2
    moves = min(points, side.chequers)
    while True:
        boards = np.zeros((room, points), np.int8)
        pending = np.zeros((room, 6, 3), np.int64)
        plies = np.zeros(room, np.int64)
        order = np.empty(room, np.int64)
        size = 1 << (2 * room).bit_length()
        keys = np.zeros(size, np.int64)
        places = np.empty(size, np.int32)
        follow = np.full(room + side.pips + 1, -1, np.int64)
        starts = np.zeros((6, room + 1), np.int64)
        targets = np.zeros((6, moves * room), np.int32)
        n = kernels.closure(
            start, terms, alive, boards, plies, pending, order, keys, places, follow, starts, targets
        )
        if n > 0:
            break
        if room >= most:
            return None
        room = min(4 * room, max(most, 2 * room))
    order = order[:n]
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    starts = np.ascontiguousarray(starts[:, : n + 1])
    boards = boards[order]
    plies = plies[order]
    played = np.flatnonzero(plies[:-1] & alive)
    ends, found = build_roll_results(
        Singles(starts, place[targets[:, : starts[:, n].max()]]), played, most_results
    )
    if len(found) > most_results:
        return None
    whole = plies != 0
    whole[-1] = True
    lengths = np.zeros((n, 21), np.int64)
    lengths[played] = np.diff(ends).reshape(-1, 21)
    results = (np.cumsum(whole, dtype=np.int32) - 1)[found]
    return Family(boards[whole], plies[whole], np.append(0, np.cumsum(lengths[whole])), results)


@dataclass(frozen=True, eq=False)
class Work:
    """The plan of a calculation, with its cost.

    ours, theirs : the boards of the side on roll and of the other.
    columns : cube states for each pair of boards.
    rolling : (n, 2) for each board of ours the first board of theirs that it can be on roll against, and the end
        (exclusive) of that range.
    waiting : the same where the other side is on roll.
    """

    position: Position
    ours: Family
    theirs: Family
    columns: int
    rolling: Array
    waiting: Array

    @cached_property
    def pairs(self) -> int:
        """Number of pairs of boards (one of each side) whose values are calculated, with either side on roll."""
        return int((self.waiting[:, 1] - self.waiting[:, 0]).clip(0).sum())

    @property
    def size(self) -> int:
        """Pairs times columns (cube states): the cost that limits refer to."""
        return self.pairs * self.columns

    @property
    def memory(self) -> int:
        """Memory needed in bytes, roughly."""
        return len(self.ours) * len(self.theirs) * self.columns * 8 + 12 * len(self.ours.results)

    @property
    def rolls(self) -> int:
        """The most rolls, of both sides together, that the game can still last."""
        return sum(int(f.plies.max()).bit_length() for f in (self.ours, self.theirs))

    def check(self, limit: int | None = None) -> None:
        """Raise TooMuchWorkError if `size` is more than `limit` (by default `DEFAULT_LIMIT`)."""
        most = DEFAULT_LIMIT if limit is None else limit
        if self.size > most:
            raise TooMuchWorkError(f"{self.position}", self.size, most)


def plan(position: Position, columns: int, *, limit: int | None = None) -> Work:
    """Find the boards that both sides of a race can reach, and plan the calculation of its values.

    Parameters
    ----------
    position
        The side on roll first.
    columns
        The number of cube states.
    limit
        Largest calculation, in pairs of boards times columns; `DEFAULT_LIMIT` if None.

    Raises
    ------
    PositionError
        The game is over.
    NotCoveredError
        The sides are in contact.
    TooMuchWorkError
        The boards alone show that the limit is exceeded; otherwise `Work.check` has to be called.
    """
    check_race(position)
    limit = DEFAULT_LIMIT if limit is None else limit

    def boards(side: Side, alive: int = ALL_ROLLS, most: int = 1 << 40) -> Family:
        found = None if hopeless else family(side, alive=alive, limit=limit, most=most)
        if found is None:
            raise TooMuchWorkError(f"{position}", None, limit)
        return found

    # the boards of the slower side are needed only as far as the faster one can still have chequers
    swapped = position.us.pips > position.them.pips
    first, second = (position.them, position.us) if swapped else (position.us, position.them)
    # sides about as far from home both play nearly to the end, and reach a good part of the boards of the bound
    pairs = count_nearer_boards(first) * count_nearer_boards(second) // UNREACHED**2
    hopeless = second.pips < 2 * first.pips and pairs * columns > SPARE * limit
    quick = boards(first)
    alive = quick.alive if quick.alive < 1 << MAX_ROLL_BITS else ALL_ROLLS
    slow = boards(second, alive, SPARSE * limit // (len(quick) * columns))
    ours, theirs = (slow, quick) if swapped else (quick, slow)
    rolling = _ranges(ours.plies, theirs.plies)
    waiting = _ranges(ours.plies >> 1, theirs.plies)
    rolling[-1] = waiting[-1] = 0
    return Work(position, ours, theirs, columns, rolling, waiting)


def _ranges(ours: Array, theirs: Array) -> Array:
    """Return (n, 2) the range (first, end exclusive) of boards of theirs that each of ours can stand against.

    ours, theirs : bits of the numbers of rolls after which each board can come up. The last of theirs, with all
    chequers off, is not in a range.
    """
    distinct, which = np.unique(ours, return_inverse=True)
    spans = np.zeros((len(distinct), 2), np.int64)
    for i, bits in enumerate(distinct):
        found = np.flatnonzero(theirs[:-1] & bits)
        if len(found):
            spans[i] = found[0], found[-1] + 1
    return spans[which.reshape(-1)]


# -- solved --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solved:
    """The values of a position for K cube states, seen by the side on roll: calculated, estimated or by rollouts.

    usual : for estimates and rollouts the error that 95 % of them do not exceed; None for a calculation.
    columns : the cube states, the side on roll first.
    error : the greatest error of a value; for estimates and rollouts that which 99.9 % of them do not exceed.
    ours, place : the boards of the side on roll, and the index of the one that it has now.
    on_roll : (K,) values before it rolls, if it does not double.
    after : (boards, K) value to this side of each board that it can play to, the other side then being on roll with
        the board that it has now.
    """

    position: Position
    usual: float | None
    columns: Columns
    error: float
    ours: Family
    place: int
    on_roll: Array
    after: Array
    source: Source = CALCULATION

    def plays(self, roll: int) -> Array:
        """Return the indices, in `ours`, of the boards that a roll can be played to.

        roll : 0 to 20 for 11, 21, 22, 31, ... 66.
        """
        return self.ours.plays(roll, self.place)

    def values(self, high: int, low: int, column: int) -> dict[Side, float]:
        """Return the values, in one column, of the results of a roll: {side after the play: value to it}.

        high, low : the dice. column : index of a cube state.
        """
        high, low = max(high, low), min(high, low)
        places = self.plays(high * (high - 1) // 2 + low - 1)
        values = self.after[places, column].tolist()
        return {self.ours.side(int(place)): value for place, value in zip(places, values, strict=True)}

    def column(self, cube: str) -> int:
        """Return the index of the column that has the money equities for a cube.

        cube : "centered", "owned" (by the side on roll), "opponent" or "cubeless".
        """
        return self.columns.states.index(MONEY[cube])

    def equity(self, cube: str) -> float:
        """Return the money equity of the side on roll, not doubling, with a cube at 1 (see `column` for `cube`)."""
        return float(self.on_roll[self.column(cube)])


@dataclass(frozen=True, eq=False)
class Game:
    """A solved position with all that can come up in its game.

    after : (boards of A, boards of B, K) value of each pair to A, the side on roll at the start, when B is on roll.
    """

    work: Work
    columns: Columns
    after: Array

    @property
    def error(self) -> float:
        """Bound of the rounding error of all values, in the unit of the values.

        Each roll takes 23 roundings of numbers that are at most the greatest value.
        """
        return 23 * 2.0**-52 * self.work.rolls * float(np.abs(self.columns.won[:, :, 1:]).max())

    def start(self) -> Solved:
        """Return the values of the position that the game begins with."""
        return self._first(self.work.position, 0, 0)

    def find(self, position: Position, *, first: bool) -> Solved | None:
        """Return the values of a position that can come up in the game, None for one that can't.

        first : whether the side on roll in it is the one that was on roll at the start of the game.
        """
        ours = self.work.ours
        theirs = self.work.theirs
        mine, other = (position.us, position.them) if first else (position.them, position.us)
        u = ours.place(mine)
        t = theirs.place(other)
        if u is None or t is None or not mine.chequers or not other.chequers:
            return None
        if not (int(ours.plies[u]) >> (0 if first else 1)) & int(theirs.plies[t]):
            return None
        return self._first(position, u, t) if first else self._second(position, u, t)

    def _first(self, position: Position, u: int, t: int) -> Solved:
        here = np.ascontiguousarray(self.after[:, t])
        ours = self.work.ours
        on_roll = _rolled(here[_results(ours, u)], ours, u)
        return Solved(position, None, self.columns, self.error, ours, u, on_roll, here)

    def _second(self, position: Position, u: int, t: int) -> Solved:
        ours = self.work.ours
        theirs = self.work.theirs
        results = _results(theirs, t)
        after = np.zeros((len(theirs), len(self.columns)))
        after[-1] = self.columns.won[1][:, ours.gains[u]]
        met = np.unique(results)
        met = met[met < len(theirs) - 1]
        if len(met):
            rolling = _rolled(self.after[_results(ours, u)[:, None], met[None]], ours, u)
            after[met] = -self.columns.choose_cube_action(0, rolling)
        on_roll = _rolled(after[results], theirs, t)
        columns = self.columns.exchange_sides()
        return Solved(position, None, columns, self.error, theirs, t, on_roll, after)


def _results(family: Family, place: int) -> Array:
    """Return the indices of the boards that the 21 rolls can be played to, one roll after another."""
    return family.results[family.ends[21 * place] : family.ends[21 * place + 21]]


def _rolled(values: Array, family: Family, place: int) -> Array:
    """Return the mean over the rolls of each roll's best value.

    values : (results, ...) in the order of `_results`.
    """
    starts = family.ends[21 * place : 21 * place + 21] - family.ends[21 * place]
    best = np.maximum.reduceat(values, starts, axis=0)
    total = np.zeros(best.shape[1:])
    for roll in range(21):
        total += WEIGHTS[roll] * best[roll]
    return total / 36


def solve(
    work: Work, columns: Columns, *, threads: int | None = None, progress: Progress | None = None
) -> Game:
    """Calculate the values of all pairs of boards of a plan.

    Parameters
    ----------
    work
        The plan, as returned by `plan`.
    columns
        The cube states, as many as planned; else SolverError is raised.
    threads
        Number of threads; all cores if None.
    progress
        Called as ``progress(done, total)`` with numbers of pairs.
    """
    if len(columns) != work.columns:
        raise SolverError(f"planned for {work.columns} columns, not {len(columns)}")
    ours = work.ours
    theirs = work.theirs
    k = len(columns)
    after = np.zeros((len(ours), len(theirs), k))
    after[-1] = columns.won[0][:, theirs.gains].T
    gains = ours.gains
    a, b = (tuple(np.ascontiguousarray(array[side]) for array in columns.doubling) for side in (0, 1))
    won = np.ascontiguousarray(columns.won[1])
    fixed = (
        work.rolling, work.waiting, ours.ends, ours.results, theirs.ends, theirs.results, gains, a, b, won, after,
    )  # fmt: skip
    threads = thread_count(threads)
    each = max(1, LANES // k)
    lanes = max(len(theirs), each) * k
    spaces = [(np.zeros(len(theirs) * each * k), np.empty(lanes), np.empty(lanes)) for _ in range(threads)]

    def rows(first: int, last: int) -> None:
        space = spaces.pop()
        kernels.solve_rows(first, last, *fixed, space)
        spaces.append(space)

    cuts = np.flatnonzero(np.diff(ours.pips)) + 1
    done = 0
    total = max(1, work.pairs)
    lengths = (work.waiting[:, 1] - work.waiting[:, 0]).clip(0)
    with ThreadPoolExecutor(threads) as pool:
        # layers of equal pips from the fewest on; the first board is the position itself, the last all off
        for start, stop in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
            step = min(each, -(-int(stop - start) // threads))
            jobs = [
                pool.submit(rows, low, min(low + step, int(stop)))
                for low in range(int(start), int(stop), step)
            ]
            for job in jobs:
                job.result()
            done += int(lengths[start:stop].sum())
            if progress is not None:
                progress(done, total)
    return Game(work, columns, after)


# -- the rolls of one side -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SideRolls:
    """Exact distributions of the rolls of one side.

    boards : how many boards the side can reach.
    last : (rolls,) probability of bearing off the last chequer in exactly 0, 1, 2, ... rolls.
    first : the same for the first chequer; None if some are off already.

    Each is that of the play which minimises its mean.
    """

    side: Side
    boards: int
    last: Array
    first: Array | None


def solve_side(side: Side, *, limit: int | None = None) -> SideRolls:
    """Calculate the distributions of rolls of one side on up to 24 points, from the rules alone.

    limit : largest calculation, in pairs of boards times columns (a board counts as 400 of these); TooMuchWorkError
    beyond it.

    NotCoveredError for a chequer on the bar; PositionError if all are off.
    """
    if not side.chequers:
        raise PositionError("all chequers are off, there is nothing to play")
    if side.bar:
        raise NotCoveredError(f"{side} has a chequer on the bar")
    most = DEFAULT_LIMIT if limit is None else limit
    boards = family(side, limit=most)
    if boards is None:
        raise TooMuchWorkError(f"{side}", None, most)
    rolls = int(boards.plies[-1]).bit_length()
    check_memory(8 * len(boards) * (rolls + 1), f"{side}: its rolls")
    counts = boards.counts.sum(axis=1, dtype=np.int64)
    last = _chances(boards, counts == 0, rolls)
    first = _chances(boards, counts < MAX_CHEQUERS, rolls) if side.chequers == MAX_CHEQUERS else None
    return SideRolls(side, len(boards), last, first)


def _chances(boards: Family, done: Array, rolls: int) -> Array:
    """Return the distribution of rolls until a board is `done` (n,), for the board that the family begins with."""
    chances = np.zeros((len(boards), rolls))
    kernels.roll_chances(boards.ends, boards.results, done, np.zeros(len(boards)), chances)
    found: Array = chances[0, : np.flatnonzero(chances[0])[-1] + 1].copy()
    return found
