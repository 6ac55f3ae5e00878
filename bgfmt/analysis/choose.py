"""Which of several tables answers a question: two-sided before one-sided, exact numbers before rounded ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from bgfmt.errors import CONTACT, WHO_ANSWERS_CONTACT, CapabilityError, NotCoveredError, PositionError
from bgfmt.files.database import Database
from bgfmt.game.board import Position, Side
from bgfmt.tables import GammonTwoSided, OneSided, Table, TwoSided, of_kind
from bgfmt.tables.rolls import MeanRolls, NormalOneSided, OfRolls

Asked = Database | Table
Databases = Asked | Sequence[Asked]

#: which kinds of one-sided tables answer questions, the best first
RANK = {OneSided.kind: 0, MeanRolls.kind: 1, NormalOneSided.kind: 2}


def tables_of(databases: Databases) -> list[Table]:
    """The tables of one or more databases or tables; CapabilityError for what is neither."""
    asked: Any = (
        databases if isinstance(databases, Iterable) and not isinstance(databases, str) else [databases]
    )
    found = [one.table if isinstance(one, Database) else one for one in asked]
    for one in found:
        if not isinstance(one, Table):
            raise CapabilityError(
                f"databases are what bgfmt.open or bgfmt.load has returned, not {one!r:.60}"
            )
    return found


def check_going_on(position: Position) -> None:
    """PositionError when the game is over."""
    if not position.us.chequers or not position.them.chequers:
        raise PositionError(f"{position}: the game is over, one side has no chequers left")


def check_race(position: Position) -> None:
    """Refuse what no table is about: PositionError when the game is over, NotCoveredError for contact."""
    check_going_on(position)
    if position.contact:
        raise NotCoveredError(f"{position}: {CONTACT}; {WHO_ANSWERS_CONTACT}")


def two_sided_for(
    databases: Databases, position: Position, *, cubeful: bool = False, results: Sequence[Side] | None = None
) -> TwoSided | None:
    """The best two-sided table that covers both sides, or None: cubeful ones first, of them exact numbers first.

    With `results`, sides that a play can lead to, it is these that the table has to cover instead of `position.us`.
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
    """As `two_sided_for`, of cubeful tables that count gammons; where none can be lost Jacoby's rule is nothing."""
    sides = [position.them, *([position.us] if results is None else results)]
    fitting = [
        table
        for table in of_kind(tables_of(databases), GammonTwoSided)
        if table.cubeful and not any(table.covers_side(side) for side in sides)
        if table.jacoby == jacoby or not position.gammons
    ]
    return min(fitting, key=lambda t: not t.exact, default=None)


def one_sided_for(databases: Databases, *sides: Side) -> OfRolls | None:
    """The best one-sided table that covers all of these sides, or None: distributions, means, normal ones."""
    fitting = [table for table in of_rolls(databases) if not any(table.covers_side(side) for side in sides)]
    return min(fitting, key=lambda t: (RANK[t.kind], not t.exact, "gammon" not in t.arrays()), default=None)


def distributions_for(databases: Databases, *sides: Side) -> OneSided | None:
    """The best table of distributions that covers all of these sides, or None."""
    one = one_sided_for(of_kind(tables_of(databases), OneSided), *sides)
    return next(iter(of_kind([] if one is None else [one], OneSided)), None)


def of_rolls(databases: Databases) -> list[OfRolls]:
    """The one-sided tables of a kind that questions are answered from."""
    found = of_kind(tables_of(databases), OfRolls)  # type: ignore[type-abstract]
    return [table for table in found if table.kind in RANK]


def not_covered(databases: Databases, *sides: Side, wanted: str = "") -> NotCoveredError:
    """The error for a question that none of the tables answers, with each table's reason."""
    reasons = []
    for table in tables_of(databases):
        why = next(filter(None, (table.covers_side(side) for side in sides)), None)
        reasons.append(why or f"a {table.kind} table does not say{' ' + wanted if wanted else ''}")
    unique = list(dict.fromkeys(reasons)) or ["no table was given"]
    return NotCoveredError("; ".join(unique))


def first_two_sided(databases: Databases, *, cubeful: bool = False) -> TwoSided:
    """The first two-sided table, an exact one before the others; NotCoveredError where there is none."""
    fitting = [t for t in of_kind(tables_of(databases), TwoSided) if t.cubeful or not cubeful]
    if not fitting:
        raise not_covered(databases, wanted=f"both sides' {'cubeful ' * cubeful}equities")
    return min(fitting, key=lambda t: not t.exact)


def equities_many(databases: Databases, us: Any, them: Any) -> NDArray[Any]:
    """(N, 4) or (N, 1) equities of many positions, counts (N, points), from the first two-sided table given."""
    return first_two_sided(databases).lookup_many(us, them)
