"""Errors of two-sided equities, and the cube decisions that they get wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import TwoSided
from bgfmt.verifier.measuring import rational

Array = NDArray[Any]
COLUMNS = ("cubeless", "owned", "centered", "opponent")
DECISIONS = ("initial_doubles", "redoubles", "takes", "beavers")
TIE = 1e-12  # two exact equities this near may be equal: far more than float64 leaves them wrong by
LISTED = 200  # wrong decisions that are listed
BLOCK = 1 << 22  # pairs compared at once


@dataclass
class Tally:
    """What is added up over the blocks of a table."""

    columns: int
    greatest: Array = field(init=False)
    total: Array = field(init=False)
    worst: list[int] = field(init=False)
    errors: list[float] = field(init=False)
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    nearest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DECISIONS, np.inf))
    listed: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.greatest, self.total = np.zeros(self.columns), np.zeros(self.columns)
        self.worst, self.errors = [0] * self.columns, [0.0] * self.columns

    def add(self, off: Array, start: int, n: int) -> None:
        """Errors (rows, n - 1, columns) of the rows from `start`."""
        for c in range(self.columns):
            size = np.abs(off[..., c])
            top = int(size.argmax())
            us, them = divmod(top, n - 1)
            self.total[c] += float(off[..., c].sum())
            if float(size[us, them]) > self.greatest[c]:
                self.greatest[c] = float(size[us, them])
                self.errors[c], self.worst[c] = float(off[us, them, c]), (us + start) * n + them + 1

    def decide(self, seen: Array, exact: Array, start: int, n: int) -> None:
        """Decisions of the rows from `start`: how many the stored equities get wrong."""
        for name, margin, mine in _margins(seen, exact):
            yes = margin >= -TIE if name != "beavers" else margin > TIE
            bad = (mine != yes) & (np.abs(margin) > TIE)
            self.wrong[name] += int(bad.sum())
            self.right[name] += int(yes.sum())
            apart = np.abs(margin)[np.abs(margin) > TIE]
            if apart.size:
                self.nearest[name] = min(self.nearest[name], float(apart.min()))
            for us, them in np.argwhere(bad)[: max(0, LISTED - len(self.listed))]:
                self.listed.append((name, (int(us) + start) * n + int(them) + 1))


def _margins(seen: Array, exact: Array) -> list[tuple[str, Array, Array]]:
    """(name, by how much the exact equities say yes, whether the stored ones do) of each decision."""

    def of(e: Array) -> tuple[Array, ...]:
        doubled = np.minimum(1.0, 2 * e[..., 3])
        return doubled - e[..., 2], doubled - e[..., 1], 1 - 2 * e[..., 3], -2 * e[..., 3]

    mine, true = of(seen), of(exact)
    said = [m >= 0 for m in mine[:3]] + [mine[3] > 0]
    return list(zip(DECISIONS, true, said, strict=True))


def truth_of(table: TwoSided, threads: int | None) -> Array:
    """(n, n, columns) float64 equities by the solver's exact recipe."""
    from bgfmt import solver

    solved = solver.two_sided(
        table.points, table.chequers, cubeful=table.cubeful, recipe="exact", threads=threads
    )
    return np.asarray(solved.equities)


def measure(table: TwoSided, threads: int | None, truth: Array | None = None) -> dict[str, Any]:
    """See `bgfmt.verifier.measuring`; `truth` where it was solved already."""
    truth = truth_of(table, threads) if truth is None else truth
    n, columns = table.positions, table.equities.shape[2]
    tally = Tally(columns)
    step = max(1, BLOCK // n)
    for start in range(1, n, step):
        stop = min(n, start + step)
        stored = np.asarray(table.equities[start:stop])[:, 1:]
        seen, exact = table.read("equities", stored), truth[start:stop, 1:]
        tally.add(seen - exact, start, n)
        if columns == 4:
            tally.decide(seen, exact, start, n)
        if table.release is not None:
            table.release()
    pairs = (n - 1) ** 2
    out: dict[str, Any] = {
        "pairs": pairs,
        "greatest_error": {COLUMNS[c]: float(tally.greatest[c]) for c in range(columns)},
        "mean_error": {COLUMNS[c]: float(tally.total[c] / max(1, pairs)) for c in range(columns)},
        "worst": {
            COLUMNS[c]: [{"error": tally.errors[c], **place(table, tally.worst[c])}] for c in range(columns)
        },
    }
    if columns == 4:
        count = sum(tally.wrong.values())
        out["decisions"] = tally.right
        out["decisions_wrong"] = tally.wrong
        out["wrong_decisions"] = [{"decision": name, **place(table, k)} for name, k in tally.listed]
        out["wrong_decisions_left_out"] = count - len(tally.listed)
        out["nearest_margins"] = {k: v for k, v in tally.nearest.items() if np.isfinite(v)}
    if n <= rational.MOST_POSITIONS:
        out["rational"] = _rational(table, truth)
    return out


def place(table: TwoSided, number: int) -> dict[str, Any]:
    """Position number and chequers of a pair."""
    return {"position_number": number, "position": str(table.asked(number))}


def _rational(table: TwoSided, truth: Array) -> dict[str, Any]:
    values, scale = rational.two_sided(table.points, table.chequers)
    n, columns = table.positions, table.equities.shape[2]
    exact = np.array([[[v / scale for v in pair[:columns]] for pair in row] for row in values])
    seen = table.read("equities", np.asarray(table.equities))
    return {
        "pairs": (n - 1) ** 2,
        "float64_truth_differs_by": float(np.abs(truth - exact).max()),
        "greatest_error": float(np.abs(seen - exact)[1:, 1:].max()),
    }
