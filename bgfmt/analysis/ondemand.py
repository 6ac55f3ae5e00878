"""Exact answers on demand for one race, at a match score and for money: from the rules alone, no table is read."""

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
from bgfmt.solver.columns import Columns, joined
from bgfmt.solver.machine import check_memory

#: what a race is solved for: a match score with its cube, or money, with Jacoby's rule (True) or without
Terms = Score | bool


def columns_for(position: Position, terms: Terms) -> Columns:
    """The columns a position needs; those of money are the cubeless one and one for each place of the cube."""
    if isinstance(terms, Score):
        return columns.for_match(terms, gammons=position.gammons)
    return columns.for_money(jacoby=terms)


def plan_match(position: Position, score: Score, *, limit: int | None = None) -> Work:
    """What solving a position at a score takes; NotCoveredError for contact and for far more than `limit`."""
    return solving.plan(position, len(columns_for(position, score)), limit=limit)


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
    return match_answer(_game(position, score, limit, threads, progress).start(), score)


def solve_money(
    position: Position,
    *,
    jacoby: bool = False,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Solved:
    """The exact answer of a race for money, cubeless and with the cube wherever it lies; see `solve_match`.

    With `jacoby` gammons count for nothing while the cube is centered.
    """
    return _game(position, jacoby, limit, threads, progress).start()


def _game(
    position: Position,
    terms: Terms,
    limit: int | None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Game:
    kept = columns_for(position, terms)
    work = solving.plan(position, len(kept), limit=limit)
    work.check(limit)
    check_memory(work.memory, f"{position}: exact play")
    return solving.solve(work, kept, threads=threads, progress=progress)


# -- match -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatchAnswer:
    """The answer for a position at a match score, by any source.

    plays : called with the two dice it gives, for each side that a play leads to, the chance to win the match after
    it.
    """

    cube: MatchCube
    plays: Callable[[int, int], Mapping[Side, float]]


def match_answer(solved: Solved, score: Score) -> MatchAnswer:
    """The answer for a position solved, or estimated, at a score, seen by the side on roll."""
    place = solved.columns.place(score.state)

    def plays(high: int, low: int) -> dict[Side, float]:
        return {
            side: _chance(score, solved, place, value)
            for side, value in solved.values(high, low, place).items()
        }

    return MatchAnswer(judge(solved, score, place), plays)


def judge(solved: Solved, score: Score, place: int) -> MatchCube:
    """The cube decision at a score; `place` is the column of its cube, 0 where nobody may double any more."""
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
    """The match winning chance of a value of a column."""
    cubeless = solved.columns.states[place] is columns.CUBELESS
    add, times = columns.dead(score, 0, score.state) if cubeless else (0.0, 1.0)
    return (1 + add + times * value) / 2


# -- every score ---------------------------------------------------------------------------------------


TOGETHER = 48  # columns solved at once
GRID_BYTES = 2 << 30


def scores(upto: int) -> Iterator[AtScore]:
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
    progress: Progress | None = None,
    estimate: Callable[[Score], Solved] | None = None,
) -> Grid:
    """The cube action at all scores up to `upto`-away each.

    Parameters
    ----------
    cube, owner : the cube in every cell; cells of the Crawford game have none whatever it is.
    limit : most pairs of boards times cube states, of all scores together; `solving.DEFAULT_LIMIT` when None.
    estimate : what estimates a score instead of solving it.

    Raises
    ------
    As `solve_match`; PositionError when `upto` is below 1, NotCoveredError when it is beyond the table.
    """
    if upto < 1:
        raise PositionError(f"a grid goes up to 1-away or more, not {upto}")
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
    together = max(1, min(TOGETHER, GRID_BYTES * total // max(1, work.memory)))
    done = 0
    while left:
        many = 0
        used = shared
        while many < len(left) and (not many or used + len(left[many][2]) - shared <= together):
            used += len(left[many][2]) - shared
            many += 1
        here = left[:many]
        left = left[many:]
        kept, places = joined([part for _, _, part in here])
        solved = solving.solve(replace(work, columns=len(kept)), kept).start()
        for (cell, score, part), place in zip(here, places, strict=True):
            cells[cell] = judge(solved, score, int(place[part.place(score.state)]))
        done += used - shared
        if progress is not None:
            progress(done, total - shared)
    return Grid(position, upto, met, cells)


# -- calculations kept for a while, for what comes up later in a game ----------------------------------


GAMES_BYTES = 256 << 20
KEPT_GAMES = 4
Rules = tuple[Any, ...]


def _rules(terms: Terms) -> Rules:
    """What two questions of one game have in common, as the side on roll sees it."""
    if not isinstance(terms, Score):
        return ("money", terms)
    met = terms.met
    player = 0 if met.even else terms.player
    return terms.away, terms.crawford, terms.without_cube, met.digest, met.extended, player


class Games:
    """The last calculations, `KEPT_GAMES` at most and up to `most` bytes together, newest last."""

    def __init__(self, most: int = GAMES_BYTES) -> None:
        self.most = most
        self._games: list[tuple[Rules, Game]] = []
        self._lock = Lock()

    def find(self, position: Position, terms: Terms) -> Solved | None:
        """A position solved by a calculation kept, None where there is none."""
        turned = terms.for_opponent() if isinstance(terms, Score) else terms
        for rules, game in reversed(tuple(self._games)):
            for first, asked in ((True, terms), (False, turned)):
                if rules == _rules(asked):
                    solved = game.find(position, first=first)
                    if solved is not None and _holds(solved.columns, terms):
                        return solved
        return None

    def solve(self, position: Position, terms: Terms, limit: int, progress: Progress | None = None) -> Solved:
        """A position solved, and kept."""
        game = _game(position, terms, limit, progress=progress)
        if game.work.memory <= self.most:
            with self._lock:
                games = [*self._games, (_rules(terms), game)][-KEPT_GAMES:]
                while sum(one.work.memory for _, one in games) > self.most:
                    del games[0]
                self._games = games
        return game.start()


def _holds(kept: Columns, terms: Terms) -> bool:
    """Whether the columns tell of the cube as it is."""
    if not isinstance(terms, Score) or terms.state in kept.states:
        return True
    return kept.states[0] is columns.CUBELESS and not terms.live(terms.state)
