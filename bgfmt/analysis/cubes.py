"""Cube actions of many positions at once, by NumPy; the rules are those of `bgfmt.analysis.cube`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import EXACT
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.tables import EQUITY_COLUMNS, Table, TwoSided, bounds, of_kind

SETTLE_LIMIT = 12_000_000  # pairs of boards times cube states


@dataclass(frozen=True, eq=False)
class CubeActions:
    """Cube actions of N positions, arrays of shape (N,), for a centered and for an owned cube.

    label : int8, Koca's label 1..5 (`LABELS`).
    double, redouble, take, beaver : bool.
    double_margin, redouble_margin, take_margin : what doubling, redoubling, taking gains over not doing it.
    close_double, close_redouble, close_take, close_beaver : bool, whether the table's error could turn that decision.

    Ties, as `tie_*`, are equal to 1e-12 and not proved; from rounded equities they show as close decisions only.
    """

    label: NDArray[np.int8]
    double: NDArray[np.bool_]
    redouble: NDArray[np.bool_]
    take: NDArray[np.bool_]
    beaver: NDArray[np.bool_]
    double_margin: NDArray[Any]
    redouble_margin: NDArray[Any]
    take_margin: NDArray[Any]
    close_double: NDArray[np.bool_]
    close_redouble: NDArray[np.bool_]
    close_take: NDArray[np.bool_]
    close_beaver: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def close(self) -> NDArray[np.bool_]:
        """Whether any of the four decisions is closer than the table can err."""
        return self.close_double | self.close_redouble | self.close_take | self.close_beaver

    @property
    def tie_double(self) -> NDArray[np.bool_]:
        """Whether doubling and rolling on are worth the same."""
        return np.asarray(np.abs(self.double_margin) <= EXACT)

    @property
    def tie_redouble(self) -> NDArray[np.bool_]:
        """Whether redoubling and rolling on are worth the same."""
        return np.asarray(np.abs(self.redouble_margin) <= EXACT)

    @property
    def tie_take(self) -> NDArray[np.bool_]:
        """Whether taking and passing cost the same."""
        return np.asarray(np.abs(self.take_margin) <= EXACT)


def cube_actions(equities: ArrayLike, error: float | Table | None = None) -> CubeActions:
    """Cube actions of many positions at once.

    Parameters
    ----------
    equities
        (N, 4): cubeless, owned, centered, opponent, of the side on roll, as `lookup_many` returns them.
    error
        Greatest error of the equities, or the table they come from; a 6x8 table's by default, and none for
        float64 equities.
    """
    values = np.asarray(equities)
    if values.ndim != 2 or values.shape[1] != 4:
        raise PositionError(f"cube actions need equities of shape (N, 4), not {values.shape}")
    if isinstance(error, Table):
        error = max(error.errors().values(), default=None)
    if error is None:
        error = 0.0 if values.dtype == np.float64 else max(bounds.stored_error(6, 8))
    width = values.dtype.type if values.dtype.kind == "f" else np.float64
    owned, centered, opponent = np.ascontiguousarray(values.T[1:], width)
    taken = opponent * width(2)
    doubled = np.minimum(taken, width(1))
    tie = width(EXACT)
    gain, regain, spare = doubled - centered, doubled - owned, width(1) - taken
    double, redouble, take, beaver = gain >= -tie, regain >= -tie, spare >= -tie, taken < -tie
    label = np.where(beaver & ~double, np.int8(1), np.int8(2))
    label += double.astype(np.int8) + (double & redouble)
    np.copyto(label, np.int8(5), where=double & (spare <= tie))
    if error <= EXACT:
        none = np.zeros(len(label), np.bool_)
        close = (none, none, none, none)
    else:
        near, passed = width(3 * error), spare < width(-2 * error)  # a double surely passed cannot be wrong
        close = (
            (np.abs(gain) <= near) & ~passed,
            (np.abs(regain) <= near) & ~passed,
            np.abs(spare) <= width(2 * error),
            np.abs(taken) <= width(2 * error),
        )
    return CubeActions(label, double, redouble, take, beaver, gain, regain, spare, *close)


def judge_many(
    databases: Databases, us: Any, them: Any, *, settle: bool = False, limit: int = SETTLE_LIMIT
) -> CubeActions:
    """Cube actions of many positions, sides as `lookup_many` takes them, from the first cubeful two-sided table.

    With `settle`, each position that the table leaves too close is calculated exactly, up to `limit` pairs of boards
    times cube states.
    """
    tables = [t for t in of_kind(choose.tables_of(databases), TwoSided) if t.cubeful]
    if not tables:
        raise choose.not_covered(databases, wanted="both sides' cubeful equities")
    table = min(tables, key=lambda t: not t.exact)
    ours, theirs = table.numbers(us), table.numbers(them)
    values = table.lookup_many(ours, theirs)
    actions = cube_actions(values, table)
    if not settle or not actions.close.any():
        return actions
    from bgfmt.analysis.ondemand import solve_money

    rows, better = [], []
    for row in np.flatnonzero(actions.close):
        position = Position(*(Side.from_number(int(k[row]), table.points) for k in (ours, theirs)))
        try:
            found = solve_money(position, limit=limit)
        except NotCoveredError:  # beyond the limit
            continue
        rows.append(row)
        better.append([getattr(found, column) for column in EQUITY_COLUMNS])
    if not rows:
        return actions
    values = values.astype(np.float64)
    values[rows] = better
    settled = cube_actions(values, table)
    for name in ("close_double", "close_redouble", "close_take", "close_beaver"):
        getattr(settled, name)[rows] = False
    return settled
