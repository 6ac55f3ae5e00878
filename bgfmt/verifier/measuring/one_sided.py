"""Errors of the mean rolls of one-sided tables of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.game import board
from bgfmt.tables import OfRolls
from bgfmt.verifier.measuring import rational

WORST = 5
NEAR = 1e-9
SMALL = 4  # chequers of the corner that is measured in rational arithmetic


def measure(table: OfRolls, threads: int | None) -> dict[str, Any]:
    """See `bgfmt.verifier.measuring`."""
    from bgfmt import solver

    truth = np.asarray(solver.mean_rolls(table.points, table.chequers, threads=threads).means)
    stored = np.asarray(table.to_mean_rolls().means, np.float64)
    off = stored - truth
    size = np.abs(off)
    top = np.argsort(-size, kind="stable")[:WORST]
    out: dict[str, Any] = {
        "positions": table.positions,
        "greatest_error_of_the_mean": float(size.max()),
        "mean_error_of_the_mean": float(off.mean()),
        "too_low": int((off < -NEAR).sum()),
        "too_high": int((off > NEAR).sum()),
        "worst": [
            {"error": float(off[x]), "position_number": int(x), "position": str(table.asked(int(x)))}
            for x in top
        ],
    }
    small = min(SMALL, table.chequers)
    if board.count(table.points, small) <= rational.MOST_POSITIONS:
        means = rational.mean_rolls(table.points, small)
        gaps = [abs(float(mean) - float(truth[x])) for x, mean in enumerate(means)]
        out["rational"] = {
            "positions": len(means),
            "float64_truth_differs_by": max(gaps),
            "greatest_error_of_the_mean": max(abs(float(stored[x]) - float(m)) for x, m in enumerate(means)),
        }
    return out
