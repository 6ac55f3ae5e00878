"""What a format promises: recognise, read, describe and write one kind of file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bgfmt.errors import CapabilityError
from bgfmt.storage import Sink, Source
from bgfmt.tables import Table

HEAD_BYTES = 512


@dataclass(frozen=True)
class Head:
    """What every format is shown to say whether a file is its own: name, size and first bytes."""

    name: str
    size: int
    bytes: bytes


@dataclass(frozen=True)
class Option:
    """A choice a format offers when writing: its name, kind (bool or int or str) and what it does."""

    name: str
    kind: type
    help: str


@dataclass(frozen=True)
class Extent:
    """Where a table lies in its file: first byte and number of bytes it takes, its own header included."""

    offset: int
    size: int


class Format:
    """One file format. A subclass is one module, one entry point, one page in docs/formats."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    carries: ClassVar[tuple[type[Table], ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    #: how a file without header must be described, for example {"points": int}; empty when there is no such file
    headerless: ClassVar[Mapping[str, type]] = {}

    def recognise(self, head: Head) -> bool:
        """Whether these first bytes are this format's."""
        raise NotImplementedError

    def guess(self, source: Source) -> list[dict[str, Any]]:
        """Descriptions (as `headerless` names them) that a file without header fits by size and content."""
        return []

    def read(self, source: Source, offset: int = 0, **described: Any) -> Table:
        """The table at `offset`, over the source's own bytes; `described` replaces a missing header.

        Must put `Extent` under "extent" into the table's `extra`.
        """
        raise NotImplementedError

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        """Write the table. Options left out follow the table's own file where it is of this format."""
        raise NotImplementedError

    def info(self, table: Table) -> dict[str, Any]:
        """Facts of this format beyond kind, points and chequers, for `bgfmt info`."""
        return {}

    def losses(self, table: Table, options: Mapping[str, Any]) -> list[str]:
        """One line for each thing that writing this table with these options would lose."""
        return []

    def accept(self, table: Table) -> None:
        """CapabilityError unless this format can hold this kind of table."""
        if not isinstance(table, self.carries):
            kinds = ", ".join(kind.kind for kind in self.carries)
            raise CapabilityError(f"{self.name} holds {kinds} tables, not {table.kind}")

    def check_options(self, options: Mapping[str, Any]) -> None:
        """CapabilityError for an option this format does not have."""
        known = {option.name for option in self.options}
        for name in options:
            if name not in known:
                offered = ", ".join(sorted(known)) or "none"
                raise CapabilityError(f"{self.name} has no option {name!r} (it has: {offered})")


@dataclass(frozen=True)
class Broken:
    """A registered format that failed to load, and why."""

    name: str
    reason: str = field(default="")
