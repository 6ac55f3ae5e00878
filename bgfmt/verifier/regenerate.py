"""The last rung: solve the table again by its recipe and compare every stored number."""

from __future__ import annotations

import numpy as np

from bgfmt.database import Database
from bgfmt.errors import SolverError
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier.recurrence.one_sided import Progress
from bgfmt.verifier.report import Finding, Report


def judge(report: Report, db: Database, *, threads: int, progress: Progress | None) -> None:
    """Compare with a fresh solve; says in the report's notes what came of it."""
    table = db.table
    try:
        solved = _solved(report, table, threads, progress)
    except SolverError as error:
        report.notes.append(f"not regenerated: {error}")
        return
    if solved is None:
        report.notes.append(f"not regenerated: no solver makes {table.kind} tables of recipe {report.recipe}")
        return
    report.rung = "regenerate"
    fresh = solved.arrays()
    for rows, block in table.blocks():
        for name, stored in block.items():
            made = np.asarray(fresh[name][rows])
            if made.tobytes() == np.asarray(stored).tobytes() or report.status == "consistent":
                continue
            bad = rows.start + int((made != stored).reshape(len(made), -1).any(axis=1).argmax())
            report.status = "damaged"
            text = f"row {bad:,} of {name} differs from the solver's"
            report.add(Finding("regenerate", text, position_number=bad))
            report.verdict = f"damaged: {text}"
            return
    if report.status == "proved":
        report.notes.append(f"solved again by recipe {report.recipe}: the same numbers throughout")


def _solved(report: Report, table: Table, threads: int, progress: Progress | None) -> Table | None:
    from bgfmt import solver

    if isinstance(table, TwoSided):
        if report.recipe not in ("gnubg", "exact"):
            return None
        return solver.two_sided(
            table.points, table.chequers, cubeful=table.cubeful, recipe=report.recipe, threads=threads,
            progress=progress,
        )  # fmt: skip
    if isinstance(table, OneSided):
        if report.recipe not in ("gnubg", "bgsage", "exact"):
            return None
        return solver.one_sided(
            table.points, chequers=table.chequers, gammon=table.gammon is not None, recipe=report.recipe,
            threads=threads, progress=progress,
        )  # fmt: skip
    if isinstance(table, NormalOneSided) and report.recipe == "gnubg":
        return solver.one_sided(
            table.points, chequers=table.chequers, normal=True, threads=threads, progress=progress
        )
    if isinstance(table, MeanRolls):
        return solver.expected_rolls(table.points, table.chequers, threads=threads, progress=progress)
    return None
