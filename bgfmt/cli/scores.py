"""The cube action of one position at every score, as a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bgfmt.cli import _asking

if TYPE_CHECKING:
    from bgfmt.analysis.match import MatchCube
    from bgfmt.analysis.ondemand import Grid
    from bgfmt.game.state import GameState

#: what a cell says -> what it means
WORDS = {
    "D/T": "double, take",
    "D/P": "double, pass",
    "N/T": "no double, take",
    "N/P": "too good, pass",
    "O/T": "optional double, take",
    "D/=": "double, take or pass",
    "--": "no double possible",
}


def code(cell: MatchCube) -> str:
    """A decision in three letters."""
    if not cell.may_double:
        return "--"
    first = {"yes": "D", "no": "N", "optional": "O"}[cell.double]
    return first + {"take": "/T", "pass": "/P", "either": "/="}[cell.response or "take"]


def as_dict(state: GameState, grid: Grid) -> dict[str, Any]:
    """The grid as plain values, a cell a score."""
    cells = [
        {"away": [mine, other], "crawford": crawford} | cell.as_dict()
        for (mine, other, crawford), cell in grid.cells.items()
    ]
    met = {"name": grid.met.name, "digest": grid.met.digest}
    worst = max(cell.error for cell in grid.cells.values())
    origin = {"source": "calculation", "table": None, "approximate": False, "max_error": {"mwc": worst}}
    return _asking.facts(state) | {"scores": grid.upto, "cells": cells, "met": met} | origin


def lines(state: GameState, grid: Grid) -> list[str]:
    """The grid as lines of text: own points to go down, the other side's across."""
    across = range(1, grid.upto + 1)
    out = [f"Cube at {state.cube_value}, {state.owner}; match equity table {grid.met.name}", ""]
    out.append("you need" + "".join(f"{other:>5}" for other in across) + "   the other side needs")
    for mine in across:
        row = [code(grid[mine, other, False]) for other in across]
        out.append(f"{mine:>8}" + "".join(f"{cell:>5}" for cell in row))
    seen = dict.fromkeys(code(cell) for cell in grid.cells.values())
    legend = [f"{name} {WORDS.get(name, name)}" for name in seen]
    return [
        *out,
        "",
        "In the Crawford game nobody doubles; 1-away rows and columns are those after it.",
        *legend,
    ]
