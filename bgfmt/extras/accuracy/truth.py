"""Errors of stored numbers, measured against the exact recipe.

Errors are stored minus true values: in equity for two-sided tables, in rolls (of the mean) for one-sided ones. Pairs
in which a side has no chequers left are ignored. The truth is the solver's float64 table; SolverError is raised if
that does not fit into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bgfmt import solver
from bgfmt.tables import EQUITY_COLUMNS, OfRolls, Table, TwoSided
from bgfmt.verifier.recurrence.plays import Array, Progress
from bgfmt.verifier.words import plural

DECISION_NOUNS = {
    "initial_doubles": "initial double",
    "redoubles": "redouble",
    "takes": "take",
    "beavers": "beaver",
}
TIE_EQUITY = 1e-12  # two exact equities this near may be equal: far more than float64 leaves them wrong by
MAX_LISTED_DECISIONS = 200  # wrong decisions that are listed
BLOCK_PAIRS = 1 << 22  # pairs compared at once
WORST_LISTED = 5
EQUAL_WITHIN = 1e-9


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
    if "note" in found:
        yield f"not compared with exact numbers: {found['note']}"
        return
    yield "compared with exact numbers:"
    for column, size in found.get("greatest_error", {}).items():
        worst = found["worst"][column][0]
        mean = found["mean_error"][column]
        yield f"  {column:<9} off by {size:.7f} at most (at {worst['position']}), {mean:+.2e} on average"
    for name, count in found.get("decisions_wrong", {}).items():
        yield f"  {plural(count, DECISION_NOUNS[name])} of {found['decisions'][name]:,} decided wrongly"
    if "greatest_error_of_the_mean" in found:
        worst = found["worst"][0]
        yield (
            f"  mean rolls off by {found['greatest_error_of_the_mean']:.7f} at most (at {worst['position']}), "
            f"{found['mean_error_of_the_mean']:+.2e} on average; {found['too_low']:,} too low, "
            f"{found['too_high']:,} too high"
        )


# -- equities ------------------------------------------------------------------------------------------------


class Errors:
    """Errors of equities, accumulated over the blocks of a table of n positions a side.

    Attributes
    ----------
    worst, greatest : by column, the entry with the greatest error, and that error.
    total : by column, the sum of the errors.
    right, wrong : by decision, how often the answer is yes, and how often the stored equities decide wrongly.
    nearest : by decision, the smallest margin of a decision that is not a tie.
    listed : (decision, entry) of the first wrong decisions.
    """

    def __init__(self, n: int, columns: int) -> None:
        self.n = n
        self.worst = np.zeros(columns, np.int64)
        self.greatest = np.zeros(columns)
        self.total = np.zeros(columns)
        self.right = Counter[str]()
        self.wrong = Counter[str]()
        self.nearest = dict.fromkeys(DECISION_NOUNS, np.inf)
        self.listed: list[tuple[str, int]] = []

    def add(self, off: Array, start: int) -> None:
        """Add the errors of some rows.

        off : (rows, n - 1, columns), stored minus true equities; rows are sides on roll, the opponent's empty side
        omitted. start : position number of the first row.
        """
        for c in range(off.shape[2]):
            column = off[..., c]
            place = int(np.abs(column).argmax())
            self.total[c] += column.sum()
            if abs(column.flat[place]) > abs(self.greatest[c]):
                self.greatest[c] = column.flat[place]
                self.worst[c] = self._entry(place, start)

    def add_decisions(self, seen: Array, exact: Array, start: int) -> None:
        """Count the cube decisions that stored equities get wrong.

        seen, exact : stored and true equities, (rows, n - 1, 4). start : position number of the first row, a side on
        roll.
        """
        stored = _margins(seen)
        for name, margin in _margins(exact).items():
            beaver = name == "beavers"
            yes = margin > TIE_EQUITY if beaver else margin >= -TIE_EQUITY
            mine = stored[name] > 0 if beaver else stored[name] >= 0
            certain = np.abs(margin) > TIE_EQUITY
            bad = np.flatnonzero((mine != yes) & certain)
            self.wrong[name] += len(bad)
            self.right[name] += int(yes.sum())
            self.nearest[name] = min(self.nearest[name], np.abs(margin)[certain].min(initial=np.inf))
            for place in bad[: MAX_LISTED_DECISIONS - len(self.listed)].tolist():
                self.listed.append((name, self._entry(place, start)))

    def _entry(self, place: int, start: int) -> int:
        """Return the number of the entry at a place of a block whose first row is `start`."""
        us, them = divmod(place, self.n - 1)
        return (us + start) * self.n + them + 1


def _margins(equities: Array) -> dict[str, Array]:
    """Return for each decision by how much equities say yes; `equities` has the four columns last."""
    taken = 2 * equities[..., 3]
    doubled = np.minimum(1.0, taken)
    return {
        "initial_doubles": doubled - equities[..., 2],
        "redoubles": doubled - equities[..., 1],
        "takes": 1 - taken,
        "beavers": -taken,
    }


def measure_equity_errors(table: TwoSided, threads: int | None) -> dict[str, Any]:
    """Measure the errors of a two-sided table: stored minus exact equities, in points.

    Returns a dict for JSON with `pairs`, `greatest_error`, `mean_error` and `worst` (the position with the greatest
    error), each of these three by column; with the cube also counts by decision: `decisions` (the exact answer is
    yes), `decisions_wrong`, and a list `wrong_decisions`.

    threads : number of threads, one for each core if None.
    """
    solved = solver.two_sided(
        table.points, table.chequers, cubeful=table.cubeful, recipe="exact", threads=threads
    )
    truth = np.asarray(solved.equities)
    n = table.positions
    columns = table.equities.shape[2]
    errors = Errors(n, columns)
    step = max(1, BLOCK_PAIRS // n)
    for start in range(1, n, step):
        stored = np.asarray(table.equities[start : start + step])[:, 1:]
        seen = table.read("equities", stored)
        exact = truth[start : start + step, 1:]
        errors.add(seen - exact, start)
        if columns == 4:
            errors.add_decisions(seen, exact, start)
        if table.release is not None:
            table.release()
    pairs = (n - 1) ** 2
    names = EQUITY_COLUMNS[:columns]
    greatest = dict(zip(names, errors.greatest.tolist(), strict=True))
    worst = dict(zip(names, errors.worst.tolist(), strict=True))
    out: dict[str, Any] = {
        "pairs": pairs,
        "greatest_error": {name: abs(error) for name, error in greatest.items()},
        "mean_error": dict(zip(names, (errors.total / max(1, pairs)).tolist(), strict=True)),
        "worst": {
            name: [{"error": greatest[name], **describe_entry(table, number)}]
            for name, number in worst.items()
        },
    }
    if columns == 4:
        out["decisions"] = dict(errors.right)
        out["decisions_wrong"] = dict(errors.wrong)
        out["wrong_decisions"] = [{"decision": name, **describe_entry(table, k)} for name, k in errors.listed]
        out["wrong_decisions_left_out"] = errors.wrong.total() - len(errors.listed)
        out["nearest_margins"] = {k: v for k, v in errors.nearest.items() if np.isfinite(v)}
    return out


def describe_entry(table: TwoSided | OfRolls, number: int) -> dict[str, Any]:
    """Return an entry's `position_number` and `position` (text) as a dict."""
    return {"position_number": number, "position": str(table.unrank(number))}


# -- mean rolls ----------------------------------------------------------------------------------------------


def measure_roll_errors(table: OfRolls, threads: int | None) -> dict[str, Any]:
    """Measure the errors of the mean rolls of a one-sided table: stored minus exact means, in rolls.

    Returns a dict for JSON with `positions`, `greatest_error_of_the_mean` (absolute), `mean_error_of_the_mean`, the
    counts `too_low` and `too_high`, and `worst`, a list of positions.
    """
    truth = np.asarray(solver.mean_rolls(table.points, table.chequers, threads=threads).means)
    stored = np.asarray(table.to_mean_rolls().means, np.float64)
    off = stored - truth
    size = np.abs(off)
    top = np.argsort(-size, kind="stable")[:WORST_LISTED]
    return {
        "positions": table.positions,
        "greatest_error_of_the_mean": float(size.max()),
        "mean_error_of_the_mean": float(off.mean()),
        "too_low": int((off < -EQUAL_WITHIN).sum()),
        "too_high": int((off > EQUAL_WITHIN).sum()),
        "worst": [{"error": float(off[x]), **describe_entry(table, int(x))} for x in top],
    }
