"""The match equity table of hypergammon: of a table's opening, by a model, or exact, every score solved.

An exact one takes hours with three chequers. Each score that is solved goes into the file OUTPUT.scores, from which
another run goes on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.errors import OutputExistsError, SolverError
from bgfmt.extras.lab.met_making import LIVE, Wins, make
from bgfmt.files.database import load
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.met import Met, gnubg_xml
from bgfmt.met.score import Score
from bgfmt.solver.hypergammon import HypergammonSolver
from bgfmt.storage import PathLike, check_output, create
from bgfmt.tables import ExactHypergammon, Hypergammon

FARTHEST = 24
#: a line of OUTPUT.scores: the points that are needed, the chance, and how it was come by
SOLVED = re.compile(r"\(?(\d{1,2})(?:, (\d{1,2})\))? = (0x[01]\.[0-9a-f]+p[+-]\d+) steps \d+ residual \S+")
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
    points : 25, the bar being one.
    length : points of the longest match, 1 to 64.
    table : a hypergammon table, best one of recipe ``exact``; without it that of `chequers` is solved, and not kept.
    live : the cube's efficiency; see `bgfmt.extras.lab.met_making`.
    exact : solve every score with its cube instead, by no model; `table` and `live` are not used. resume : go on
        from the scores that an ended run left beside `path`. solving : called with the name of each score.
    threads, sweeping : of the solve; see `bgfmt.solver.hypergammon.hypergammon`.

    SolverError for a file of another kind and for scores of another table; PositionError for a length or efficiency
    out of range;
    OutputExistsError for a file that is there, unless `force`.
    """
    if exact:
        if table is not None or live is not None:
            raise SolverError(
                "an exact match equity table is made of no table, and its cube has no efficiency"
            )
        return _exact(
            Path(path), points, chequers, length, resume, force, threads, progress, sweeping, solving
        )
    if resume:
        raise SolverError("only an exact match equity table is made in parts that another run can go on from")
    live = LIVE if live is None else live
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


@dataclass
class Solving:
    """An exact match equity table being made; chances of the side named first before the opening roll.

    post[n] : of a trailer who needs n, after the Crawford game. pre[a, b] : a at most b.
    """

    length: int
    post: dict[int, float] = field(default_factory=lambda: {1: 0.5})
    pre: dict[tuple[int, int], float] = field(default_factory=lambda: {(1, 1): 0.5})

    def met(self, name: str, title: str = "") -> Met:
        """The table; scores that are not solved hold 0.5, which nothing of what follows from it looks at."""
        away = range(1, self.length + 1)
        post = tuple(self.post.get(n, 0.5) for n in away)
        return Met(name, tuple(tuple(self._at(a, b) for b in away) for a in away), (post, post), title)

    def _at(self, a: int, b: int) -> float:
        return self.pre.get((a, b), 0.5) if a <= b else 1 - self.pre.get((b, a), 0.5)

    def left(self) -> Iterator[tuple[str, Score, dict[Any, float], Any]]:
        """(name, score, where its chance belongs and under which key) of what is not solved, each after all it needs.

        Scores that are equal need no solving: both sides have the same chances.
        """
        for n in range(2, self.length + 1):
            if n not in self.post:
                yield f"{n}-away after the Crawford game", Score((n, 1), self.met("")), self.post, n
        for n in range(2, self.length + 1):
            if (1, n) not in self.pre:
                score = Score((1, n), self.met(""), crawford=True)
                yield f"1-away {n}-away, the Crawford game", score, self.pre, (1, n)
        for total in range(4, 2 * self.length + 1):
            for a in range(max(2, total - self.length), total // 2 + 1):
                pair = (a, total - a)
                if pair in self.pre:
                    continue
                if a == total - a:
                    self.pre[pair] = 0.5
                else:
                    yield f"{a}-away {total - a}-away", Score(pair, self.met("")), self.pre, pair


def _exact(
    path: Path,
    points: int,
    chequers: int,
    length: int,
    resume: bool,
    force: bool,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
    sweeping: Callable[[int, float], None] | None,
    solving: Callable[[str], None] | None,
) -> Met:
    from bgfmt.extras.lab.hypergammon_score import Scores

    HypergammonSolver(points, chequers, recipe="exact")  # refuses sizes
    make(length, Wins(0, 0), name="")  # and lengths
    check_output(path, force=force)
    kept = Path(f"{path}.scores")
    made, lines = Solving(length), [f"bgfmt hypergammon-met {chequers}"]
    if resume:
        lines = _resumed(kept, made, lines[0])
    elif kept.exists():
        message = f"{kept}: holds the scores of an ended run, and going on from it was not asked for"
        raise OutputExistsError(message, replaceable=False)
    total = (length - 1) * 2 + (length - 1) * (length - 2) // 2
    with Scores(chequers, threads) as scores:
        for name, score, chances, key in made.left():
            if solving is not None:
                solving(name)
            found = scores.solve(score, sweeping)
            chances[key] = found.chance
            lines.append(f"{key!r} = {found.chance.hex()} steps {found.steps} residual {found.change:.1e}")
            with create(kept, force=True) as sink:
                sink.write("\n".join([*lines, ""]).encode())
            if progress is not None:
                progress(len(lines) - 1, total)
    met = made.met(path.stem, f"Hypergammon, {chequers} chequer{'s'[: chequers > 1]}, exact")
    with create(path, force=force) as sink:
        sink.write(gnubg_xml.write(met, "bgfmt, every score solved with its cube, by no model"))
    kept.unlink(missing_ok=True)
    return met


def _resumed(kept: Path, made: Solving, first: str) -> list[str]:
    """The lines of scores that are solved, which go into `made`; SolverError where they are not of this table."""
    lines = kept.read_text("ascii", "replace").splitlines()
    if lines[:1] != [first]:
        raise SolverError(f"{kept}: expected scores of {first!r}, found {lines[:1]}")
    for line in lines[1:]:
        match = SOLVED.fullmatch(line)
        chance = float.fromhex(match[3]) if match else -1.0
        if match is None or not 0 <= chance <= 1:
            raise SolverError(f"{kept}: no solved score: {line[:60]!r}")
        if match[2]:
            made.pre[int(match[1]), int(match[2])] = chance
        else:
            made.post[int(match[1])] = chance
    return lines
