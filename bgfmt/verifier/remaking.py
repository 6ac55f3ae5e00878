"""The last rung: solve the table again by its recipe and compare every stored number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.tables import (
    ExactHypergammon,
    ExpectedPoints,
    Gillogly,
    Hypergammon,
    MatchScore,
    MeanRolls,
    NormalOneSided,
    OneSided,
    Table,
    TwoSided,
)
from bgfmt.verifier.findings import Finding, Rule

Progress = Callable[[int, int], None]
EXPECTED = 80  # sweeps, for the progress alone
ROWS = 64  # rows of hypergammon that are compared together


def check(table: Table, recipe: str, threads: int, progress: Progress | None) -> Finding:
    """Compare with a fresh solve by the recipe under which the table was proved."""
    try:
        if isinstance(table, (Hypergammon, ExactHypergammon)):
            return _hypergammon(table, recipe, threads, progress)
        solved = _solved(table, recipe, threads, progress)
    except SolverError as error:
        return Finding(Rule.NOT_REMADE, found=str(error))
    if solved is None:
        return Finding(Rule.NOT_REMADE, found=f"no solver makes {table.kind} tables of recipe {recipe}")
    fresh = solved.arrays()
    for rows, block in table.blocks():
        for name, stored in block.items():
            made = np.asarray(fresh[name][rows])
            if made.tobytes() == np.asarray(stored).tobytes():
                continue
            bad = rows.start + int((made != stored).reshape(len(made), -1).any(axis=1).argmax())
            return Finding(Rule.REMADE, entry=bad, field=name)
    return Finding(Rule.SAME_REMADE, field=recipe)


def _hypergammon(
    table: Hypergammon | ExactHypergammon, recipe: str, threads: int, progress: Progress | None
) -> Finding:
    """Whether the solver's iteration comes to just these records after some sweep."""
    from bgfmt.solver.hypergammon import MOST_SWEEPS, hypergammon

    name, stored = next(iter(table.arrays().items()))
    exact = isinstance(table, ExactHypergammon)

    def sweeping(sweep: int, change: float) -> None:
        if progress is not None:
            progress(min(sweep, EXPECTED - 1), EXPECTED)

    solved = hypergammon(
        table.chequers, recipe="exact" if exact else "gnubg", threads=threads, sweeping=sweeping,
        most_sweeps=MOST_SWEEPS,
    )  # fmt: skip
    made = solved.table.arrays()[name]
    for start in range(0, table.positions, ROWS):
        rows = slice(start, start + ROWS)
        if np.asarray(made[rows]).tobytes() != np.asarray(stored[rows]).tobytes():
            why = f"the solver's iteration, which stops after {solved.sweeps} sweeps, ends elsewhere"
            return Finding(Rule.NOT_REMADE, found=why)
    return Finding(Rule.SAME_REMADE, field=recipe)


def _solved(table: Table, recipe: str, threads: int, progress: Progress | None) -> Table | None:
    way = WAYS.get(table.kind)
    return None if way is None else way(table, recipe, {"threads": threads, "progress": progress})


def _two_sided(table: TwoSided, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    if recipe not in ("gnubg", "exact"):
        return None
    return solver.two_sided(table.points, table.chequers, cubeful=table.cubeful, recipe=recipe, **common)


def _one_sided(table: OneSided, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    if recipe not in ("gnubg", "bgsage", "exact", "gnubg-heuristic", "gnubg-heuristic-2009"):
        return None
    gammon = table.gammon is not None
    return solver.one_sided(table.points, chequers=table.chequers, gammon=gammon, recipe=recipe, **common)


def _normal(table: NormalOneSided, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    if recipe != "gnubg":
        return None
    return solver.one_sided(table.points, chequers=table.chequers, normal=True, **common)


def _means(table: MeanRolls, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    return solver.mean_rolls(table.points, table.chequers, **common) if recipe == "peelle" else None


def _match_score(table: MatchScore, recipe: str, common: dict[str, Any]) -> Table | None:
    """Solved again with the match equity table that comes with bgfmt, where it is that one."""
    from bgfmt import met
    from bgfmt.solver.match import match_score

    score = table.score
    tables = (met.load(name) for name in met.names())
    known = next((one for one in tables if one.digest == score.digest), None)
    if known is None:
        raise SolverError(f"the match equity table {score.met} is none of {', '.join(met.names())}")
    dtype = np.float64 if table.exact else np.float32
    size = (table.points, table.chequers)
    return match_score(*size, score.away, known, player=score.player, dtype=dtype, **common)


def _gillogly(table: Gillogly, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    return solver.gillogly(table.domain, recipe=recipe, **common)


def _expected_points(table: ExpectedPoints, recipe: str, common: dict[str, Any]) -> Table | None:
    from bgfmt import solver

    return solver.expected_points(table.points, table.chequers, recipe=recipe, **common)


#: how the tables of a kind are solved again: (table, recipe, threads and progress); None where no solver makes them
WAYS: dict[str, Callable[[Any, str, dict[str, Any]], Table | None]] = {
    OneSided.kind: _one_sided,
    TwoSided.kind: _two_sided,
    NormalOneSided.kind: _normal,
    MeanRolls.kind: _means,
    MatchScore.kind: _match_score,
    Gillogly.kind: _gillogly,
    ExpectedPoints.kind: _expected_points,
}
