"""Choose which of several tables answers a query: two-sided before one-sided, exact numbers before rounded ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from bgfmt.errors import CONTACT, WHO_ANSWERS_CONTACT, CapabilityError, NotCoveredError, PositionError
from bgfmt.files.database import Database
from bgfmt.game.board import Position, Side
from bgfmt.tables import GammonTwoSided, OneSided, Table, TwoSided, of_kind
from bgfmt.tables.rolls import MeanRolls, NormalOneSided, OfRolls

__all__ = [
    "RANK",
    "Asked",
    "Databases",
    "check_race",
    "check_unfinished",
    "counting_for",
    "distributions_for",
    "equities_many",
    "first_two_sided",
    "not_covered",
    "one_sided_for",
    "one_sided_tables",
    "tables_of",
    "two_sided_for",
]


Asked = Database | Table  # what a query can be directed to
Databases = Asked | Sequence[Asked]

#: the kinds of one-sided tables that answer queries, the best first
RANK = {OneSided.kind: 0, MeanRolls.kind: 1, NormalOneSided.kind: 2}


def tables_of(databases: Databases) -> list[Table]:
    """Return the tables of one or more databases or tables as a list; CapabilityError for any other object."""
    asked: Any = (
        databases if isinstance(databases, Iterable) and not isinstance(databases, str) else [databases]
    )
    found = [one.table if isinstance(one, Database) else one for one in asked]
    for one in found:
        if not isinstance(one, Table):
            raise CapabilityError(f"expected databases from bgfmt.open or bgfmt.load, not {one!r:.60}")
    return found


def check_unfinished(position: Position) -> None:
    """Raise PositionError if the game of a position is over."""
    if not position.us.chequers or not position.them.chequers:
        raise PositionError(f"{position}: the game is over, one side has no chequers left")


def check_race(position: Position) -> None:
    """Check that a position is a race: PositionError if the game is over, NotCoveredError for contact."""
    check_unfinished(position)
    if position.contact:
        raise NotCoveredError(f"{position}: {CONTACT}; {WHO_ANSWERS_CONTACT}")


def two_sided_for(
    databases: Databases, position: Position, *, cubeful: bool = False, results: Sequence[Side] | None = None
) -> TwoSided | None:
    """Choose the best two-sided table that covers both sides: cubeful before cubeless, then exact before rounded.

    Parameters
    ----------
    databases
        One or more databases or tables.
    position
        The side on roll first.
    cubeful
        Accept only tables with cubeful equities.
    results
        Sides after plays, which the table has to cover instead of `position.us`.

    Returns
    -------
    None if no table covers both sides.
    """
    sides = [position.them, *([position.us] if results is None else results)]
    fitting = [
        table
        for table in of_kind(tables_of(databases), TwoSided)
        if (table.cubeful or not cubeful) and not any(table.covers_side(side) for side in sides)
    ]
    return min(fitting, key=lambda t: (not t.cubeful, not t.exact, float(t.known_errors.max())), default=None)


def counting_for(
    databases: Databases, position: Position, *, jacoby: bool, results: Sequence[Side] | None = None
) -> GammonTwoSided | None:
    """Choose the best cubeful two-sided table that counts gammons and covers both sides; None if there is none.

    jacoby : whether the table must be for Jacoby's rule; ignored in a position without gammons. Exact tables come
    before rounded ones. Other parameters: see `two_sided_for`.
    """
    sides = [position.them, *([position.us] if results is None else results)]
    fitting = [
        table
        for table in of_kind(tables_of(databases), GammonTwoSided)
        if table.cubeful and not any(table.covers_side(side) for side in sides)
        if table.jacoby == jacoby or not position.gammons
    ]
    return min(fitting, key=lambda t: not t.exact, default=None)


def one_sided_for(databases: Databases, *sides: Side) -> OfRolls | None:
    """Choose the best one-sided table that covers all of these sides; None if there is none.

    Tables of distributions come before tables of means, and these before normal approximations.
    """
    fitting = [
        table for table in one_sided_tables(databases) if not any(table.covers_side(side) for side in sides)
    ]
    return min(fitting, key=lambda t: (RANK[t.kind], not t.exact, "gammon" not in t.arrays()), default=None)


def distributions_for(databases: Databases, *sides: Side) -> OneSided | None:
    """Choose the best one-sided table of distributions of rolls that covers all of these sides, else None.

    An exact table comes before rounded ones, and one with distributions for the first chequer before others.
    """
    one = one_sided_for(of_kind(tables_of(databases), OneSided), *sides)
    return next(iter(of_kind([] if one is None else [one], OneSided)), None)


def one_sided_tables(databases: Databases) -> list[OfRolls]:
    """Return the one-sided tables among the databases: distributions, mean rolls and normal approximations."""
    found = of_kind(tables_of(databases), OfRolls)  # type: ignore[type-abstract]
    return [table for table in found if table.kind in RANK]


def not_covered(databases: Databases, *sides: Side, wanted: str = "") -> NotCoveredError:
    """Return the error for a query that none of the tables answers; the message has each table's reason.

    sides : the sides that had to be covered. wanted : what was queried, such as "the rolls of one side", which tables
    that cover the sides do not have.
    """
    reasons = []
    for table in tables_of(databases):
        why = next(filter(None, (table.covers_side(side) for side in sides)), None)
        reasons.append(why or f"a {table.kind} table does not have{' ' + wanted if wanted else ''}")
    unique = list(dict.fromkeys(reasons)) or ["no table was given"]
    return NotCoveredError("; ".join(unique))


def first_two_sided(databases: Databases, *, cubeful: bool = False) -> TwoSided:
    """Return the first two-sided table, but an exact one before rounded ones; NotCoveredError if there is none.

    cubeful : accept only tables with cubeful equities.
    """
    fitting = [t for t in of_kind(tables_of(databases), TwoSided) if t.cubeful or not cubeful]
    if not fitting:
        raise not_covered(databases, wanted=f"both sides' {'cubeful ' * cubeful}equities")
    return min(fitting, key=lambda t: not t.exact)


def equities_many(databases: Databases, us: Any, them: Any) -> NDArray[Any]:
    """Look up the equities of many positions in the first two-sided table (an exact one before others).

    Parameters
    ----------
    databases
        One or more databases or tables.
    us, them
        Counts (N, points) of the side on roll and of the other.

    Returns
    -------
    (N, 4) equities cubeless, owned, centered, opponent, or (N, 1) of a cubeless table.

    Raises
    ------
    NotCoveredError
        There is no two-sided table, or it does not cover a position.
    """
    return first_two_sided(databases).lookup_many(us, them)
