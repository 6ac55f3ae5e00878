"""bgfmt-ts: two-sided tables of 16-bit integers, compressed without loss, with random access."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bgfmt import formats
from bgfmt.errors import CorruptError
from bgfmt.formats import records
from bgfmt.formats.base import Extent, Fault, Format, Head, Option, Options, Outlet, Reading
from bgfmt.formats.compressed.halves import Halves
from bgfmt.formats.compressed.layout import LEVELS, MAGIC, MOST_FACTS, MOST_POINTS, read_directory, read_shape
from bgfmt.formats.compressed.reading import Packed
from bgfmt.formats.compressed.rows import PackedRows
from bgfmt.formats.records import AsRead, as_read
from bgfmt.storage import Source
from bgfmt.tables import TwoSided

STEP = 8 << 20


class BgfmtTwoSided(Format[TwoSided]):
    name = "bgfmt-ts"
    title = "bgfmt two-sided, compressed"
    suffixes = (".bgts",)
    carries = (TwoSided,)
    by_range = True
    options = (
        Option("level", int, "2 leaves out what one ply of gnubg's recipe rebuilds: 1 (every record) or 2"),
    )

    # -- reading ----------------------------------------------------------------------------------------

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(MAGIC)

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[TwoSided]:
        shape = read_shape(source, offset)
        directory = read_directory(source, offset, shape)
        at = offset + shape.facts_at
        try:
            said = json.loads(directory.facts) if directory.facts else {}
            if not isinstance(said, dict):
                raise ValueError("no object")
            carried, fields = formats.carried(said), records.stated(said, TwoSided)
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise CorruptError(source.name, at, "facts as bgfmt writes them", reason) from None
        packed = (Halves if shape.level == 2 else Packed)(source, offset, shape, directory)
        equities = PackedRows(packed)
        table = TwoSided(
            points=shape.points,
            chequers=shape.chequers,
            equities=equities,
            provenance=source.name,
            carried=(*carried, AsRead((equities,), packed)),
            release=source.release,
            **fields,
        )
        return Reading(table, Extent(offset, shape.size))

    def info(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        plain = reading.table.nbytes
        share = 8 * reading.extent.size / reading.table.entries
        packed = as_read(reading.table, Packed)
        level = packed.shape.level if packed is not None else 1
        return {"compressed": True, "level": level, "unpacked": plain, "bits_a_record": round(share, 2)}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: TwoSided, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 equities; npz holds those"
        from bgfmt.formats.compressed.encode import facts_of

        if options.get("level", 1) not in LEVELS:
            return f"{self.name} has levels 1 and 2, not {options['level']}"
        if options.get("level") == 2 and table.points > MOST_POINTS:
            return f"level 2 of {self.name} holds tables of at most {MOST_POINTS} points, where sides have passed"
        if len(facts_of(table)) > MOST_FACTS:
            return f"{self.name} holds at most {MOST_FACTS} bytes of facts"
        return table.check()

    def emit(self, table: TwoSided, sink: Outlet, options: Options) -> None:
        packed = as_read(table, Packed)
        level = options.get("level", 1 if packed is None else packed.shape.level)
        if packed is not None and packed.shape.level == level:
            sink.expect(packed.shape.size)
            _copy(packed, sink)
        else:
            from bgfmt.formats.compressed import encode

            encode.write(table, sink, level)

    # -- every byte -------------------------------------------------------------------------------------

    def audit(self, source: Source, table: TwoSided, extent: Extent) -> Iterator[Fault]:
        """Every checksum of the file, none of which leaves a byte out; and facts that no program writes."""
        packed = as_read(table, Packed)
        if packed is None:
            packed = as_read(self.read(source, extent.offset).table, Packed)
        assert packed is not None
        packed.unsound()
        for said in records.unknown(table):
            at = extent.offset + packed.shape.facts_at
            yield Fault(at, packed.shape.facts, "facts", "what a program writes", said)


def _copy(packed: Packed, sink: Outlet) -> None:
    """The bytes as they are, once every checksum is right. What is far away is fetched once for both."""
    source = packed.source.local()
    try:
        type(packed)(source, packed.offset, packed.shape, packed.directory).unsound()
        end = packed.offset + packed.shape.size
        for start in range(packed.offset, end, STEP):
            sink.write(source.bytes(start, min(STEP, end - start)))
    finally:
        if source is not packed.source:
            source.close()
