"""The last rung: solve the table again by its recipe and compare every stored number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.tables import Hypergammon, MatchScore, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier.findings import Finding, Rule
from bgfmt.verifier.proofs.hypergammon import RUN_AGAIN_MOST

Progress = Callable[[int, int], None]
RUN_AGAIN_BYTES = 8_000_000_000  # that makehyper's iteration takes with three chequers
GLANCED = 10_000  # records by which a sweep is compared before all are


def check(table: Table, recipe: str, threads: int, progress: Progress | None) -> Finding:
    """Compare with a fresh solve by the recipe under which the table was proved."""
    try:
        if isinstance(table, Hypergammon) and table.chequers > RUN_AGAIN_MOST:
            return _run_again(table, recipe, threads, progress)
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


def _run_again(table: Hypergammon, recipe: str, threads: int, progress: Progress | None) -> Finding:
    """Whether makehyper's iteration, run again from its beginning, comes to just these records after some sweep."""
    from bgfmt.solver.machine import check_memory
    from bgfmt.verifier.proofs.hypergammon import SWEEPS
    from bgfmt.verifier.recurrence.hypergammon import Iteration, encode

    check_memory(RUN_AGAIN_BYTES, "three-chequer hypergammon")
    iteration = Iteration.begin(table.chequers, threads=threads)
    stored = np.asarray(table.records).reshape(-1, 28)
    some = iteration.live[:: max(1, len(iteration.live) // GLANCED)]
    for sweeps in range(1, SWEEPS + 1):
        change = iteration.sweep()
        if progress is not None:
            progress(sweeps, SWEEPS)
        if np.array_equal(encode(iteration.values[some]), stored[some]) and np.array_equal(
            iteration.live_records(), stored[iteration.live]
        ):
            return Finding(Rule.SAME_REMADE, field=recipe)
        if change == 0:
            break
    return Finding(Rule.NOT_REMADE, found=f"no sweep of {sweeps} from the beginning gives just these records")


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

    if recipe not in ("gnubg", "bgsage", "exact"):
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

    return solver.expected_rolls(table.points, table.chequers, **common) if recipe == "peelle" else None


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


#: how the tables of a kind are solved again: (table, recipe, threads and progress); None where no solver makes them
WAYS: dict[str, Callable[[Any, str, dict[str, Any]], Table | None]] = {
    OneSided.kind: _one_sided,
    TwoSided.kind: _two_sided,
    NormalOneSided.kind: _normal,
    MeanRolls.kind: _means,
    MatchScore.kind: _match_score,
}
