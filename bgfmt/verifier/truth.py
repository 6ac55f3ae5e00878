"""How far stored numbers are from the truth: the exact recipe, and for small tables rational arithmetic.

Errors are stored less true: in equity for two-sided tables, in rolls (of the mean) for one-sided ones. Pairs in which
a side has no chequers left are left out. The truth is the solver's float64 table; SolverError where that does not fit
into memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bgfmt import solver
from bgfmt.game import board
from bgfmt.tables import EQUITY_COLUMNS as COLUMNS
from bgfmt.tables import OfRolls, Table, TwoSided
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, pips, plays

DECISIONS = ("initial_doubles", "redoubles", "takes", "beavers")
TIE = 1e-12  # two exact equities this near may be equal: far more than float64 leaves them wrong by
LISTED = 200  # wrong decisions that are listed
BLOCK = 1 << 22  # pairs compared at once
WORST = 5
NEAR = 1e-9
SMALL = 4  # chequers of the corner that is measured in rational arithmetic
MOST_RATIONAL = board.count(6, 4)  # positions up to which rational arithmetic is done


def of_table(table: Table, threads: int) -> dict[str, Any]:
    """How far the stored numbers are from the truth; a note for kinds that are not measured."""
    if isinstance(table, OfRolls):
        return of_rolls(table, threads)
    if isinstance(table, TwoSided):
        return of_equities(table, threads)
    return {"note": f"{table.kind} tables are not measured; bgfmt diff compares one with an exact one"}


# -- equities ------------------------------------------------------------------------------------------------


@dataclass
class Errors:
    """What is added up over the blocks of a table."""

    worst: list[int]
    errors: list[float]
    total: list[float]
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    nearest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DECISIONS, np.inf))
    listed: list[tuple[str, int]] = field(default_factory=list)

    def add(self, off: Array, start: int, n: int) -> None:
        """Errors (rows, n - 1, columns) of the rows from `start`."""
        for c in range(len(self.total)):
            some = off[..., c]
            us, them = divmod(int(np.abs(some).argmax()), n - 1)
            self.total[c] += float(some.sum())
            if abs(some[us, them]) > abs(self.errors[c]):
                self.errors[c] = float(some[us, them])
                self.worst[c] = (us + start) * n + them + 1

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

    mine = of(seen)
    true = of(exact)
    said = [m >= 0 for m in mine[:3]] + [mine[3] > 0]
    return list(zip(DECISIONS, true, said, strict=True))


def truth_of(table: TwoSided, threads: int | None) -> Array:
    """(n, n, columns) float64 equities by the solver's exact recipe."""
    solved = solver.two_sided(
        table.points, table.chequers, cubeful=table.cubeful, recipe="exact", threads=threads
    )
    return np.asarray(solved.equities)


def of_equities(table: TwoSided, threads: int | None) -> dict[str, Any]:
    """Errors of the equities, worst positions and wrong decisions."""
    truth = truth_of(table, threads)
    n = table.positions
    columns = table.equities.shape[2]
    errors = Errors([0] * columns, [0.0] * columns, [0.0] * columns)
    step = max(1, BLOCK // n)
    for start in range(1, n, step):
        stop = min(n, start + step)
        stored = np.asarray(table.equities[start:stop])[:, 1:]
        seen = table.read("equities", stored)
        exact = truth[start:stop, 1:]
        errors.add(seen - exact, start, n)
        if columns == 4:
            errors.decide(seen, exact, start, n)
        if table.release is not None:
            table.release()
    pairs = (n - 1) ** 2
    out: dict[str, Any] = {
        "pairs": pairs,
        "greatest_error": {COLUMNS[c]: abs(errors.errors[c]) for c in range(columns)},
        "mean_error": {COLUMNS[c]: errors.total[c] / max(1, pairs) for c in range(columns)},
        "worst": {
            COLUMNS[c]: [{"error": errors.errors[c], **place(table, errors.worst[c])}] for c in range(columns)
        },
    }
    if columns == 4:
        out["decisions"] = errors.right
        out["decisions_wrong"] = errors.wrong
        out["wrong_decisions"] = [{"decision": name, **place(table, k)} for name, k in errors.listed]
        out["wrong_decisions_left_out"] = sum(errors.wrong.values()) - len(errors.listed)
        out["nearest_margins"] = {k: v for k, v in errors.nearest.items() if np.isfinite(v)}
    if n <= MOST_RATIONAL:
        out["rational"] = _rational(table, truth)
    return out


def place(table: TwoSided | OfRolls, number: int) -> dict[str, Any]:
    """Position number and chequers of an entry."""
    return {"position_number": number, "position": str(table.unrank(number))}


def _rational(table: TwoSided, truth: Array) -> dict[str, Any]:
    values, scale = rational_equities(table.points, table.chequers)
    n = table.positions
    columns = table.equities.shape[2]
    exact = (values[..., :columns] / scale).astype(np.float64)
    seen = table.read("equities", np.asarray(table.equities))
    return {
        "pairs": (n - 1) ** 2,
        "float64_truth_differs_by": float(np.abs(truth - exact).max()),
        "greatest_error": float(np.abs(seen - exact)[1:, 1:].max()),
    }


# -- mean rolls ----------------------------------------------------------------------------------------------


def of_rolls(table: OfRolls, threads: int | None) -> dict[str, Any]:
    """Greatest and mean error of the mean rolls of a one-sided table of any kind, and its worst positions."""
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
        "worst": [{"error": float(off[x]), **place(table, int(x))} for x in top],
    }
    small = min(SMALL, table.chequers)
    if board.count(table.points, small) <= MOST_RATIONAL:
        means = rational_means(table.points, small)
        gaps = [abs(float(mean) - float(truth[x])) for x, mean in enumerate(means)]
        out["rational"] = {
            "positions": len(means),
            "float64_truth_differs_by": max(gaps),
            "greatest_error_of_the_mean": max(abs(float(stored[x]) - float(m)) for x, m in enumerate(means)),
        }
    return out


# -- rational arithmetic ---------------------------------------------------------------------------------------
#
# Whole numbers over one power of 36, nothing rounded at all: every roll divides by 36 once and takes a pip or more,
# so with M pips left every value is a multiple of 36 ** -M.


def plays_of(points: int, chequers: int) -> list[list[tuple[int, Array]]]:
    """[position] -> weight, and distinct positions after it, of each roll."""
    starts, results = plays(points, chequers)
    after = np.split(results, starts[1:-1])
    weights = WEIGHTS.tolist()
    return [list(zip(weights, after[x : x + ROLLS], strict=True)) for x in range(0, len(after), ROLLS)]


def rational_equities(points: int, chequers: int) -> tuple[Any, int]:
    """(values, scale): values[us, them] / scale = equities cubeless, owned, centered, opponent, exactly."""
    ways = plays_of(points, chequers)
    scale = 36 ** (2 * points * chequers)
    n = len(ways)
    depth = pips(points, chequers)
    values = np.full((n, n, 4), -scale, object)
    values[0] = scale
    turned = -values
    us, them = np.divmod(np.arange(n * n), n)
    for number in np.argsort(depth[us] + depth[them], kind="stable").tolist():
        u, t = divmod(number, n)
        if u and t:
            total = sum(weight * turned[t, after].max(axis=0) for weight, after in ways[u])
            e0, e1, e2, e3 = values[u, t] = total // 36
            double = min(scale, 2 * e3)
            turned[u, t] = -e0, -e3, -max(e2, double), -max(e1, double)
    return values, scale


def rational_means(points: int, chequers: int) -> list[Fraction]:
    """Least expected rolls of every position, exactly."""
    ways = plays_of(points, chequers)
    scale = 36 ** (1 + points * chequers)
    means = np.zeros(len(ways), object)
    for x in range(1, len(ways)):
        means[x] = scale + sum(weight * means[after].min() for weight, after in ways[x]) // 36
    return [Fraction(mean, scale) for mean in means]
