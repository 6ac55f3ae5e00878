"""Series of games from one position: wins, gammons and points with their standard errors.

BKG against itself is played by compiled games on all cores, other players by the referee. The same seed gives the
same dice for each game, either way and on any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import nan, sqrt
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
from bgfmt.game.board import Position
from bgfmt.game.state import START

CHUNK = 50  # games that a thread plays between two reports of progress


@dataclass(frozen=True, eq=False)
class Series:
    """The results of a number of games, from the view of player 0.

    points : (games,) int64, positive if player 0 won.
    won : (games,) int64, 1 for a single game, 2 for a gammon, 3 for a backgammon.
    turns : turns played in all games.
    """

    points: NDArray[np.int64]
    won: NDArray[np.int64]
    turns: int

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dict for JSON; `win` is a share from 0 to 1, backgammons count as gammons, too."""
        games = len(self.points)
        ours = self.points > 0
        win = int(ours.sum()) / games
        out: dict[str, Any] = {
            "games": games,
            "wins": int(ours.sum()),
            "win": win,
            "win_standard_error": sqrt(win * (1 - win) / games),
        }
        for name, least in (("gammons", 2), ("backgammons", 3)):
            out[f"{name}_won"] = int((ours & (self.won >= least)).sum())
            out[f"{name}_lost"] = int((~ours & (self.won >= least)).sum())
        out["points"] = int(self.points.sum())
        out["points_a_game"] = float(self.points.mean())
        out["standard_error"] = None if games < 2 else float(self.points.std(ddof=1) / sqrt(games))
        out["turns"] = self.turns
        return out

    def lines(self, names: tuple[str, str]) -> list[str]:
        """Return the results as lines of text."""
        found = self.as_dict()
        games = found["games"]
        error = nan if games < 2 else found["standard_error"]
        rows = [("wins", found["wins"], games - found["wins"])]
        rows += [(name, found[f"{name}_won"], found[f"{name}_lost"]) for name in ("gammons", "backgammons")]
        lines = [f"{name:<12} {won:>8,} {names[0]}  {lost:>8,} {names[1]}" for name, won, lost in rows]
        lines[0] += f"   {100 * found['win']:.2f} % +- {100 * found['win_standard_error']:.2f}"
        return [
            f"{games:,} games, {self.turns / games:.1f} turns each",
            *lines,
            f"points a game for {names[0]}: {found['points_a_game']:+.4f}, standard error {error:.4f}",
        ]


def of_games(games: Iterable[Game]) -> Series:
    """Return the results (wins, gammons, points) of recorded games; of unfinished ones only the turns are counted.

    CapabilityError if no game is finished.
    """
    points = []
    won = []
    turns = 0
    for game in games:
        turns += sum(record.kind in ("play", "dance") for record in game.records)
        if game.result is not None:
            last = game.records[-1]
            points.append(game.result.points * (1 if game.result.winner == 0 else -1))
            won.append(game.result.points // last.cube if last.kind != "drop" else 1)
    if not points:
        raise CapabilityError("no game was finished")
    return Series(np.array(points, np.int64), np.array(won, np.int64), turns)


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
    opening = setting.position is None
    start = array_of((setting.position or Position(START, START)).check())
    out = np.zeros((games, 4), np.int64)

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
    points = out[:, 1] * out[:, 2] * np.where(out[:, 0] == 0, 1, -1)
    return Series(points, out[:, 1], int(out[:, 3].sum()))
