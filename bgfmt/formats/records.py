"""Typed records that travel with a table: what a file stated besides its numbers.

Each format that has such information defines a frozen `Record`. Other formats carry records without interpreting
them, as facts (flat text, numbers and booleans by name), which the format that owns the record converts back.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

from bgfmt.tables import Table
from bgfmt.tables.registry import entry_points

__all__ = [
    "MORE_RECIPES",
    "AsRead",
    "Fact",
    "Record",
    "as_read",
    "contents",
    "facts_of",
    "known_recipes",
    "lasting",
    "number",
    "table_fields",
    "truth",
    "unknown",
]


Fact = str | int | bool
T = TypeVar("T")
#: recipes that a file may name although no solver implements them
MORE_RECIPES = ("gnubg-2001",)


def known_recipes() -> tuple[str, ...]:
    """Return the names of recipes that a file may state as what its table was computed by.

    Any other name is an error of the file.
    """
    return (*MORE_RECIPES, *entry_points("bgfmt.recipes"))


class Record(ABC):
    """Information besides the numbers that a file of one format had. Subclasses are frozen dataclasses."""

    def rearranged(self) -> Self | None:
        """Return the record for a table that is cut down or loses columns, without what is then no longer true.

        None if nothing of it stays true.
        """
        return self

    @abstractmethod
    def facts(self) -> Mapping[str, Fact]:
        """Return the record as flat facts (text, numbers) by name; no other record uses the same names."""

    @classmethod
    @abstractmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        """Build the record from flat facts, whose values may be text; return None if none of them is of this record.

        Raises ValueError for invalid facts.
        """

    def inconsistency(self, table: Table) -> str | None:
        """Return what is wrong, as text, if no program writes this record with such a table; None if nothing is."""
        return None


@dataclass(frozen=True, eq=False)
class AsRead:
    """The parsed file from which a table was read; valid only while the table holds the very same arrays."""

    arrays: tuple[object, ...]
    file: object


def as_read(table: Table, kind: type[T]) -> T | None:
    """Return the parsed file, an object of class `kind`, from which a table was read.

    None if there is none, or if the table's arrays are no longer the ones read from it.
    """
    now = contents(table)
    for record in table.carried:
        if isinstance(record, AsRead) and isinstance(record.file, kind):
            same = len(now) == len(record.arrays)
            if same and all(a is b for a, b in zip(now, record.arrays, strict=True)):
                return record.file
    return None


def contents(table: Table) -> tuple[object, ...]:
    """Return the arrays of a table, or its J nouns; by their identity `AsRead` tells whether a table was changed."""
    nouns = getattr(table, "nouns", None)
    return (nouns,) if nouns is not None else tuple(table.arrays().values())


def lasting(table: Table) -> tuple[object, ...]:
    """Return the records in `carried` that stay true of a copy in memory: all except the parsed file."""
    return tuple(record for record in table.carried if not isinstance(record, AsRead))


def _own_fields(kind: type[Table]) -> dict[str, Any]:
    """Return the fields besides arrays that only this kind of table has (as a gammon policy), with their defaults."""
    shared = {f.name for f in fields(Table)}
    return {f.name: f.default for f in fields(kind) if f.name not in shared and isinstance(f.default, Fact)}


def facts_of(table: Table) -> dict[str, Fact]:
    """Return all that a table states besides its numbers, as flat facts (text, numbers) by name, sorted."""
    own = _own_fields(type(table))
    out = {name: getattr(table, name) for name, default in own.items() if getattr(table, name) != default}
    out |= table.metadata()
    if table.recipe:
        out["recipe"] = table.recipe
    for record in table.carried:
        if isinstance(record, Record):
            out |= record.facts()
    return dict(sorted(out.items()))


def truth(value: object) -> bool:
    """Return a bool given as itself or as text "0" or "1"; raises ValueError for anything else."""
    if isinstance(value, bool):
        return value
    if value in ("0", "1"):
        return value == "1"
    raise ValueError(f"expected yes or no, found {value!r}")


def number(value: object) -> int:
    """Return an int given as itself or as at most 9 decimal digits; raises ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    raise ValueError(f"expected a whole number, found {value!r}")


def table_fields(facts: Mapping[str, Any], kind: type[Table]) -> dict[str, Any]:
    """Return the constructor fields (recipe and the like) of a table of class `kind` that are among the facts.

    Raises ValueError if a fact has another type than the field, or is not a plain name.
    """
    own = _own_fields(kind) | {"recipe": ""}
    out = {name: facts[name] for name in own if name in facts}
    for name, value in out.items():
        if type(value) is not type(own[name]):
            raise ValueError(f"{name}: {value!r:.40}")
        if isinstance(value, str) and not re.fullmatch(r"[a-z0-9-]{1,40}", value):
            raise ValueError(f"{name}: expected a plain name, found {value!r:.60}")
    return out | kind.parse_metadata(facts)


def unknown(table: Table) -> Iterator[str]:
    """Yield, as text, each statement of a table (recipe, metadata) that no program known to bgfmt writes."""
    policy = getattr(table, "gammon_policy", "")
    if policy not in ("", "race"):
        yield f"the gammon policy {policy!r}, which bgfmt does not know"
    if table.recipe and table.recipe not in known_recipes():
        yield f"the recipe {table.recipe!r}, which bgfmt does not know"
    for record in table.carried:
        text = record.inconsistency(table) if isinstance(record, Record) else None
        if text:
            yield text
