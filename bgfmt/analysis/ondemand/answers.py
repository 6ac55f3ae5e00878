"""Exact answers on demand for one position, at a match score and for money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgfmt.analysis.match import MatchCube, MatchPlay, decide, rank
from bgfmt.analysis.ondemand import engine, solving
from bgfmt.analysis.ondemand.engine import Progress, Work
from bgfmt.analysis.ondemand.solving import Solved
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import cube_owner
from bgfmt.met.score import OWNERS, CubeState, Score
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns

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

    @property
    def work(self) -> Work:
        """What it took."""
        return self.solved.work

    def plays(self, high: int, low: int) -> list[MatchPlay]:
        """All plays of a roll, best first, chosen for this score and cube."""
        places = self.solved.plays(roll_number(high, low))
        chances = _chances(
            self.score, self.solved, self.place, self.solved.after[places, self.place].tolist()
        )
        sides = [self.solved.ours.side(int(place)) for place in places]
        return rank(self.cube, zip(sides, chances, strict=True))


def match_columns(position: Position, score: Score) -> Columns:
    """The columns a position at a score needs."""
    return columns.for_match(score, gammons=gammons(position))


def plan_match(position: Position, score: Score, *, limit: int | None = None) -> Work:
    """What solving a position at a score takes; NotCoveredError for contact and for far more than `limit`."""
    return engine.plan(position, len(match_columns(position, score)), limit=limit)


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
    limit : most pairs of boards times cube states to calculate, `engine.DEFAULT_LIMIT` when None.
    progress : called as ``progress(done, total)`` with pairs of boards.

    Raises
    ------
    PositionError when the game is over; NotCoveredError for contact and beyond the limit, naming both;
    SolverError for too little memory.
    """
    kept = match_columns(position, score)
    work = engine.plan(position, len(kept), limit=limit)
    work.check(limit)
    solved = solving.solve(work, kept, threads=threads, progress=progress).start()
    return match_answer(solved, score)


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
    if solved.columns.states[place] is not None:
        return [(1 + value) / 2 for value in values]
    add, times = columns.dead(score, 0, score.state)
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

    gammons : whether a side can still lose a gammon; it is then counted. With `jacoby` gammons count for nothing
    while the cube is centered.
    """

    position: Position
    jacoby: bool
    solved: Solved

    @property
    def cubeless(self) -> float:
        """Equity without a cube."""
        return float(self.solved.on_roll[0])

    @property
    def centered(self) -> float:
        """Equity of rolling on with a centered cube."""
        return float(self.solved.on_roll[1])

    @property
    def owned(self) -> float:
        """Equity of rolling on when the side on roll owns the cube."""
        return float(self.solved.on_roll[self._column("owned")])

    @property
    def opponent(self) -> float:
        """Equity when the other side owns the cube."""
        return float(self.solved.on_roll[self._column("opponent")])

    def _column(self, cube: str) -> int:
        return self.solved.columns.states.index(MONEY[cube]) if cube in MONEY else 0

    @property
    def gammons(self) -> bool:
        """Whether a side can still lose a gammon."""
        return gammons(self.position)

    @property
    def error(self) -> float:
        """No equity is farther than this from the truth."""
        return self.solved.error

    @property
    def work(self) -> Work:
        """What it took."""
        return self.solved.work

    def cube_action(self, owner: str = "centered") -> CubeAction:
        """The cube decision, as from any table of exact equities."""
        from bgfmt.analysis.cube import CubeAction

        rolling = float(self.solved.on_roll[self._column(owner)])
        return CubeAction(self.position, cube_owner(owner), rolling, 2 * self.opponent, error=self.error)

    def plays(self, high: int, low: int, cube: str = "centered") -> list[MoneyPlay]:
        """All plays of a roll, best first; `cube` is "centered", "owned", "opponent" or "cubeless"."""
        places = self.solved.plays(roll_number(high, low))
        values = self.solved.after[places, self._column(cube)]
        wins = self.solved.after[places, 0]
        # where the other side passes or wins whatever we play, the better chance without a cube comes first
        order = sorted(range(len(places)), key=lambda i: (-values[i], -wins[i]))
        best = float(values.max())
        return [
            MoneyPlay(
                self.solved.ours.side(int(places[i])),
                float(values[i]),
                best - float(values[i]),
                bool(best - values[i] <= 2 * self.error),
            )
            for i in order
        ]


def plan_money(position: Position, *, limit: int | None = None) -> Work:
    """What solving a position for money takes; NotCoveredError for contact and for far more than `limit`."""
    return engine.plan(position, len(columns.for_money()), limit=limit)


def solve_money(
    position: Position,
    *,
    jacoby: bool = False,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MoneyAnswer:
    """The exact answer of a race for money, cubeless and with the cube wherever it lies; see `solve_match`."""
    kept = columns.for_money(jacoby=jacoby)
    work = engine.plan(position, len(kept), limit=limit)
    work.check(limit)
    solved = solving.solve(work, kept, threads=threads, progress=progress).start()
    return MoneyAnswer(position, jacoby, solved)
