"""The opening of hypergammon as a table has it, and the match equity table that follows from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.files.database import load
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.met import Met, gnubg_xml
from bgfmt.met.making import LIVE, Wins, make
from bgfmt.storage import PathLike, check_output, create
from bgfmt.tables import ExactHypergammon, Hypergammon

CHANCES = 5
FARTHEST = 24


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
    total = np.zeros(CHANCES + 1)
    rolls = list(combinations(range(1, 7), 2))
    for low, high in rolls:
        results = [play.result for play in legal_plays(start(table.chequers), high, low)]
        theirs = _chances(table, [(r.them, r.us) for r in results])
        total += theirs[np.argmin(theirs[:, CHANCES])]
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon, equity = (total / len(rolls)).tolist()
    # the other side's numbers, turned
    return Opening(-equity, (1 - win, lose_gammon, lose_backgammon, win_gammon, win_backgammon))


def _chances(table: Hypergammon | ExactHypergammon, pairs: list[tuple[Side, Side]]) -> Any:
    """(m, 6): chances and cubeless equity of the side on roll."""
    numbers = np.array(
        [table.side_number(us) * table.positions + table.side_number(them) for us, them in pairs]
    )
    rows = table.values(numbers)[:, : CHANCES + 1].copy()
    if isinstance(table, Hypergammon):
        win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = rows[:, :CHANCES].T
        rows[:, CHANCES] = 2 * win - 1 + win_gammon - lose_gammon + win_backgammon - lose_backgammon
    return rows


def solve_hypergammon_met(
    path: PathLike,
    length: int,
    *,
    table: PathLike | None = None,
    chequers: int = 3,
    live: float = LIVE,
    force: bool = False,
    threads: int | None = None,
    sweeping: Callable[[int, float], None] | None = None,
) -> Met:
    """Make the match equity table of hypergammon, as gnubg's XML, in a file that appears whole or not at all.

    Parameters
    ----------
    length : points of the longest match, 1 to 64.
    table : a hypergammon table, best one of recipe ``exact``; without it that of `chequers` is solved, and not kept.
    live : the cube's efficiency; see `bgfmt.met.making`.
    threads, sweeping : of the solve; see `bgfmt.solver.hypergammon.hypergammon`.

    Raises
    ------
    SolverError for a file of another kind; PositionError for a length or efficiency out of range;
    OutputExistsError for a file that is there, unless `force`.
    """
    check_output(path, force=force)
    make(length, Wins(0, 0), name="", live=live)  # whatever is wrong with them is said before the work
    known = _table(table, chequers, threads, sweeping)
    begun = opening(known)
    name = f"Hypergammon, {known.chequers} chequer{'s'[: known.chequers > 1]}"
    met = make(length, begun.wins, name=Path(path).stem, title=name, live=live)
    said = (
        f"bgfmt, from a {known.kind} table: {begun.wins.gammon:.6f} of wins are gammons, "
        f"{begun.wins.backgammon:.6f} backgammons; cube efficiency {live:.3f}"
    )
    with create(path, force=force) as sink:
        sink.write(gnubg_xml.write(met, said))
    return met


def _table(
    path: PathLike | None, chequers: int, threads: int | None, sweeping: Callable[[int, float], None] | None
) -> Hypergammon | ExactHypergammon:
    if path is None:
        from bgfmt.solver.hypergammon import hypergammon

        return hypergammon(chequers, recipe="exact", threads=threads, sweeping=sweeping).table
    table = load(path)
    if not isinstance(table, Hypergammon | ExactHypergammon):
        raise SolverError(f"{os.fspath(path)}: a {table.kind} table, not a hypergammon one")
    return table
