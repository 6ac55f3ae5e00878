"""Exact answers for one race on demand, at a match score and for money: calculated from the rules, without tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from bgfmt.analysis import solving
from bgfmt.analysis.cube import AtScore, Grid, MatchCube, decide
from bgfmt.analysis.solving import Game, Progress, Solved, Work
from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.met.model import Met
from bgfmt.met.score import Score
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns, join_columns
from bgfmt.solver.machine import check_memory

__all__ = [
    "CACHED_GAMES",
    "GAMES_BYTES",
    "GRID_BYTES",
    "MAX_COLUMNS",
    "Games",
    "MatchAnswer",
    "Rules",
    "Terms",
    "columns_for",
    "judge",
    "match_answer",
    "plan_match",
    "scores",
    "scores_grid",
    "solve_match",
    "solve_money",
]


#: what a race is solved for: a match score with its cube, or money with Jacoby's rule (True) or without (False)
Terms = Score | bool


def columns_for(position: Position, terms: Terms) -> Columns:
    """Return the columns (one for each cube state that values are needed for) that solving a position needs.

    terms : a match score, whose columns are the states that can arise; or for money whether Jacoby's rule is in
    force, with the cubeless column and one for each owner of the cube.
    """
    if isinstance(terms, Score):
        return columns.match_columns(terms, gammons=position.gammons)
    return columns.money_columns(jacoby=terms)


def plan_match(position: Position, score: Score, *, limit: int | None = None) -> Work:
    """Return the plan of solving a race at a match score, with its cost.

    limit : in pairs of boards times cube states. NotCoveredError for contact; TooMuchWorkError if the number of
    boards alone shows that the cost exceeds `limit`.
    """
    return solving.plan(position, len(columns_for(position, score)), limit=limit)


def solve_match(
    position: Position,
    score: Score,
    *,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MatchAnswer:
    """Solve a race at a match score exactly, in float64, from the rules and the match equity table alone.

    Parameters
    ----------
    position
        The side on roll first; no contact, up to fifteen chequers a side on up to 24 points.
    score
        The score, cube and match equity table.
    limit
        Largest calculation, in pairs of boards times cube states; `solving.DEFAULT_LIMIT` if None.
    threads
        Number of threads; all cores if None.
    progress
        Called as ``progress(done, total)`` with numbers of pairs of boards.

    Raises
    ------
    PositionError
        The game is over.
    NotCoveredError
        The sides are in contact, or the calculation exceeds the limit.
    SolverError
        There is too little memory.
    """
    return match_answer(_game(position, score, limit, threads, progress).start(), score)


def solve_money(
    position: Position,
    *,
    jacoby: bool = False,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Solved:
    """Solve a race for money exactly: its cubeless equity and those with the cube centered or owned by either side.

    jacoby : gammons do not count while the cube is centered. Other parameters and exceptions: see `solve_match`.
    """
    return _game(position, jacoby, limit, threads, progress).start()


def _game(
    position: Position,
    terms: Terms,
    limit: int | None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Game:
    """Solve a race with all positions that can come up in it; exceptions as of `solve_match`."""
    cubes = columns_for(position, terms)
    work = solving.plan(position, len(cubes), limit=limit)
    work.check(limit)
    check_memory(work.memory, f"{position}: exact play")
    return solving.solve(work, cubes, threads=threads, progress=progress)


# -- match -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatchAnswer:
    """The answer for a position at a match score, from any source.

    cube : the cube action before the roll.
    plays : function of the two dice that returns, for the side after each play, the match winning chance of the side
        that has played.
    """

    cube: MatchCube
    plays: Callable[[int, int], Mapping[Side, float]]


def match_answer(solved: Solved, score: Score) -> MatchAnswer:
    """Return the cube action and the values of plays of a race whose values at a match score are known.

    solved : the values, calculated or estimated for the columns of this score.
    """
    place = solved.columns.place(score.state)

    def plays(high: int, low: int) -> dict[Side, float]:
        return {
            side: _chance(score, solved, place, value)
            for side, value in solved.values(high, low, place).items()
        }

    return MatchAnswer(judge(solved, score, place), plays)


def judge(solved: Solved, score: Score, place: int) -> MatchCube:
    """Judge the cube action of a race whose values at a match score are known.

    place : index in the columns of `solved` of the cube at this score; 0 if neither side may double any more.
    """
    position = solved.position
    doubling = solved.columns.doubling
    no_double = _chance(score, solved, place, float(solved.on_roll[place]))
    taken = None
    if score.may_double(0):
        value = float(solved.on_roll[doubling.source[0, place]])
        taken = (1 + float(doubling.add[0, place]) + float(doubling.times[0, place]) * value) / 2
    win = (1 + float(solved.on_roll[0])) / 2 if solved.columns.states[0] is columns.CUBELESS else None
    found: dict[str, Any] = {"error": solved.error, "usual": solved.usual, "cubeless_win": win}
    return decide(position, score, no_double, taken, source=solved.source, **found)


def _chance(score: Score, solved: Solved, place: int, value: float) -> float:
    """Convert a value of a column to a match winning chance."""
    cubeless = solved.columns.states[place] is columns.CUBELESS
    add, times = columns.dead_cube_scale(score, score.state) if cubeless else (0.0, 1.0)
    return (1 + add + times * value) / 2


# -- every score ---------------------------------------------------------------------------------------


MAX_COLUMNS = 48  # columns solved at once
GRID_BYTES = 2 << 30


def scores(upto: int) -> Iterator[AtScore]:
    """Yield the scores of a grid up to `upto` points: points of the side on roll, of the other, Crawford game or not.

    Row by row, the side on roll's points from 1 up. Where one side alone needs 1 point, the Crawford game comes
    first.
    """
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
    progress: Progress | None = None,
    estimate: Callable[[Score], Solved] | None = None,
) -> Grid:
    """Return the cube action of a race at all match scores at which each side needs at most `upto` points.

    Parameters
    ----------
    position
        The side on roll first.
    upto
        Most points that either side needs.
    met, player
        The match equity table, and which of its players, 0 or 1, is on roll.
    cube, owner
        Value and owner of the cube at every score, except in the Crawford game, which has none.
    limit
        Largest calculation for all scores together, in pairs of boards times cube states; `solving.DEFAULT_LIMIT` if
        None.
    progress
        Called as ``progress(done, total)`` with numbers of columns (cube states of a score).
    estimate
        Estimates the race at a score; if given, nothing is solved.

    Raises
    ------
    PositionError
        The game is over, or `upto` is below 1.
    NotCoveredError
        The sides are in contact, the calculation exceeds the limit, or a score is beyond the match equity table.
    SolverError
        There is too little memory.
    """
    if upto < 1:
        raise PositionError(f"a grid of scores must go to 1-away or more, not {upto}")
    at: dict[AtScore, Score] = {}
    for mine, other, crawford in scores(upto):
        now = (1, "centered") if crawford else (cube, owner)
        at[mine, other, crawford] = Score((mine, other), met, crawford, now[0], now[1], player)
    if estimate is not None:
        found = {cell: match_answer(estimate(score), score).cube for cell, score in at.items()}
        return Grid(position, upto, met, found, max(one.usual or 0.0 for one in found.values()))
    cells: dict[AtScore, MatchCube] = {}
    left = [(cell, score, columns_for(position, score)) for cell, score in at.items()]
    shared = 0 if position.gammons else 1
    total = sum(len(part) - shared for _, _, part in left) + shared
    work = solving.plan(position, total, limit=limit)
    work.check(limit)
    most_columns = max(1, min(MAX_COLUMNS, GRID_BYTES * total // max(1, work.memory)))
    done = 0
    while left:
        many = 0
        used = shared
        while many < len(left) and (not many or used + len(left[many][2]) - shared <= most_columns):
            used += len(left[many][2]) - shared
            many += 1
        here = left[:many]
        left = left[many:]
        cubes, places = join_columns([part for _, _, part in here])
        solved = solving.solve(replace(work, columns=len(cubes)), cubes).start()
        for (cell, score, part), place in zip(here, places, strict=True):
            cells[cell] = judge(solved, score, int(place[part.place(score.state)]))
        done += used - shared
        if progress is not None:
            progress(done, total - shared)
    return Grid(position, upto, met, cells)


# -- a cache of calculations, for positions that come up later in a game -------------------------------


GAMES_BYTES = 256 << 20
CACHED_GAMES = 4
Rules = tuple[Any, ...]


def _rules(terms: Terms) -> Rules:
    """Return what two positions of one game have in common, as the side on roll sees it."""
    if not isinstance(terms, Score):
        return ("money", terms)
    met = terms.met
    player = 0 if met.even else terms.player
    return terms.away, terms.crawford, terms.without_cube, met.digest, met.extended, player


class Games:
    """Cache of the last calculations: at most `CACHED_GAMES`, and `most` bytes together."""

    def __init__(self, most: int = GAMES_BYTES) -> None:
        self.most = most
        self._games: list[tuple[Rules, Game]] = []
        self._lock = Lock()

    def find(self, position: Position, terms: Terms) -> Solved | None:
        """Return the values of a position that a cached calculation for the same terms includes, None if none does.

        terms : a match score, or for money whether Jacoby's rule is in force.
        """
        turned = terms.for_opponent() if isinstance(terms, Score) else terms
        for rules, game in reversed(tuple(self._games)):
            for first, asked in ((True, terms), (False, turned)):
                if rules == _rules(asked):
                    solved = game.find(position, first=first)
                    if solved is not None and _holds(solved.columns, terms):
                        return solved
        return None

    def solve(self, position: Position, terms: Terms, limit: int, progress: Progress | None = None) -> Solved:
        """Solve a race exactly and cache the calculation with all positions that can come up in it.

        terms : a match score, or for money whether Jacoby's rule is in force. limit : in pairs of boards times cube
        states. Exceptions as of `solve_match`.
        """
        game = _game(position, terms, limit, progress=progress)
        if game.work.memory <= self.most:
            with self._lock:
                games = [*self._games, (_rules(terms), game)][-CACHED_GAMES:]
                while sum(one.work.memory for _, one in games) > self.most:
                    del games[0]
                self._games = games
        return game.start()


def _holds(cubes: Columns, terms: Terms) -> bool:
    """Return whether the columns include the cube as it is."""
    if not isinstance(terms, Score) or terms.state in cubes.states:
        return True
    return cubes.states[0] is columns.CUBELESS and not terms.live(terms.state)
