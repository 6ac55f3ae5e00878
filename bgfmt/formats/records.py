"""What a file said beyond its numbers: typed records that travel with a table.

Each format that has something to say defines a frozen `Record`. Other formats carry records without looking into
them: as facts (flat text, numbers and truth values by name), which the format that owns the record turns back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from bgfmt.tables import OneSided, Table

Fact = str | int | bool
T = TypeVar("T")
#: recipes that a file may name; a name that is none of these is an error of the file
RECIPES = ("gnubg", "bgsage", "exact", "gnubg-2001")


class Record:
    """What a file of one format said beyond its numbers. Subclasses are frozen dataclasses."""

    def fits(self, table: Table) -> bool:
        """Whether it still holds of a table that was changed since (cut down, columns dropped)."""
        return True

    def facts(self) -> Mapping[str, Fact]:
        """It as flat facts, whose names no other record uses."""
        raise NotImplementedError

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        """It from facts, given as themselves or as text; None when they say nothing of it.

        Raises ValueError for facts that make no sense.
        """
        raise NotImplementedError

    def odd(self) -> str | None:
        """What in it no program writes, in words; None when it is as written."""
        return None


@dataclass(frozen=True, eq=False)
class AsRead:
    """The parsed file a table was read from. It stands for the table only while that holds the very same arrays."""

    arrays: tuple[object, ...]
    file: object

    kind: ClassVar[str] = "as read"


def as_read(table: Table, kind: type[T]) -> T | None:
    """The parsed file behind a table whose arrays are still those that were read from it."""
    now = contents(table)
    for record in table.records:
        if isinstance(record, AsRead) and isinstance(record.file, kind):
            same = len(now) == len(record.arrays)
            if same and all(a is b for a, b in zip(now, record.arrays, strict=True)):
                return record.file
    return None


def contents(table: Table) -> tuple[object, ...]:
    """What a table holds, as `AsRead` compares it."""
    nouns = getattr(table, "nouns", None)
    return (nouns,) if nouns is not None else tuple(table.arrays().values())


def lasting(table: Table) -> tuple[object, ...]:
    """The records that stay true of a copy in memory: all but the parsed file."""
    return tuple(record for record in table.records if not isinstance(record, AsRead))


def facts_of(table: Table) -> dict[str, Fact]:
    """All that a table says beyond its numbers, as flat facts, for formats that carry them along."""
    out: dict[str, Fact] = {}
    if isinstance(table, OneSided) and table.gammon_policy:
        out["gammon_policy"] = table.gammon_policy
    if table.recipe:
        out["recipe"] = table.recipe
    for record in table.records:
        if isinstance(record, Record) and record.fits(table):
            out |= record.facts()
    return out


def records_from(facts: Mapping[str, Any], kinds: Iterator[type[Record]]) -> tuple[Record, ...]:
    """The records that facts describe. ValueError for facts that make no sense."""
    found = (kind.from_facts(facts) for kind in kinds)
    return tuple(record for record in found if record is not None)


def truth(said: object) -> bool:
    """A truth value given as itself or as text 0 or 1."""
    if isinstance(said, bool):
        return said
    if said in ("0", "1"):
        return said == "1"
    raise ValueError(f"expected yes or no, found {said!r}")


def number(said: object) -> int:
    """A whole number given as itself or as its decimal digits."""
    if isinstance(said, int) and not isinstance(said, bool):
        return said
    if isinstance(said, str) and said.isascii() and said.isdigit() and len(said) < 10:
        return int(said)
    raise ValueError(f"expected a whole number, found {said!r}")
