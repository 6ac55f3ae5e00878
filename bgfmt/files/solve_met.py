"""The opening of hypergammon as a table has it, and the match equity table that follows from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.files.database import load
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.met import Met, gnubg_xml
from bgfmt.met.making import LIVE, Wins, make
from bgfmt.solver.hypergammon import HypergammonSolver
from bgfmt.storage import PathLike, check_output, create
from bgfmt.tables import ExactHypergammon, Hypergammon

FARTHEST = 24
#: what win, win gammon, win backgammon, lose gammon and lose backgammon add to -1
POINTS_WON = (2, 1, 1, -1, -1)


@dataclass(frozen=True)
class Opening:
    """What the side that wins the opening roll can expect: the mean over its fifteen rolls, the dice being different.

    chances : win, win gammon, win backgammon, lose gammon, lose backgammon, after the plays of greatest cubeless
    equity. equity : cubeless, for money.
    """

    equity: float
    chances: tuple[float, float, float, float, float]

    @property
    def wins(self) -> Wins:
        """How games are won where each side begins half of them."""
        _, win_gammon, win_backgammon, lose_gammon, lose_backgammon = self.chances
        gammon = min(1.0, win_gammon + lose_gammon)  # a table of rounded numbers may have a little more
        return Wins(gammon, min(gammon, win_backgammon + lose_backgammon))


def start(chequers: int) -> Position:
    """The position a game of hypergammon begins with: single chequers on the 24, 23 and 22 points.

    >>> str(start(2).us)
    '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1'
    """
    side = Side(*(0,) * (FARTHEST - chequers), *(1,) * chequers)
    return Position(side, side)


def opening(table: Hypergammon | ExactHypergammon) -> Opening:
    """The opening of a hypergammon table."""
    total = np.zeros(len(POINTS_WON))
    rolls = list(combinations(range(1, 7), 2))
    for low, high in rolls:
        results = (play.result for play in legal_plays(start(table.chequers), high, low))
        theirs = np.array([[*table.lookup(r.swapped()).outcomes.values()] for r in results])
        total += theirs[np.argmin(theirs @ POINTS_WON)]
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (total / len(rolls)).tolist()
    # the other side's chances, turned
    chances = (1 - win, lose_gammon, lose_backgammon, win_gammon, win_backgammon)
    return Opening(float(np.dot(chances, POINTS_WON)) - 1, chances)


def hypergammon_met(
    path: PathLike,
    points: int,
    chequers: int,
    *,
    length: int,
    table: PathLike | None = None,
    live: float = LIVE,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    sweeping: Callable[[int, float], None] | None = None,
) -> Met:
    """Make the match equity table of hypergammon, as gnubg's XML, in a file that appears whole or not at all.

    Parameters
    ----------
    points : 25, the bar being one.
    length : points of the longest match, 1 to 64.
    table : a hypergammon table, best one of recipe ``exact``; without it that of `chequers` is solved, and not kept.
    live : the cube's efficiency; see `bgfmt.met.making`.
    threads, sweeping : of the solve; see `bgfmt.solver.hypergammon.hypergammon`.

    SolverError for a file of another kind; PositionError for a length or efficiency out of range;
    OutputExistsError for a file that is there, unless `force`.
    """
    solver = HypergammonSolver(points, chequers, recipe="exact", sweeping=sweeping)
    check_output(path, force=force)
    make(length, Wins(0, 0), name="", live=live)  # an error in them comes before the work
    known = solver.solve(threads=threads) if table is None else load(table)
    if not isinstance(known, Hypergammon | ExactHypergammon):
        raise SolverError(f"{os.fspath(table or '')}: a {known.kind} table, not a hypergammon one")
    wins = opening(known).wins
    title = f"Hypergammon, {known.chequers} chequer{'s'[: known.chequers > 1]}"
    met = make(length, wins, name=Path(path).stem, title=title, live=live)
    description = (
        f"bgfmt, from a {known.kind} table: {wins.gammon:.6f} of wins are gammons, "
        f"{wins.backgammon:.6f} backgammons; cube efficiency {live:.3f}"
    )
    with create(path, force=force) as sink:
        sink.write(gnubg_xml.write(met, description))
    return met
