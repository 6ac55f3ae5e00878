"""Exact answers on demand for one race, at a match score and for money: from the rules alone, no table is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from bgfmt.analysis import solving
from bgfmt.analysis.match import MatchCube, MatchPlay, decide, rank
from bgfmt.analysis.solving import Game, Progress, Solved, Work
from bgfmt.errors import PositionError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import cube_owner
from bgfmt.met.model import Met
from bgfmt.met.score import OWNERS, CubeState, Score
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns, joined

if TYPE_CHECKING:
    from bgfmt.analysis.cube import CubeAction

#: the cube of money answers, as the side on roll sees it
MONEY = {"cubeless": None, **{owner: CubeState(1, place) for owner, place in OWNERS.items()}}


def gammons(position: Position) -> bool:
    """Whether a side still has all fifteen chequers on the board, so that it can lose a gammon."""
    return MAX_CHEQUERS in (position.us.chequers, position.them.chequers)


def roll_number(high: int, low: int) -> int:
    """Place of a roll among the 21: 1-1, 2-1, 2-2, 3-1, ..."""
    high, low = max(high, low), min(high, low)
    return high * (high - 1) // 2 + low - 1


def _solved(
    position: Position,
    kept: Columns,
    limit: int | None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Game:
    work = solving.plan(position, len(kept), limit=limit)
    work.check(limit)
    return solving.solve(work, kept, threads=threads, progress=progress)


# -- match -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatchAnswer:
    """A position solved at a match score: the cube decision, and every play of every roll.

    place : the column of the cube as it is; it is 0, the cubeless one, where nobody may double any more.
    """

    position: Position
    score: Score
    cube: MatchCube
    solved: Solved
    place: int

    def plays(self, high: int, low: int) -> list[MatchPlay]:
        """All plays of a roll, best first, chosen for this score and cube."""
        places = self.solved.plays(roll_number(high, low))
        values = self.solved.after[places, self.place].tolist()
        sides = [self.solved.ours.side(int(place)) for place in places]
        chances = _chances(self.score, self.solved, self.place, values)
        return rank(self.cube, zip(sides, chances, strict=True))


def match_columns(position: Position, score: Score) -> Columns:
    """The columns a position at a score needs."""
    return columns.for_match(score, gammons=gammons(position))


def plan_match(position: Position, score: Score, *, limit: int | None = None) -> Work:
    """What solving a position at a score takes; NotCoveredError for contact and for far more than `limit`."""
    return solving.plan(position, len(match_columns(position, score)), limit=limit)


def solve_match(
    position: Position,
    score: Score,
    *,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MatchAnswer:
    """The exact answer of a race at a match score, in float64, from the rules and the match equity table alone.

    Parameters
    ----------
    position : the side on roll first; no contact, up to fifteen chequers a side on up to 24 points.
    score : the score, cube and match equity table.
    limit : most pairs of boards times cube states to calculate, `solving.DEFAULT_LIMIT` when None.
    progress : called as ``progress(done, total)`` with pairs of boards.

    Raises
    ------
    PositionError when the game is over; NotCoveredError for contact and beyond the limit, naming both;
    SolverError for too little memory.
    """
    game = _solved(position, match_columns(position, score), limit, threads, progress)
    return match_answer(game.start(), score)


def match_answer(solved: Solved, score: Score) -> MatchAnswer:
    """The answer for a position solved at a score, seen by the side on roll."""
    place = solved.columns.place(score.state)
    return MatchAnswer(solved.position, score, judge(solved, score, place), solved, place)


def judge(solved: Solved, score: Score, place: int) -> MatchCube:
    """The cube decision at a score, whose cube as it is has column `place`."""
    position, doubling = solved.position, solved.columns.doubling
    (no_double,) = _chances(score, solved, place, [float(solved.on_roll[place])])
    taken = None
    if score.may_double(0):
        value = float(solved.on_roll[doubling.source[0, place]])
        taken = (1 + float(doubling.add[0, place]) + float(doubling.times[0, place]) * value) / 2
    win = (1 + float(solved.on_roll[0])) / 2 if solved.columns.states[0] is None else None
    counted = gammons(position)
    return decide(position, score, no_double, taken, gammons=counted, error=solved.error, cubeless_win=win)


def _chances(score: Score, solved: Solved, place: int, values: list[float]) -> list[float]:
    """Match winning chances from values of a column."""
    cubeless = solved.columns.states[place] is None
    add, times = columns.dead(score, 0, score.state) if cubeless else (0.0, 1.0)
    return [(1 + add + times * value) / 2 for value in values]


# -- money -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MoneyPlay:
    """A play for money: the side after it, its equity for a cube at 1, and what it loses against the best."""

    result: Side
    equity: float
    loss: float
    close: bool


@dataclass(frozen=True, eq=False)
class MoneyAnswer:
    """A position solved for money. Equities are of the side on roll before it rolls, for a cube now at 1.

    With `jacoby` gammons count for nothing while the cube is centered.
    """

    position: Position
    jacoby: bool
    solved: Solved

    def equity(self, cube: str) -> float:
        """Of rolling on with the cube "centered", "owned" by the side on roll or by the "opponent", or "cubeless"."""
        return float(self.solved.on_roll[self._column(cube)])

    def _column(self, cube: str) -> int:
        return self.solved.columns.states.index(MONEY[cube])

    @property
    def cubeless(self) -> float:
        """Equity without a cube."""
        return self.equity("cubeless")

    @property
    def centered(self) -> float:
        """Equity of rolling on with a centered cube."""
        return self.equity("centered")

    @property
    def owned(self) -> float:
        """Equity of rolling on when the side on roll owns the cube."""
        return self.equity("owned")

    @property
    def opponent(self) -> float:
        """Equity when the other side owns the cube."""
        return self.equity("opponent")

    @property
    def gammons(self) -> bool:
        """Whether a side can still lose a gammon, which is then counted."""
        return gammons(self.position)

    @property
    def error(self) -> float:
        """No equity is farther than this from the truth; of an estimate 99.9 % are not."""
        return self.solved.error

    @property
    def estimated(self) -> bool:
        """Whether the numbers are estimated."""
        return self.solved.work is None

    def cube_action(self, owner: str = "centered") -> CubeAction:
        """The cube decision, as from any table of exact equities."""
        from bgfmt.analysis.cube import CubeAction

        owner = cube_owner(owner)
        return CubeAction(self.position, owner, self.equity(owner), 2 * self.opponent, error=self.error)

    def plays(self, high: int, low: int, cube: str = "centered") -> list[MoneyPlay]:
        """All plays of a roll, best first; `cube` is "centered", "owned", "opponent" or "cubeless"."""
        places = self.solved.plays(roll_number(high, low))
        values = self.solved.after[places, self._column(cube)].tolist()
        wins = self.solved.after[places, 0].tolist()
        # where the other side passes or wins whatever we play, the better chance without a cube comes first
        order = sorted(range(len(places)), key=lambda i: (-values[i], -wins[i]))
        losses = [max(values) - value for value in values]
        sides = [self.solved.ours.side(int(place)) for place in places]
        return [MoneyPlay(sides[i], values[i], losses[i], losses[i] <= 2 * self.error) for i in order]


def plan_money(position: Position, *, limit: int | None = None) -> Work:
    """What solving a position for money takes; NotCoveredError for contact and for far more than `limit`."""
    return solving.plan(position, len(columns.for_money()), limit=limit)


def solve_money(
    position: Position,
    *,
    jacoby: bool = False,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MoneyAnswer:
    """The exact answer of a race for money, cubeless and with the cube wherever it lies; see `solve_match`."""
    game = _solved(position, columns.for_money(jacoby=jacoby), limit, threads, progress)
    return MoneyAnswer(position, jacoby, game.start())


# -- every score ---------------------------------------------------------------------------------------


TOGETHER = 48  # columns solved at once
GRID_BYTES = 2 << 30

Cell = tuple[int, int, bool]


@dataclass(frozen=True)
class Grid:
    """The decisions of a position at all scores up to `upto`-away.

    cells : by (away of the side on roll, away of the other, whether it is the Crawford game). Where one side needs 1
    there are two cells, before (the Crawford game) and after; 1-away, 1-away is there once, as (1, 1, False).
    estimated : whether the decisions are estimated.
    """

    position: Position
    upto: int
    met: Met
    cells: Mapping[Cell, MatchCube]
    estimated: bool = False

    def __getitem__(self, cell: Cell) -> MatchCube:
        return self.cells[cell]


def scores(upto: int) -> Iterator[Cell]:
    """All cells of a grid, row by row."""
    for mine in range(1, upto + 1):
        for other in range(1, upto + 1):
            if (mine == 1) != (other == 1):
                yield mine, other, True
            yield mine, other, False


def scores_grid(
    position: Position,
    upto: int = 7,
    *,
    met: Met,
    player: int = 0,
    cube: int = 1,
    owner: str = "centered",
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    estimate: Callable[[Columns, float], Solved] | None = None,
) -> Grid:
    """The cube action at all scores up to `upto`-away each.

    Parameters
    ----------
    cube, owner : the cube in every cell; cells of the Crawford game have none whatever it is.
    limit : most pairs of boards times cube states, of all scores together; `solving.DEFAULT_LIMIT` when None.
    estimate : what estimates the columns of a score instead of solving them, given the worth of a game.

    Raises
    ------
    As `solve_match`; PositionError when `upto` is below 1, NotCoveredError when it is beyond the table.
    """
    if upto < 1:
        raise PositionError(f"a grid goes up to 1-away or more, not {upto}")
    left: list[tuple[Cell, Score, Columns]] = []
    for mine, other, crawford in scores(upto):
        now = (1, "centered") if crawford else (cube, owner)
        score = Score((mine, other), met, crawford, now[0], now[1], player)
        left.append(((mine, other, crawford), score, match_columns(position, score)))
    cells: dict[Cell, MatchCube] = {}
    if estimate is not None:
        for cell, score, part in left:
            solved = estimate(part, (score.after(0, score.cube) - score.after(0, -score.cube)) / 2)
            cells[cell] = judge(solved, score, part.place(score.state))
        return Grid(position, upto, met, cells, estimated=True)
    shared = 0 if gammons(position) else 1
    total = sum(len(part) - shared for _, _, part in left) + shared
    work = solving.plan(position, total, limit=limit)
    work.check_size(limit)
    together = max(1, min(TOGETHER, GRID_BYTES * total // max(1, work.memory)))
    done = 0
    while left:
        many, used = 0, shared
        while many < len(left) and (not many or used + len(left[many][2]) - shared <= together):
            used += len(left[many][2]) - shared
            many += 1
        here, left = left[:many], left[many:]
        kept, places = joined([part for _, _, part in here])
        solved = solving.solve(work.of(len(kept)), kept, threads=threads).start()
        for (cell, score, part), place in zip(here, places, strict=True):
            cells[cell] = judge(solved, score, int(place[part.place(score.state)]))
        done += used - shared
        if progress is not None:
            progress(done, total - shared)
    return Grid(position, upto, met, cells)


# -- calculations kept for a while, for what comes up later in a game ----------------------------------


KEPT_BYTES = 256 << 20
KEPT_GAMES = 4
Rules = tuple[Any, ...]


def _rules(score: Score, *, first: bool) -> Rules:
    """The rules of a score, as the side on roll sees it: `first` where that is the side that began."""
    met = score.met
    player = 0 if met.even else score.player if first else 1 - score.player
    away = score.away if first else score.away[::-1]
    return away, score.crawford, score.without_cube, met.digest, met.extended, player


class Games:
    """The last calculations, `KEPT_GAMES` at most and up to `most` bytes together, newest last."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self.most = most
        self._games: list[tuple[Rules, Game]] = []
        self._lock = Lock()

    def match(self, position: Position, score: Score) -> MatchAnswer | None:
        """The answer at a score from a calculation kept, None where there is none."""
        for rules, game in reversed(tuple(self._games)):
            for first in (True, False):
                if rules == _rules(score, first=first):
                    solved = game.find(position, first=first)
                    if solved is not None and _holds(solved.columns, score):
                        return match_answer(solved, score)
        return None

    def money(self, position: Position, jacoby: bool) -> MoneyAnswer | None:
        """The answer for money from a calculation kept, None where there is none."""
        for rules, game in reversed(tuple(self._games)):
            if rules == ("money", jacoby):
                solved = game.find(position, first=True) or game.find(position, first=False)
                if solved is not None:
                    return MoneyAnswer(position, jacoby, solved)
        return None

    def solve_match(
        self, position: Position, score: Score, limit: int, progress: Progress | None
    ) -> MatchAnswer:
        """As `solve_match`, and kept."""
        game = _solved(position, match_columns(position, score), limit, progress=progress)
        return match_answer(self._keep(_rules(score, first=True), game), score)

    def solve_money(
        self, position: Position, jacoby: bool, limit: int, progress: Progress | None
    ) -> MoneyAnswer:
        """As `solve_money`, and kept."""
        game = _solved(position, columns.for_money(jacoby=jacoby), limit, progress=progress)
        return MoneyAnswer(position, jacoby, self._keep(("money", jacoby), game))

    def _keep(self, rules: Rules, game: Game) -> Solved:
        if game.work.memory <= self.most:
            with self._lock:
                games = [*self._games, (rules, game)][-KEPT_GAMES:]
                while sum(one.work.memory for _, one in games) > self.most:
                    del games[0]
                self._games = games
        return game.start()


def _holds(kept: Columns, score: Score) -> bool:
    """Whether the columns tell of the cube as it is."""
    state: Any = score.state
    return state in kept.states or (kept.states[0] is columns.CUBELESS and not score.live(state))
