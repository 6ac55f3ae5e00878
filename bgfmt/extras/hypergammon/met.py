"""Match equity tables: of any game by a model, and of hypergammon also exact, by solving every score.

docs/theory/hypergammon.md describes both methods. An exact table takes hours with three chequers; each solved score
is saved in the file OUTPUT.scores, from which an interrupted run can continue.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from bgfmt.errors import PositionError, ScratchError, SolverError
from bgfmt.extras.checkpoints import RowFile
from bgfmt.extras.hypergammon.score import Scores
from bgfmt.extras.hypergammon.solver import HypergammonSolver
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.files.database import load
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.met import Met, gnubg_xml
from bgfmt.met.model import MAX_AWAY
from bgfmt.met.score import Score
from bgfmt.storage import PathLike, check_output, create
from bgfmt.tables import Hypergammon

DEFAULT_EFFICIENCY = 2 / 3  # of the cube
AFTER_CRAWFORD = 0  # stands for the leader's points in scores after the Crawford game
BISECTION_STEPS = 48  # of the interval in which a cash point lies
FAIR = 0.5

Value = Callable[[float], float]


@dataclass(frozen=True)
class Wins:
    """How games are won: the shares of all wins that are gammons or better, and that are backgammons."""

    gammon: float
    backgammon: float

    def __post_init__(self) -> None:
        if not 0 <= self.backgammon <= self.gammon <= 1:
            raise PositionError(
                f"the rates must be 0 <= backgammon <= gammon <= 1, not {self.backgammon} and {self.gammon}"
            )

    def mean(self, of: Callable[[int], float]) -> float:
        """Return the mean of of(points) over wins of 1, 2 or 3 points with the cube at 1."""
        single = 1 - self.gammon
        double = self.gammon - self.backgammon
        return single * of(1) + double * of(2) + self.backgammon * of(3)


@dataclass
class MetBuilder:
    """A match equity table under construction.

    chances[a, b] : probability of the first side at a-away, b-away before the opening roll, a at most b.
    chances[n, AFTER_CRAWFORD] : probability of a trailer who needs n, after the Crawford game. Scores not solved yet
    count 0.5.
    """

    length: int
    chances: dict[tuple[int, int], float] = field(
        default_factory=lambda: {(1, AFTER_CRAWFORD): FAIR, (1, 1): FAIR}
    )

    def chance_at(self, away: int, other: int) -> float:
        """Return the match winning probability of a side that needs `away` points, the other one `other`.

        The score is one before the Crawford game, or the match is over (0 or fewer points needed).
        """
        if away <= 0 or other <= 0:
            return 1.0 if away <= 0 else 0.0
        if away <= other:
            return self.chances.get((away, other), FAIR)
        return 1 - self.chances.get((other, away), FAIR)

    def build(self, name: str, title: str = "") -> Met:
        """Build the match equity table from the scores solved.

        name, title : its short and its full name; the short one if the title is empty.
        """
        away = range(1, self.length + 1)
        post = tuple(self.chances.get((n, AFTER_CRAWFORD), FAIR) for n in away)
        return Met(name, tuple(tuple(self.chance_at(a, b) for b in away) for a in away), (post, post), title)


@dataclass(kw_only=True)
class _ModelBuilder(MetBuilder):
    """A table under construction by the model; live : the cube's efficiency."""

    wins: Wins
    live: float

    def chance_after_win(self, away: int, other: int, cube: int) -> float:
        """Return the match winning probability of a side that has won a game with the cube at `cube`.

        away, other : points that it and the other side needed before the game.
        """
        return self.wins.mean(lambda points: self.chance_at(away - points * cube, other))

    def mean_after_crawford(self, away: int, cube: int) -> float:
        """Return the mean probability of a trailer who needed `away` points and has won with the cube at `cube`."""
        return self.wins.mean(lambda points: self.chances.get((away - points * cube, AFTER_CRAWFORD), 1.0))

    def dead_cube_value(self, away: int, other: int, cube: int) -> Value:
        """Return a function from the game winning probability to the match winning one, for a dead cube.

        away, other : points needed by the side and by the other. cube : value of the cube.
        """
        lost, won = 1 - self.chance_after_win(other, away, cube), self.chance_after_win(away, other, cube)
        return lambda chance: lost + (won - lost) * chance

    def owned_cube_value(self, away: int, other: int, cube: int) -> Value:
        """Return a function from the owner's game winning probability to its match winning probability.

        away, other : points needed by the owner of the cube and by the other side. cube : value of the cube.
        """
        dead = self.dead_cube_value(away, other, cube)
        if cube >= away:
            return dead
        lost, cash, at = dead(0.0), self.chance_at(away - cube, other), self.cash_point(away, other, cube)

        def value(chance: float) -> float:
            if chance >= at:
                return max(cash, dead(chance))
            return self.live * (lost + (cash - lost) * chance / at) + (1 - self.live) * dead(chance)

        return value

    def cash_point(self, away: int, other: int, cube: int) -> float:
        """Find the game winning probability from which on the opponent of the doubling side passes.

        away, other : points needed by the doubling side and by the other. cube : value of the cube before the double.
        """
        passed = self.chance_at(away - cube, other)
        take = self.owned_cube_value(other, away, 2 * cube)
        low = 0.0
        high = 1.0
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if 1 - take(1 - middle) >= passed else (middle, high)
        return high

    def centered_cube_chance(self, away: int, other: int) -> float:
        """Return the match winning probability of a side at the beginning of a game, with the cube in the middle.

        away, other : points needed by the side and by the other.
        """
        high = self.cash_point(away, other, 1)
        low = 1 - self.cash_point(other, away, 1)
        won = self.chance_at(away - 1, other)
        lost = 1 - self.chance_at(other - 1, away)
        dead = self.dead_cube_value(away, other, 1)(FAIR)
        if not low < FAIR < high:  # one side cashes at once
            return won if high <= FAIR else lost
        return self.live * (lost + (won - lost) * (FAIR - low) / (high - low)) + (1 - self.live) * dead


def make_met(length: int, wins: Wins, *, name: str, title: str = "", live: float = DEFAULT_EFFICIENCY) -> Met:
    """Build a match equity table by a model, for a game that both sides win equally often.

    Parameters
    ----------
    length : points of the longest match, 1 to 64.
    wins : shares of gammons and backgammons in all wins.
    name, title : short and full name of the table; the short one if the title is empty.
    live : the cube's efficiency, 0 (dead) to 1 (live).

    Raises
    ------
    PositionError
        For a length, shares or an efficiency out of range.
    """
    if not 1 <= length <= MAX_AWAY:
        raise PositionError(f"a match equity table must have 1 to {MAX_AWAY} points, not {length}")
    if not 0 <= live <= 1:
        raise PositionError(f"the cube efficiency must be from 0 to 1, not {live}")
    making = _ModelBuilder(length, wins=wins, live=live)
    chances = making.chances
    for away in range(2, length + 1):  # the cube at 2, owned by a side that needs one point
        chances[away, AFTER_CRAWFORD] = FAIR * making.mean_after_crawford(away, 2)
    for away in range(2, length + 1):
        chances[1, away] = 1 - FAIR * making.mean_after_crawford(away, 1)
    for away in range(2, length + 1):
        chances[away, away] = FAIR
        for other in range(away + 1, length + 1):
            chances[away, other] = making.centered_cube_chance(away, other)
    return making.build(name, title or name)


# -- hypergammon ---------------------------------------------------------------------------------------------


FARTHEST_POINT = 24
#: a row of OUTPUT.scores: a score as in `MetBuilder.chances`, and its probability
SOLVED_ROW = re.compile(r"(\d{1,2}) (\d{1,2}) (0x[01]\.[0-9a-f]+p[+-]\d+)")
#: points that win, win gammon, win backgammon, lose gammon and lose backgammon add to -1
POINTS_WON = (2, 1, 1, -1, -1)


@dataclass(frozen=True)
class Opening:
    """Prospects of the side that wins the opening roll: the mean over its fifteen rolls of two different dice.

    chances : win, win gammon, win backgammon, lose gammon, lose backgammon, after the plays of greatest cubeless
    equity.
    """

    chances: tuple[float, float, float, float, float]

    @property
    def equity(self) -> float:
        """Cubeless equity for money."""
        return float(np.dot(self.chances, POINTS_WON)) - 1

    @property
    def wins(self) -> Wins:
        """Shares of gammons and backgammons if each side begins half of the games."""
        _, win_gammon, win_backgammon, lose_gammon, lose_backgammon = self.chances
        gammon = min(1.0, win_gammon + lose_gammon)  # a table of rounded numbers may have a little more
        return Wins(gammon, min(gammon, win_backgammon + lose_backgammon))


def start_position(chequers: int) -> Position:
    """Return the starting position of hypergammon, the same for both sides.

    It has single chequers on the 24, 23 and 22 points; with fewer chequers on the first of these.

    >>> str(start_position(2).us)
    '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1'
    """
    side = Side(*(0,) * (FARTHEST_POINT - chequers), *(1,) * chequers)
    return Position(side, side)


def evaluate_opening(table: Hypergammon | ExactHypergammon) -> Opening:
    """Return the prospects of the side that wins the opening roll, from a hypergammon table."""
    total = np.zeros(len(POINTS_WON))
    rolls = list(combinations(range(1, 7), 2))
    for low, high in rolls:
        results = (play.result for play in legal_plays(start_position(table.chequers), high, low))
        theirs = np.array([[*table.lookup(r.swapped()).outcomes.values()] for r in results])
        total += theirs[np.argmin(theirs @ POINTS_WON)]
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (total / len(rolls)).tolist()
    # the other side's chances, turned
    return Opening((1 - win, lose_gammon, lose_backgammon, win_gammon, win_backgammon))


def hypergammon_met(
    path: PathLike,
    points: int,
    chequers: int,
    *,
    length: int,
    table: PathLike | None = None,
    live: float | None = None,
    exact: bool = False,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    sweeping: Callable[[int, float], None] | None = None,
    solving: Callable[[str], None] | None = None,
) -> Met:
    """Make the match equity table of hypergammon, as gnubg's XML, in a file that appears whole or not at all.

    Parameters
    ----------
    path : the file.
    points, chequers : 25, the bar being one, and 1 to 3.
    length : points of the longest match, 1 to 64.
    table : a hypergammon table, best one of recipe ``exact``; without it that of `chequers` is solved, and not kept.
    live : the cube's efficiency; see `make_met`.
    exact : solve every score with its cube instead of the model; `table` and `live` are not used.
    resume : continue from the scores that an interrupted run saved next to `path`.
    force : overwrite `path`, and without `resume` discard saved scores.
    threads, sweeping : of the solve; see `bgfmt.extras.hypergammon.solver.hypergammon`.
    progress : called with (scores solved, scores).
    solving : called with the name of each score.

    Raises
    ------
    SolverError
        For a table of another kind, or options that exclude each other.
    ScratchError
        For saved scores that are damaged, of another table, or neither continued nor discarded.
    PositionError
        For a length or efficiency out of range.
    OutputExistsError
        For an existing file, unless `force`.
    """
    if exact and (table is not None or live is not None):
        raise SolverError("an exact match equity table takes neither a table nor a cube efficiency")
    if resume and not exact:
        raise SolverError("only an exact match equity table can be resumed")
    live = DEFAULT_EFFICIENCY if live is None else live
    solver = HypergammonSolver(points, chequers, recipe="exact", sweeping=sweeping)
    check_output(path, force=force)
    make_met(length, Wins(0, 0), name="", live=live)  # an error in them comes before the work
    name = Path(path).stem
    kept = Path(f"{path}.scores")
    if exact:
        if kept.exists() and not resume and not force:
            message = "holds the scores of an interrupted run"
            raise ScratchError(str(kept), "unfinished", message)
        if resume and not kept.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(kept))
        head = f"bgfmt hypergammon-met {chequers}"
        with Scores(chequers, threads) as scores, RowFile(kept, head, anew=not resume) as rows:
            made = _solve_scores(length, scores, rows, progress, sweeping, solving)
        met = made.build(name, f"{_title(chequers)}, exact")
        description = "bgfmt, every score solved with its cube, by no model"
    else:
        known = solver.solve(threads=threads) if table is None else load(table)
        if not isinstance(known, Hypergammon | ExactHypergammon):
            raise SolverError(f"{os.fspath(table or '')}: a {known.kind} table, not a hypergammon table")
        wins = evaluate_opening(known).wins
        met = make_met(length, wins, name=name, title=_title(known.chequers), live=live)
        description = (
            f"bgfmt, from a {known.kind} table: {wins.gammon:.6f} of wins are gammons, "
            f"{wins.backgammon:.6f} backgammons; cube efficiency {live:.3f}"
        )
    with create(path, force=force) as sink:
        sink.write(gnubg_xml.write(met, description))
    if exact:
        kept.unlink(missing_ok=True)
    return met


def _solve_scores(
    length: int,
    scores: Scores,
    rows: RowFile,
    progress: Callable[[int, int], None] | None,
    sweeping: Callable[[int, float], None] | None,
    solving: Callable[[str], None] | None,
) -> MetBuilder:
    """Solve every score of matches up to `length` points that `rows` lacks, and add each to `rows`."""
    made = MetBuilder(length)
    total = (length - 1) * 2 + (length - 1) * (length - 2) // 2
    for row in rows.rows:
        _take_score(made, row, rows.path)
    for words, score, key in _unsolved_scores(made):
        if solving is not None:
            solving(words)
        chance = scores.solve(score, sweeping)
        made.chances[key] = chance
        rows.add(f"{key[0]} {key[1]} {chance.hex()}")
        if progress is not None:
            progress(len(rows.rows), total)
    return made


def _title(chequers: int) -> str:
    return f"Hypergammon, {chequers} chequer{'s'[: chequers > 1]}"


def _unsolved_scores(made: MetBuilder) -> Iterator[tuple[str, Score, tuple[int, int]]]:
    """Yield (name, score, key in `MetBuilder.chances`) of what is not solved, each after all it needs.

    Equal scores need no solving: both sides have the same chances.
    """
    away = range(2, made.length + 1)
    made.chances |= {(n, n): FAIR for n in away}
    keys = [(n, AFTER_CRAWFORD) for n in away]
    keys += [(1, n) for n in away]
    keys += sorted(combinations(away, 2), key=lambda pair: (sum(pair), pair))
    for key in keys:
        if key in made.chances:
            continue
        a, b = key
        known = made.build("")
        if b == AFTER_CRAWFORD:
            yield f"{a}-away after the Crawford game", Score((a, 1), known), key
        elif a == 1:
            yield f"1-away {b}-away, the Crawford game", Score(key, known, crawford=True), key
        else:
            yield f"{a}-away {b}-away", Score(key, known), key


def _take_score(made: MetBuilder, row: str, kept: str) -> None:
    """Take over a score that an interrupted run has solved; raise ScratchError for an invalid row."""
    match = SOLVED_ROW.fullmatch(row)
    chance = float.fromhex(match[3]) if match else -1.0
    if match is None or not 0 <= chance <= 1:
        raise ScratchError(kept, "damaged", f"not a solved score: {row[:60]!r}")
    made.chances[int(match[1]), int(match[2])] = chance
