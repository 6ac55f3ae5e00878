"""How far stored numbers are from the truth: the exact recipe, and for small tables rational arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import reshape
from bgfmt.game import board
from bgfmt.game.board import Side
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier import rational
from bgfmt.verifier.report import Finding, Report, plural

Array = NDArray[Any]
COLUMNS = ("cubeless", "owned", "centered", "opponent")
EQUAL = 1e-9  # two exact equities this near are equal
WORST = 5
NEAR = 1e-9


def measure(table: Table, *, threads: int | None = None) -> dict[str, Any]:
    """Greatest and mean error of the stored numbers, worst positions, and wrong cube decisions.

    Errors are stored less true: in equity for two-sided tables, in rolls (of the mean) for one-sided ones. Pairs in
    which a side has no chequers left are left out. Raises SolverError where the truth does not fit into memory.
    """
    if isinstance(table, TwoSided):
        return _two_sided(table, threads)
    if isinstance(table, (OneSided, NormalOneSided, MeanRolls)):
        return _one_sided(table, threads)
    return {"note": f"no exact recipe for {table.kind} tables"}


def _two_sided(table: TwoSided, threads: int | None) -> dict[str, Any]:
    from bgfmt.verifier.exact_truth import two_sided_truth

    n, columns = table.positions, table.equities.shape[2]
    truth = two_sided_truth(table.points, table.chequers, columns == 4, threads)
    greatest, mean = np.zeros(columns), np.zeros(columns)
    worst: list[list[tuple[float, int]]] = [[] for _ in range(columns)]
    wrong = {"initial_doubles": 0, "redoubles": 0, "takes": 0}
    right = {"initial_doubles": 0, "redoubles": 0, "takes": 0}
    decisions: list[dict[str, Any]] = []
    step = max(1, (1 << 22) // n)
    for start in range(1, n, step):
        stop = min(n, start + step)
        stored = np.asarray(table.equities[start:stop])[:, 1:]
        seen = stored if stored.dtype == np.float64 else stored / 32767.5 - 1
        exact = truth[start:stop, 1:]
        off = seen - exact
        for c in range(columns):
            size = np.abs(off[..., c])
            greatest[c] = max(greatest[c], float(size.max()))
            mean[c] += float(off[..., c].sum())
            top = np.argpartition(size.reshape(-1), -min(WORST, size.size))[-WORST:]
            for k in top:
                us, them = divmod(int(k), n - 1)
                worst[c].append((float(off[us, them, c]), (us + start) * n + them + 1))
            worst[c] = sorted(worst[c], key=lambda pair: -abs(pair[0]))[:WORST]
        if columns == 4:
            for name, bad, good in _decisions(seen, exact):
                wrong[name] += int(bad.sum())
                right[name] += int(good.sum())
                for us, them in np.argwhere(bad)[: max(0, 200 - len(decisions))]:
                    number = (int(us) + start) * n + int(them) + 1
                    decisions.append({"decision": name, **place(table, number)})
    pairs = (n - 1) ** 2
    out: dict[str, Any] = {
        "pairs": pairs,
        "greatest_error": {COLUMNS[c]: float(greatest[c]) for c in range(columns)},
        "mean_error": {COLUMNS[c]: float(mean[c] / max(1, pairs)) for c in range(columns)},
        "worst": {
            COLUMNS[c]: [{"error": error, **place(table, number)} for error, number in worst[c][:1]]
            for c in range(columns)
        },
    }
    if columns == 4:
        out["decisions"] = right
        out["decisions_wrong"] = wrong
        out["wrong_decisions"] = decisions
    if n <= rational.MOST_POSITIONS:
        out["rational"] = _rational_two_sided(table, truth)
    return out


def _decisions(seen: Array, exact: Array) -> list[tuple[str, Array, Array]]:
    """(name, where the stored equities decide otherwise, where the exact ones say yes); equal counts as yes."""

    def decide(e: Array, slack: float) -> tuple[Array, Array, Array]:
        doubled = np.minimum(1.0, 2 * e[..., 3])
        return doubled >= e[..., 2] - slack, doubled >= e[..., 1] - slack, 2 * e[..., 3] <= 1 + slack

    names = ("initial_doubles", "redoubles", "takes")
    mine, true = decide(seen, 0.0), decide(exact, EQUAL)
    return [(name, a != b, b) for name, a, b in zip(names, mine, true, strict=True)]


def place(table: Table, number: int) -> dict[str, Any]:
    """Position number and chequers of a pair."""
    us, them = divmod(number, table.positions)
    sides = " / ".join(str(Side.from_number(k, table.points)) for k in (us, them))
    return {"position_number": number, "position": sides}


def _rational_two_sided(table: TwoSided, truth: Array) -> dict[str, Any]:
    values, scale = rational.two_sided(table.points, table.chequers)
    n, columns = table.positions, table.equities.shape[2]
    exact = np.array([[[v / scale for v in pair[:columns]] for pair in row] for row in values])
    stored = np.asarray(table.equities)
    seen = stored if stored.dtype == np.float64 else stored / 32767.5 - 1
    return {
        "pairs": (n - 1) ** 2,
        "float64_truth_differs_by": float(np.abs(truth - exact).max()),
        "greatest_error": float(np.abs(seen - exact)[1:, 1:].max()),
    }


def _one_sided(table: OneSided | NormalOneSided | MeanRolls, threads: int | None) -> dict[str, Any]:
    from bgfmt import solver

    truth = np.asarray(solver.expected_rolls(table.points, table.chequers, threads=threads).means)
    stored_means = table if isinstance(table, MeanRolls) else reshape.to_mean_rolls(table)
    stored = np.asarray(stored_means.means, np.float64)
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
            {
                "error": float(off[x]),
                "position_number": int(x),
                "position": str(Side.from_number(int(x), table.points)),
            }
            for x in top
        ],
    }
    small = min(4, table.chequers)
    if board.count(table.points, small) <= rational.MOST_POSITIONS:
        means = rational.mean_rolls(table.points, small)
        gaps = [abs(float(mean) - float(truth[x])) for x, mean in enumerate(means)]
        out["rational"] = {
            "positions": len(means),
            "float64_truth_differs_by": max(gaps),
            "greatest_error_of_the_mean": max(
                abs(float(stored[x]) - float(mean)) for x, mean in enumerate(means)
            ),
        }
    return out


def judge(report: Report, table: OneSided | TwoSided, *, threads: int) -> None:
    """The verdict of a float64 table: it must be the exact recipe's, to 1e-9."""
    from bgfmt.verifier.exact_truth import one_sided_truth, two_sided_truth

    if isinstance(table, TwoSided):
        columns = table.equities.shape[2]
        truth = {"equities": two_sided_truth(table.points, table.chequers, columns == 4, threads)}
        report.entries = table.positions**2
    else:
        truth = one_sided_truth(table, threads)
        report.entries = table.positions
    report.checked = report.entries
    largest, bad, first = 0.0, 0, None
    for rows, block in table.blocks():
        for name, stored in block.items():
            gap = np.abs(np.asarray(stored) - truth[name][rows])
            gap[~np.isfinite(gap)] = np.inf
            wrong = gap > NEAR
            largest = max(largest, float(gap.max()))
            bad += int(wrong.reshape(len(gap), -1).any(axis=1).sum())
            if first is None and wrong.any():
                first = rows.start + int(wrong.reshape(len(gap), -1).any(axis=1).argmax())
    if first is None:
        report.status, report.recipe = "proved", "exact"
        report.verdict = (
            f"proved: every one of {plural(report.entries, 'entry')} is the exact recipe's, to {largest:.1e} "
            "(solved again)"
        )
        return
    report.status, report.wrong = "damaged", bad
    side = Side.from_number(first, table.points)
    text = f"row {first:,} ({side}) is off by up to {largest:.2g}"
    report.add(Finding("recurrence", text, position_number=first, position=str(side)))
    report.verdict = f"damaged: {plural(bad, 'row')} differ from the exact recipe; first: {text}"
