"""Cube actions of many positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.answers import EXACT
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.ondemand import solve_money
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.tables import EQUITY_COLUMNS, Table, bounds

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CubeActions:
    """Cube actions of N positions, arrays of shape (N,), for a centered and for an owned cube.

    label : int8, Koca's label 1 to 5 (`LABELS`).
    double, redouble, take, beaver : bool, the decisions.
    double_margin, redouble_margin, take_margin : equity that doubling, redoubling or taking gains over not doing it,
        after the other side's best reply; a beaver is one where beavers are played.
    close_double, close_redouble, close_take, close_beaver : bool, whether the table's error could change it.

    The ties of `tie_*` are equities that differ by at most 1e-12, without proof; with rounded equities ties are
    found as close decisions only.
    """

    label: NDArray[np.int8]
    double: Bools
    redouble: Bools
    take: Bools
    beaver: Bools
    double_margin: NDArray[Any]
    redouble_margin: NDArray[Any]
    take_margin: NDArray[Any]
    close_double: Bools
    close_redouble: Bools
    close_take: Bools
    close_beaver: Bools

    def __len__(self) -> int:
        return len(self.label)

    @property
    def close(self) -> Bools:
        """Whether the table's error could change any of the four decisions (double, redouble, take, beaver)."""
        return self.close_double | self.close_redouble | self.close_take | self.close_beaver

    @property
    def tie_double(self) -> Bools:
        """Whether doubling a centered cube and rolling on are worth the same, within 1e-12."""
        return np.asarray(np.abs(self.double_margin) <= EXACT)

    @property
    def tie_redouble(self) -> Bools:
        """Whether redoubling and rolling on are worth the same, within 1e-12."""
        return np.asarray(np.abs(self.redouble_margin) <= EXACT)

    @property
    def tie_take(self) -> Bools:
        """Whether taking and passing cost the same, within 1e-12."""
        return np.asarray(np.abs(self.take_margin) <= EXACT)


def actions_from_equities(
    equities: ArrayLike, error: float | Table | None = None, *, beavers: bool = True
) -> CubeActions:
    """Return the cube actions of many positions at once.

    Parameters
    ----------
    equities
        (N, 4) float: cubeless, owned, centered, opponent of the side on roll, as `lookup_many` returns them.
    error
        Their greatest error, or the table they come from. By default 0 for float64, else that of a 6x8 table.
    beavers
        Beavers are played: the other side may beaver a double.
    """
    values = np.asarray(equities)
    if values.ndim != 2 or values.shape[1] != 4:
        raise PositionError(f"equities must have shape (N, 4), not {values.shape}")
    if isinstance(error, Table):
        error = max(error.errors().values(), default=None)
    if error is None:
        error = 0.0 if values.dtype == np.float64 else max(bounds.stored_error(6, 8))
    width = values.dtype.type if values.dtype.kind == "f" else np.float64
    owned, centered, opponent = np.ascontiguousarray(values.T[1:], width)
    taken = opponent * width(2)
    passed = width(1)
    doubled = np.minimum(taken, passed)
    if beavers:
        np.minimum(doubled, taken * width(2), out=doubled)
    tie = width(EXACT)
    gain = doubled - centered
    regain = doubled - owned
    spare = passed - taken
    double = gain >= -tie
    redouble = regain >= -tie
    take = spare >= -tie
    behind = taken < -tie
    label = np.where(behind & ~double, np.int8(1), np.int8(2))
    label += double.astype(np.int8) + (double & redouble)
    np.copyto(label, np.int8(5), where=double & (spare <= tie))
    none = np.zeros(len(label), np.bool_)
    close: tuple[Bools, ...] = (none,) * 4
    if error > EXACT:
        open_gain, open_regain = (
            _close_doubles(taken, rolling, float(error), beavers=beavers) for rolling in (centered, owned)
        )
        near = width(2 * error)
        close = (open_gain, open_regain, np.abs(spare) <= near, np.abs(taken) <= near if beavers else none)
    beaver = behind if beavers else none
    return CubeActions(label, double, redouble, take, beaver, gain, regain, spare, *close)


def _close_doubles(taken: Any, rolling: Any, error: float, *, beavers: bool) -> Bools:
    """Return where an error of the equities could turn a double, as `CubeAction.sure_double`."""
    width = taken.dtype.type
    replied = np.minimum(taken, width(1))
    # a double surely passed cannot be wrong, and one that a take makes wrong is made no better by a beaver
    sure = (taken > width(1 + 2 * error)) | (replied - rolling < width(-3 * error))
    if not beavers:
        open_still: Bools = ~sure & (replied - rolling <= width(3 * error))
        return open_still
    beavered = np.minimum(replied, taken * width(2))
    reach = np.where(taken < width(2 * error), width(5 * error), width(3 * error))
    close: Bools = ~sure & (np.abs(beavered - rolling) <= reach)
    return close


def cube_actions(
    equities: Databases | ArrayLike, error: Any = None, them: Any = None, *, beavers: bool = True
) -> CubeActions:
    """Return the cube actions of many positions for money: `cube_actions(db, us, them)`, or of their equities.

    Parameters
    ----------
    equities
        A database or table, or several, followed by `us` and `them`, N sides each as `lookup_many` takes them. Or
        an array (N, 4): cubeless, owned, centered, opponent of the side on roll, as `lookup_many` returns them.
    error
        After an array, its maximum error, or the table it comes from. By default 0 for float64, else that of a 6x8
        table.
    them
        The sides of the opponents, after a database.
    beavers
        The side that is doubled may beaver.
    """
    if them is not None:
        databases: Any = equities
        return judge_many(databases, error, them, beavers=beavers)
    values: Any = equities
    return actions_from_equities(values, error, beavers=beavers)


SETTLE_LIMIT = 12_000_000  # pairs of boards times cube states


def judge_many(
    databases: Databases,
    us: Any,
    them: Any,
    *,
    beavers: bool = True,
    settle: bool = False,
    limit: int = SETTLE_LIMIT,
) -> CubeActions:
    """Return the cube actions of many positions for money, from the first cubeful two-sided table.

    Parameters
    ----------
    databases
        One or more databases or tables.
    us, them
        N sides as `lookup_many` takes them, the side on roll and the other.
    beavers
        The side that is doubled may beaver.
    settle
        Calculate each position exactly where the rounding of the table leaves the action open.
    limit
        Largest calculation of one position, in pairs of boards times cube states.

    Raises
    ------
    PositionError
        In one of the positions the game is over.
    """
    table = choose.first_two_sided(databases, cubeful=True)
    ours = table.numbers(us)
    theirs = table.numbers(them)
    if not (ours.all() and theirs.all()):
        over = int(((ours == 0) | (theirs == 0)).argmax())
        raise PositionError(f"row {over}: the game is over, one side has no chequers left")
    values = table.lookup_many(ours, theirs)
    actions = actions_from_equities(values, table, beavers=beavers)
    if not settle or not actions.close.any():
        return actions
    rows = []
    better = []
    for row in np.flatnonzero(actions.close):
        position = Position(*(Side.from_number(int(k[row]), table.points) for k in (ours, theirs)))
        try:
            found = solve_money(position, limit=limit)
        except NotCoveredError:  # beyond the limit
            continue
        rows.append(row)
        better.append([found.equity(column) for column in EQUITY_COLUMNS])
    if not rows:
        return actions
    values = values.astype(np.float64)
    values[rows] = better
    settled = actions_from_equities(values, table, beavers=beavers)
    for name in ("close_double", "close_redouble", "close_take", "close_beaver"):
        getattr(settled, name)[rows] = False
    return settled
