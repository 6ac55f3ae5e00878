"""Calculations kept for a while: what comes up later in a game is answered from the one made for its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from bgfmt.analysis.ondemand import answers, engine, solving
from bgfmt.analysis.ondemand.answers import MatchAnswer, MoneyAnswer
from bgfmt.analysis.ondemand.engine import Progress
from bgfmt.analysis.ondemand.solving import Game, Solved
from bgfmt.game.board import Position
from bgfmt.met.score import Score
from bgfmt.solver import columns
from bgfmt.solver.columns import Columns

MOST_BYTES = 256 << 20
MOST = 4  # calculations


@dataclass(frozen=True)
class _Key:
    """The rules of a calculation, the side on roll at its beginning first. away is None for money."""

    away: tuple[int, int] | None = None
    crawford: bool = False
    without_cube: bool = False
    met: str = ""
    player: int = 0
    jacoby: bool = False

    @classmethod
    def of(cls, score: Score, *, first: bool) -> _Key:
        """The key of a score, as the side on roll sees it: `first` where that is the side that began."""
        met = score.met
        player = 0 if met.even else score.player if first else 1 - score.player
        away = score.away if first else score.away[::-1]
        return cls(away, score.crawford, score.without_cube, f"{met.digest}{met.extended}", player)


class Kept:
    """The last calculations, `MOST` at most and up to `most` bytes together, newest last."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._games: list[tuple[_Key, Game]] = []
        self._lock = Lock()

    def match(self, position: Position, score: Score) -> MatchAnswer | None:
        """The answer at a score from a calculation kept, None where there is none."""
        for key, game in reversed(tuple(self._games)):
            for first in (True, False):
                if key == _Key.of(score, first=first):
                    solved = game.find(position, first=first)
                    if solved is not None and _holds(solved.columns, score):
                        return answers.match_answer(solved, score)
        return None

    def money(self, position: Position, jacoby: bool) -> MoneyAnswer | None:
        """The answer for money from a calculation kept, None where there is none."""
        for key, game in reversed(tuple(self._games)):
            if key == _Key(jacoby=jacoby):
                solved = game.find(position, first=True) or game.find(position, first=False)
                if solved is not None:
                    return MoneyAnswer(position, jacoby, solved)
        return None

    def solve_match(
        self, position: Position, score: Score, limit: int, progress: Progress | None
    ) -> MatchAnswer:
        """As `answers.solve_match`, and kept."""
        kept = answers.match_columns(position, score)
        solved = self._solve(_Key.of(score, first=True), position, kept, limit, progress)
        return answers.match_answer(solved, score)

    def solve_money(
        self, position: Position, jacoby: bool, limit: int, progress: Progress | None
    ) -> MoneyAnswer:
        """As `answers.solve_money`, and kept."""
        kept = columns.for_money(jacoby=jacoby)
        return MoneyAnswer(
            position, jacoby, self._solve(_Key(jacoby=jacoby), position, kept, limit, progress)
        )

    def _solve(
        self, key: _Key, position: Position, kept: Columns, limit: int, progress: Progress | None
    ) -> Solved:
        work = engine.plan(position, len(kept), limit=limit)
        work.check(limit)
        game = solving.solve(work, kept, progress=progress)
        if work.memory <= self.most:
            with self._lock:
                games = [*self._games, (key, game)][-MOST:]
                while sum(one.work.memory for _, one in games) > self.most:
                    del games[0]
                self._games = games
        return game.start()


def _holds(kept: Columns, score: Score) -> bool:
    """Whether the columns tell of the cube as it is."""
    state: Any = score.state
    return state in kept.states or (kept.states[0] is columns.CUBELESS and not score.live(state))
