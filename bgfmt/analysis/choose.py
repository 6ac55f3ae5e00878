"""Which of several tables answers a question: two-sided before one-sided, exact numbers before rounded ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt import bounds
from bgfmt.database import Database
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.tables import EQUITY_COLUMNS, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.tables.numbering import Numbered

Asked = Database | Table
Databases = Asked | Sequence[Asked]


def known_error(table: Table) -> NDArray[np.float64]:
    """Greatest error of the four equities of a two-sided table, float64 of shape (4,); see `bgfmt.bounds`."""
    if table.exact:
        return np.full(4, bounds.float64_error(table.points, table.chequers))
    return np.array(bounds.stored_error(table.points, table.chequers))


def known_error_of_rolls(table: Table) -> float:
    """Greatest error of the mean rolls of a one-sided table; see `bgfmt.bounds`."""
    if table.exact:
        return 1e-12
    return bounds.mean_error(table.points, normal=isinstance(table, NormalOneSided))


def errors_of(table: Table) -> dict[str, float] | None:
    """Greatest known error of the numbers of a table, by the name of the column; None where none is known."""
    if isinstance(table, TwoSided):
        errors = known_error(table)
        named = {"win": errors[0] / 2} | dict(zip(EQUITY_COLUMNS, errors, strict=True))
        return {
            name: float(error)
            for name, error in named.items()
            if table.cubeful or name in ("win", "cubeless")
        }
    if isinstance(table, (OneSided, MeanRolls)):
        return {"mean_rolls": known_error_of_rolls(table)}
    if table.max_error is None:
        return None
    return {column.name: table.max_error for column in table.columns}


def tables_of(databases: Databases) -> list[Table]:
    """The tables of one or more databases or tables."""
    asked: Iterable[Asked] = [databases] if isinstance(databases, (Database, Table)) else databases
    return [one.table if isinstance(one, Database) else one for one in asked]


def check_race(position: Position) -> None:
    """Refuse what no table is about: PositionError when the game is over, NotCoveredError for contact."""
    if not position.us.chequers or not position.them.chequers:
        raise PositionError(f"{position}: the game is over, one side has no chequers left")
    if position.contact:
        raise NotCoveredError(f"{position}: the sides have not passed each other")


def two_sided_for(
    databases: Databases, position: Position, *, cubeful: bool = False, results: Sequence[Side] | None = None
) -> TwoSided | None:
    """The best two-sided table that covers both sides, or None: cubeful ones first, of them exact numbers first.

    With `results`, sides that a play can lead to, it is these that the table has to cover instead of `position.us`.
    """
    sides = [position.them, *([position.us] if results is None else results)]
    fitting = [
        table
        for table in tables_of(databases)
        if isinstance(table, TwoSided)
        and (table.cubeful or not cubeful)
        and not any(table.covers_side(side) for side in sides)
    ]
    return min(fitting, key=lambda t: (not t.cubeful, not t.exact, float(known_error(t).max())), default=None)


def one_sided_for(
    databases: Databases, *sides: Side, distributions: bool = False
) -> OneSided | NormalOneSided | MeanRolls | None:
    """The best one-sided table that covers all of these sides, or None: distributions, means, normal ones."""
    kinds = (OneSided,) if distributions else (OneSided, MeanRolls, NormalOneSided)
    fitting = [
        table
        for table in tables_of(databases)
        if isinstance(table, kinds) and not any(table.covers_side(side) for side in sides)
    ]
    return min(
        fitting,
        key=lambda t: (kinds.index(type(t)), not t.exact, getattr(t, "gammon", None) is None),
        default=None,
    )


def not_covered(databases: Databases, *sides: Side, wanted: str = "") -> NotCoveredError:
    """The error for a question that none of the tables answers, with each table's reason."""
    reasons = []
    for table in tables_of(databases):
        why = next(filter(None, (_outside(table, side) for side in sides)), None)
        reasons.append(why or f"a {table.kind} table does not say{' ' + wanted if wanted else ''}")
    unique = list(dict.fromkeys(reasons)) or ["no table was given"]
    return NotCoveredError("; ".join(unique))


def _outside(table: Table, side: Side) -> str | None:
    return table.covers_side(side) if isinstance(table, Numbered) else None


def equities_many(databases: Databases, us: Any, them: Any) -> NDArray[Any]:
    """(N, 4) or (N, 1) equities of many positions, counts (N, points), from the first two-sided table given."""
    for table in sorted(tables_of(databases), key=lambda t: not t.exact):
        if isinstance(table, TwoSided):
            return table.lookup_many(us, them)
    raise not_covered(databases, wanted="both sides' equities")
