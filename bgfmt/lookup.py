"""Old names of what lives in bgfmt.tables now; to be removed."""

# mypy: implicit-reexport
from typing import Any

from bgfmt.tables import (  # noqa: F401
    EQUITY_COLUMNS,
    HYPER_EQUITIES,
    OUTCOMES,
    Answer,
    Equities,
    Estimate,
    HyperOutcome,
    OneSideAnswer,
    Race,
)
from bgfmt.tables.numbering import CHUNK  # noqa: F401
from bgfmt.tables.scales import PIPS_PER_ROLL, Floats, chances, equities, moments  # noqa: F401
from bgfmt.tables.scales import hyper_values as hyper_numbers  # noqa: F401


def covers(table: Any, side: Any) -> str | None:
    reason: str | None = table.covers_side(side) if hasattr(table, "covers_side") else table.covers(side)
    return reason


def number_of(table: Any, side: Any) -> int:
    return int(table._number_of(side))


def numbers_of(table: Any, sides: Any) -> Any:
    return table.numbers(sides)


def look_up(table: Any, asked: Any) -> Any:
    return table.lookup(asked)


def look_up_many(table: Any, us: Any, them: Any = None, column: str | None = None) -> Any:
    return table.lookup_many(us, them, column=column)


def _equities_of(table: Any, ours: Any, theirs: Any) -> Any:
    return table._many(ours, theirs)
