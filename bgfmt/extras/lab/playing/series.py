"""Series of games from one position: wins, gammons and points with their standard errors.

BKG against itself is played by compiled games on all cores, other players by the referee. The same seed gives the
same dice for each game, either way and on any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.extras.lab.engine.bkg.kernels.series import play
from bgfmt.extras.lab.engine.bkg.measures import array_of
from bgfmt.extras.lab.engine.bkg.player import Bkg
from bgfmt.extras.lab.playing.dice import MASK
from bgfmt.extras.lab.playing.referee import Setting
from bgfmt.extras.matches.model import Game

CHUNK = 50  # games that a thread plays between two reports of progress


@dataclass(frozen=True)
class Series:
    """The results of a number of games, from the view of player 0.

    points : (games,) int64, positive if player 0 won.
    gammons, backgammons : won by player 0 and by player 1; backgammons count as gammons, too.
    turns : turns played in all games.
    """

    points: NDArray[np.int64]
    gammons: tuple[int, int]
    backgammons: tuple[int, int]
    turns: int

    @property
    def games(self) -> int:
        """Number of finished games."""
        return len(self.points)

    @property
    def wins(self) -> int:
        """Number of games that player 0 won."""
        return int((self.points > 0).sum())

    @property
    def win_error(self) -> float:
        """Standard error of the share of games that player 0 won."""
        p = self.wins / self.games
        return sqrt(p * (1 - p) / self.games)

    @property
    def mean(self) -> float:
        """Mean points of player 0 a game."""
        return float(self.points.mean())

    @property
    def error(self) -> float:
        """Standard error of `mean`, NaN for a single game."""
        return float(self.points.std(ddof=1) / sqrt(self.games)) if self.games > 1 else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dict for JSON; `win` is a share from 0 to 1."""
        return {
            "games": self.games,
            "wins": self.wins,
            "win": self.wins / self.games,
            "win_standard_error": self.win_error,
            "gammons_won": self.gammons[0],
            "gammons_lost": self.gammons[1],
            "backgammons_won": self.backgammons[0],
            "backgammons_lost": self.backgammons[1],
            "points": int(self.points.sum()),
            "points_a_game": self.mean,
            "standard_error": None if self.games < 2 else self.error,
            "turns": self.turns,
        }

    def lines(self, names: tuple[str, str]) -> list[str]:
        """Return the results as lines of text."""
        lost = self.games - self.wins
        return [
            f"{self.games:,} games, {self.turns / self.games:.1f} turns each",
            f"wins         {self.wins:>8,} {names[0]}  {lost:>8,} {names[1]}"
            f"   {100 * self.wins / self.games:.2f} % +- {100 * self.win_error:.2f}",
            f"gammons      {self.gammons[0]:>8,} {names[0]}  {self.gammons[1]:>8,} {names[1]}",
            f"backgammons  {self.backgammons[0]:>8,} {names[0]}  {self.backgammons[1]:>8,} {names[1]}",
            f"points a game for {names[0]}: {self.mean:+.4f}, standard error {self.error:.4f}",
        ]


def of_games(games: list[Game] | tuple[Game, ...]) -> Series:
    """Return the results (wins, gammons, points) of recorded games; of unfinished ones only the turns are counted.

    CapabilityError if no game is finished.
    """
    points = []
    gammons = [0, 0]
    backgammons = [0, 0]
    turns = 0
    for game in games:
        turns += sum(record.kind in ("play", "dance") for record in game.records)
        if game.result is None:
            continue
        winner = game.result.winner
        last = game.records[-1]
        points.append(game.result.points * (1 if winner == 0 else -1))
        won = game.result.points // last.cube if last.kind != "drop" else 1
        gammons[winner] += won >= 2
        backgammons[winner] += won >= 3
    if not points:
        raise CapabilityError("no game was finished")
    gammon = (gammons[0], gammons[1])
    backgammon = (backgammons[0], backgammons[1])
    return Series(np.array(points, np.int64), gammon, backgammon, turns)


def play_compiled(
    engine: Bkg,
    setting: Setting,
    games: int,
    seed: int,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Series:
    """Play a series of BKG against itself for money.

    The games are the same that the referee plays with `dice.Seeded(seed)`.

    progress : called with the number of games finished and the number of all.

    CapabilityError for no games or a match.
    """
    if games < 1 or setting.length:
        raise CapabilityError("a series must have at least one game, for money")
    kernel = engine.completion.kernel
    opening = setting.first is None
    position = setting.position if setting.first in (0, None) else setting.position.swapped()
    start = array_of(position.check())
    out = np.zeros((games, 5), np.int64)

    def work(first: int) -> int:
        part = out[first : first + CHUNK]
        play(kernel, start, opening, setting.cube, np.uint64(seed & MASK), first, part)
        return len(part)

    finished = 0
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for count in pool.map(work, range(0, games, CHUNK)):
            finished += count
            if progress is not None:
                progress(finished, games)
    winner = out[:, 0] if setting.first in (0, None) else 1 - out[:, 0]
    points = out[:, 1] * out[:, 2] * np.where(winner == 0, 1, -1)
    counts = [[int(((winner == k) & (out[:, 1] >= least)).sum()) for k in (0, 1)] for least in (2, 3)]
    return Series(points, (counts[0][0], counts[0][1]), (counts[1][0], counts[1][1]), int(out[:, 3].sum()))
