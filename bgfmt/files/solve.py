"""One function for every solve, behind ``bgfmt.solve``: what is asked for decides which module does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bgfmt.errors import SolverError
from bgfmt.storage import PathLike

PLACES = 25  # of hypergammon: 24 points and the bar
OTHERS = ("match", "hypergammon", "hypergammon-met", "gnubg-2001")


def solve(
    what: str,
    points: int,
    chequers: int,
    path: PathLike,
    *,
    recipe: Any = None,
    format: str | None = None,
    force: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Path:
    """Make a database from the rules of the game, into a new file that appears whole or not at all.

    Parameters
    ----------
    what : ``one-sided``, ``normal-distribution``, ``two-sided``, ``mean-rolls``, ``bkg``, ``expected-points``,
        ``match`` (the table of a match score), ``hypergammon``, ``hypergammon-met`` (a match equity table as
        gnubg's XML), or ``gnubg-2001`` (gnubg's file of that year, of 6 points and 15 chequers).
    points, chequers : its size; 25 points in hypergammon, where the bar is one.
    path : the file to make. All that could keep it from appearing there is looked for before the work begins.
    recipe : by default the first that makes such tables; see `bgfmt.solver.recipe`.
    format : the format to write; by default what the suffix of `path` says, or the recipe's own.
    force : replace an existing file.
    threads : how many (default: one a core). progress : called as ``progress(done, total)``.
    options : what only one kind of solve takes:

        * one-sided, two-sided, ...: `gammon`, `cubeful`, `resume`, `scratch`, `executor`, and those of the format, as
          `bgfmt.files.solve_table.solve` takes them;
        * match: `away`, the points that both sides need, `met`, `player` (`solve_match.solve_match_score`);
        * hypergammon: `threshold`, `restart`, `resume`, `sweeping`, called as ``sweeping(sweep, greatest change)``
          instead of `progress` (`bgfmt.files.solve_hypergammon.solve_hypergammon`);
        * hypergammon-met: `length`, `table`, `live`, `sweeping` (`bgfmt.files.solve_met.solve_hypergammon_met`).

    Returns
    -------
    The path.

    Raises
    ------
    SolverError where there is no such solver, too little memory or disk; ScratchError for a scratch file that is
    in use, damaged or something else; CapabilityError and FormatNeededError for a format that does not fit;
    OutputExistsError; OSError; TypeError for an option that this kind of solve does not take.
    """
    common: dict[str, Any] = {"force": force, "threads": threads}
    common |= {name: value for name, value in (("recipe", recipe), ("format", format)) if value is not None}
    if what == "match":
        from bgfmt.files.solve_match import solve_match_score

        away, met = _needed(what, "away", options), _needed(what, "met", options)
        solve_match_score(path, points, chequers, away, met, progress=progress, **common, **options)
        return Path(path)
    if what in ("hypergammon", "hypergammon-met") and points != PLACES:
        raise SolverError(f"hypergammon has {PLACES} points, with the bar, not {points}")
    if what == "hypergammon":
        from bgfmt.files.solve_hypergammon import solve_hypergammon

        return solve_hypergammon(path, chequers, **common, **options)
    if what == "hypergammon-met":
        from bgfmt.files.solve_met import solve_hypergammon_met

        solve_hypergammon_met(path, _needed(what, "length", options), chequers=chequers, **common, **options)
        return Path(path)
    from bgfmt.files import solve_table as solving
    from bgfmt.solver.recipe import KINDS

    if what == "gnubg-2001":
        if (points, chequers) != (6, 15):
            raise SolverError(
                f"gnubg's file of 2001 has 6 points and 15 chequers, not {points} and {chequers}"
            )
        return solving.solve_gnubg_2001(path, force=force, **options)
    if what not in KINDS:
        raise SolverError(f"no solver of {what!r} tables; there are {', '.join((*KINDS, *OTHERS))}")
    return solving.solve(what, points, chequers, path, progress=progress, **common, **options)


def _needed(what: str, name: str, options: dict[str, Any]) -> Any:
    if name not in options:
        raise TypeError(f"solve({what!r}, ...) needs {name}=")
    return options.pop(name)
