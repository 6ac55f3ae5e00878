"""Errors of stored numbers, measured against the exact recipe and, for small tables, rational arithmetic.

Errors are stored minus true values: in equity for two-sided tables, in rolls (of the mean) for one-sided ones. Pairs
in which a side has no chequers left are ignored. The truth is the solver's float64 table; SolverError is raised if
that does not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bgfmt import solver
from bgfmt.game import board
from bgfmt.tables import EQUITY_COLUMNS as COLUMNS
from bgfmt.tables import OfRolls, Table, TwoSided
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, Progress, pips, plays
from bgfmt.verifier.words import plural

DECISION_NOUNS = {
    "initial_doubles": "initial double",
    "redoubles": "redouble",
    "takes": "take",
    "beavers": "beaver",
}
DECISIONS = tuple(DECISION_NOUNS)
TIE_EQUITY = 1e-12  # two exact equities this near may be equal: far more than float64 leaves them wrong by
MAX_LISTED_DECISIONS = 200  # wrong decisions that are listed
BLOCK_PAIRS = 1 << 22  # pairs compared at once
WORST_LISTED = 5
EQUAL_WITHIN = 1e-9
RATIONAL_CORNER_CHEQUERS = 4  # chequers of the corner that is measured in rational arithmetic
MAX_RATIONAL_POSITIONS = board.count(6, 4)  # positions up to which rational arithmetic is done


def estimate_seconds(table: Table) -> float:
    """Return 0 for any table: no estimate is known of how long a measurement takes."""
    return 0.0


def measure(table: Table, threads: int, progress: Progress | None = None) -> dict[str, Any]:
    """Measure the errors of a table's stored numbers: stored minus exact values, solved anew in float64.

    Returns the result of `measure_equity_errors` for a two-sided table, that of `measure_roll_errors` for a one-sided
    one, and {"note": reason} for other kinds. `progress` is not called.
    """
    if isinstance(table, OfRolls):
        return measure_roll_errors(table, threads)
    if isinstance(table, TwoSided):
        return measure_equity_errors(table, threads)
    return {"note": f"{table.kind} tables are not measured; bgfmt diff compares one with an exact one"}


def describe(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text that report measured errors.

    found : result of `measure`.
    """
    if set(found) == {"note"}:
        yield f"not compared with exact numbers: {found['note']}"
        return
    yield "compared with exact numbers:"
    if "note" in found:
        yield f"  {found['note']}"
    if "greatest_error" in found:
        for column, size in found["greatest_error"].items():
            worst = found["worst"][column][0]
            mean = found["mean_error"][column]
            yield f"  {column:<9} off by {size:.7f} at most (at {worst['position']}), {mean:+.2e} on average"
    if "decisions_wrong" in found:
        for name, count in found["decisions_wrong"].items():
            yield f"  {plural(count, DECISION_NOUNS[name])} of {found['decisions'][name]:,} decided wrongly"
        left = found["wrong_decisions_left_out"]
        listed = len(found["wrong_decisions"])
        if listed:
            yield f"  the JSON report lists {listed} of them" + (f", and leaves out {left:,}" if left else "")
    if "greatest_error_of_the_mean" in found:
        worst = found["worst"][0]
        yield (
            f"  mean rolls off by {found['greatest_error_of_the_mean']:.7f} at most (at {worst['position']}), "
            f"{found['mean_error_of_the_mean']:+.2e} on average; {found['too_low']:,} too low, "
            f"{found['too_high']:,} too high"
        )
    if "rational" in found:
        gap = found["rational"]["float64_truth_differs_by"]
        yield f"  the float64 truth is off by {gap:.1e} at most from rational arithmetic, where that was done"


# -- equities ------------------------------------------------------------------------------------------------


@dataclass
class Errors:
    """Errors of equities, accumulated over the blocks of a table; lists have one item for each column.

    Attributes
    ----------
    worst, errors : entry with the greatest error, and that error.
    total : sum of the errors.
    right, wrong : by decision, how often the answer is yes, and how often the stored equities decide wrongly.
    nearest : by decision, the smallest margin of a decision that is not a tie.
    listed : (decision, entry) of the first wrong decisions.
    """

    worst: list[int]
    errors: list[float]
    total: list[float]
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DECISIONS, 0))
    nearest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DECISIONS, np.inf))
    listed: list[tuple[str, int]] = field(default_factory=list)

    def add(self, off: Array, start: int, n: int) -> None:
        """Add the errors of some rows to the totals.

        Parameters
        ----------
        off : (rows, n - 1, columns), stored minus true equities; rows are sides on roll, the opponent's empty side
            omitted.
        start : position number of the first row.
        n : positions of a side.
        """
        for c in range(len(self.total)):
            some = off[..., c]
            us, them = divmod(int(np.abs(some).argmax()), n - 1)
            self.total[c] += float(some.sum())
            if abs(some[us, them]) > abs(self.errors[c]):
                self.errors[c] = float(some[us, them])
                self.worst[c] = (us + start) * n + them + 1

    def decide(self, seen: Array, exact: Array, start: int, n: int) -> None:
        """Count the cube decisions that stored equities get wrong.

        seen, exact : stored and true equities, (rows, n - 1, 4). start : position number of the first row, a side on
        roll. n : positions of a side.
        """
        for name, margin, mine in _margins(seen, exact):
            yes = margin >= -TIE_EQUITY if name != "beavers" else margin > TIE_EQUITY
            bad = (mine != yes) & (np.abs(margin) > TIE_EQUITY)
            self.wrong[name] += int(bad.sum())
            self.right[name] += int(yes.sum())
            apart = np.abs(margin)[np.abs(margin) > TIE_EQUITY]
            if apart.size:
                self.nearest[name] = min(self.nearest[name], float(apart.min()))
            for us, them in np.argwhere(bad)[: max(0, MAX_LISTED_DECISIONS - len(self.listed))]:
                self.listed.append((name, (int(us) + start) * n + int(them) + 1))


def _margins(seen: Array, exact: Array) -> list[tuple[str, Array, Array]]:
    """Return for each decision (name, margin by which exact equities say yes, whether stored ones say yes)."""

    def of(e: Array) -> tuple[Array, ...]:
        doubled = np.minimum(1.0, 2 * e[..., 3])
        return doubled - e[..., 2], doubled - e[..., 1], 1 - 2 * e[..., 3], -2 * e[..., 3]

    mine = of(seen)
    true = of(exact)
    said = [m >= 0 for m in mine[:3]] + [mine[3] > 0]
    return list(zip(DECISIONS, true, said, strict=True))


def solve_exactly(table: TwoSided, threads: int | None) -> Array:
    """Solve a table of the same size by the exact recipe; return its equities, (n, n, columns) float64.

    threads : number of threads, one for each core if None. SolverError is raised if memory is too small.
    """
    solved = solver.two_sided(
        table.points, table.chequers, cubeful=table.cubeful, recipe="exact", threads=threads
    )
    return np.asarray(solved.equities)


def measure_equity_errors(table: TwoSided, threads: int | None) -> dict[str, Any]:
    """Measure the errors of a two-sided table: stored minus exact equities, in points.

    Returns a dict for JSON with `pairs`, `greatest_error`, `mean_error` and `worst` (the position with the greatest
    error), each of these three by column; with the cube also counts by decision: `decisions` (the exact answer is
    yes), `decisions_wrong`, and a list `wrong_decisions`. For small tables `rational` has errors by exact fractions.
    """
    truth = solve_exactly(table, threads)
    n = table.positions
    columns = table.equities.shape[2]
    errors = Errors([0] * columns, [0.0] * columns, [0.0] * columns)
    step = max(1, BLOCK_PAIRS // n)
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
            COLUMNS[c]: [{"error": errors.errors[c], **describe_entry(table, errors.worst[c])}]
            for c in range(columns)
        },
    }
    if columns == 4:
        out["decisions"] = errors.right
        out["decisions_wrong"] = errors.wrong
        out["wrong_decisions"] = [{"decision": name, **describe_entry(table, k)} for name, k in errors.listed]
        out["wrong_decisions_left_out"] = sum(errors.wrong.values()) - len(errors.listed)
        out["nearest_margins"] = {k: v for k, v in errors.nearest.items() if np.isfinite(v)}
    if n <= MAX_RATIONAL_POSITIONS:
        out["rational"] = _rational(table, truth)
    return out


def describe_entry(table: TwoSided | OfRolls, number: int) -> dict[str, Any]:
    """Return an entry's `position_number` and `position` (text) as a dict."""
    return {"position_number": number, "position": str(table.unrank(number))}


def _rational(table: TwoSided, truth: Array) -> dict[str, Any]:
    """Compare the table and its float64 truth with rational arithmetic."""
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


def measure_roll_errors(table: OfRolls, threads: int | None) -> dict[str, Any]:
    """Measure the errors of the mean rolls of a one-sided table: stored minus exact means, in rolls.

    Returns a dict for JSON with `positions`, `greatest_error_of_the_mean` (absolute), `mean_error_of_the_mean`, the
    counts `too_low` and `too_high`, and `worst`, a list of positions. For small sizes `rational` has errors by exact
    fractions.
    """
    truth = np.asarray(solver.mean_rolls(table.points, table.chequers, threads=threads).means)
    stored = np.asarray(table.to_mean_rolls().means, np.float64)
    off = stored - truth
    size = np.abs(off)
    top = np.argsort(-size, kind="stable")[:WORST_LISTED]
    out: dict[str, Any] = {
        "positions": table.positions,
        "greatest_error_of_the_mean": float(size.max()),
        "mean_error_of_the_mean": float(off.mean()),
        "too_low": int((off < -EQUAL_WITHIN).sum()),
        "too_high": int((off > EQUAL_WITHIN).sum()),
        "worst": [{"error": float(off[x]), **describe_entry(table, int(x))} for x in top],
    }
    small = min(RATIONAL_CORNER_CHEQUERS, table.chequers)
    if board.count(table.points, small) <= MAX_RATIONAL_POSITIONS:
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


def list_plays(points: int, chequers: int) -> list[list[tuple[int, Array]]]:
    """Return for each position number its 21 rolls as (weight 1 or 2, array of the distinct positions after it)."""
    starts, results = plays(points, chequers)
    after = np.split(results, starts[1:-1])
    weights = WEIGHTS.tolist()
    return [list(zip(weights, after[x : x + ROLLS], strict=True)) for x in range(0, len(after), ROLLS)]


def rational_equities(points: int, chequers: int) -> tuple[Any, int]:
    """Compute the exact equities of all pairs as Python integers; return (values, scale).

    values[us, them] / scale are the equities of `us`, on roll: cubeless, owned, centered and opponent's cube.
    """
    ways = list_plays(points, chequers)
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
    """Return the exact least expected number of rolls to bear off, by position number."""
    ways = list_plays(points, chequers)
    scale = 36 ** (1 + points * chequers)
    means = np.zeros(len(ways), object)
    for x in range(1, len(ways)):
        means[x] = scale + sum(weight * means[after].min() for weight, after in ways[x]) // 36
    return [Fraction(mean, scale) for mean in means]
