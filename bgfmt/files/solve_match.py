"""Solving the table of a match score straight into a file, whose pages the numbers are written to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bgfmt import formats
from bgfmt.errors import OutputExistsError, SolverError
from bgfmt.formats import promised
from bgfmt.game import board
from bgfmt.met.model import Met
from bgfmt.met.score import Score
from bgfmt.solver.match import check_size, facts_of, match_score, plan_match_score
from bgfmt.solver.plan import Plan
from bgfmt.storage import PathLike, create
from bgfmt.tables import MatchScore

DTYPES = {"match": np.float32, "exact": np.float64}


def solve_match_score(
    path: PathLike,
    points: int,
    chequers: int,
    away: tuple[int, int],
    met: Met,
    *,
    player: int = 0,
    recipe: str = "match",
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Make the table of a match score in a new file that appears whole or not at all; returns what was planned.

    Parameters
    ----------
    away : points that player a and player b need; player : which player of the table `met` a is.
    recipe : ``match``, float32 numbers, or ``exact``, float64 ones that nothing was rounded off (npz only).
    format : ``bgfmt-match`` or ``npz``; by default what the suffix says, else the recipe's own.
    progress : called as ``progress(done, total)`` with pairs of boards.

    Raises
    ------
    SolverError for sizes, recipe, memory and disk; OutputExistsError for a file that is there, unless `force`;
    CapabilityError for a format that holds no such tables; PositionError, NotCoveredError for the score.
    """
    if recipe not in DTYPES:
        raise SolverError(f"match tables are made by recipe {' or '.join(DTYPES)}, not {recipe!r}")
    check_size(points, chequers)
    dtype = DTYPES[recipe]
    facts = facts_of(Score(away, met, player=player), gammons=chequers == board.MAX_CHEQUERS)
    n = board.count(points, chequers)
    rows = promised((n, n, len(facts.states)), dtype)
    blank = MatchScore(points=points, chequers=chequers, balance=rows, score=facts, recipe=recipe)
    named = formats.get(format) if format else formats.by_suffix(str(path))
    target = named if named is not None else formats.home(blank)
    target.check(blank, {})
    if not force and Path(path).exists():  # before the work, not after it
        raise OutputExistsError(f"{path}: exists already")
    planned = plan_match_score(points, chequers, away, met, player=player, threads=threads, dtype=dtype)
    with create(path, force=force) as sink, target.body(sink, blank) as arrays:
        match_score(
            points, chequers, away, met, player=player, threads=threads, progress=progress, out=arrays["balance"],
            dtype=dtype,
        )  # fmt: skip
    return planned
