"""What a file said beyond its numbers: typed records that travel with a table.

Each format that has something to say defines a frozen `Record`. Other formats carry records without looking into
them: as facts (flat text, numbers and truth values by name), which the format that owns the record turns back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

from bgfmt.tables import Table
from bgfmt.tables.registry import doors

Fact = str | int | bool
T = TypeVar("T")
#: recipes that a file may name though no solver follows them
MORE_RECIPES = ("gnubg-2001",)


def known_recipes() -> tuple[str, ...]:
    """Return the names of recipes that a file may state; any other name is an error of the file."""
    return (*MORE_RECIPES, *doors("bgfmt.recipes"))


class Record:
    """What a file of one format said beyond its numbers. Subclasses are frozen dataclasses."""

    def rearranged(self) -> Self | None:
        """The part of it that stays true when a table is cut down or loses columns."""
        return self

    def facts(self) -> Mapping[str, Fact]:
        """It as flat facts, whose names no other record uses."""
        raise NotImplementedError

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        """It from facts, given as themselves or as text; None when they say nothing of it.

        Raises ValueError for facts that make no sense.
        """
        raise NotImplementedError

    def odd(self, table: Table) -> str | None:
        """What in it no program writes with such a table, in words; None when it is as written."""
        return None


@dataclass(frozen=True, eq=False)
class AsRead:
    """The parsed file a table was read from. It stands for the table only while that holds the very same arrays."""

    arrays: tuple[object, ...]
    file: object


def as_read(table: Table, kind: type[T]) -> T | None:
    """The parsed file behind a table whose arrays are still those that were read from it."""
    now = contents(table)
    for record in table.carried:
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
    return tuple(record for record in table.carried if not isinstance(record, AsRead))


def _own_fields(kind: type[Table]) -> dict[str, Any]:
    """What a kind of table says of itself beside its numbers (as a gammon policy), with the defaults."""
    shared = {f.name for f in fields(Table)}
    return {f.name: f.default for f in fields(kind) if f.name not in shared and isinstance(f.default, Fact)}


def facts_of(table: Table) -> dict[str, Fact]:
    """All that a table says beyond its numbers, as flat facts, for formats that carry them along."""
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
    """A truth value given as itself or as text 0 or 1."""
    if isinstance(value, bool):
        return value
    if value in ("0", "1"):
        return value == "1"
    raise ValueError(f"expected yes or no, found {value!r}")


def number(value: object) -> int:
    """A whole number given as itself or as its decimal digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    raise ValueError(f"expected a whole number, found {value!r}")


def stated(facts: Mapping[str, Any], kind: type[Table]) -> dict[str, Any]:
    """Recipe and the like, as fields of a table; ValueError where a fact is of another kind than the field."""
    own = _own_fields(kind) | {"recipe": ""}
    out = {name: facts[name] for name in own if name in facts}
    for name, value in out.items():
        if type(value) is not type(own[name]):
            raise ValueError(f"{name}: {value!r:.40}")
        if isinstance(value, str) and not re.fullmatch(r"[a-z0-9-]{1,40}", value):
            raise ValueError(f"{name}: expected a plain name, found {value!r:.60}")
    return out | kind.parse_metadata(facts)


def unknown(table: Table) -> Iterator[str]:
    """What a table says beyond its numbers that no program of ours writes, in words."""
    policy = getattr(table, "gammon_policy", "")
    if policy not in ("", "race"):
        yield f"the gammon policy {policy!r}, which is none that bgfmt knows"
    if table.recipe and table.recipe not in known_recipes():
        yield f"the recipe {table.recipe!r}, which is none that bgfmt knows"
    for record in table.carried:
        text = record.odd(table) if isinstance(record, Record) else None
        if text:
            yield text
