"""bgfmt-ts: two-sided tables of 16-bit integers, compressed without loss, with random access to single records.

The file consists of blocks, each with a checksum; whatever is read is checked first. The algorithm and the byte map
are in docs/formats/bgfmt-ts.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from construct import Struct

from bgfmt import formats, jit
from bgfmt.errors import CorruptError, require
from bgfmt.extras.compressed import canonical, layout, writer
from bgfmt.extras.compressed.reader import PackedRows, Reader
from bgfmt.extras.compressed.writer import facts_of
from bgfmt.formats import records
from bgfmt.formats.base import Extent, Fault, Format, Options, Outlet, Reading
from bgfmt.formats.described import INVALID_FACTS_ERRORS, one_line
from bgfmt.formats.records import AsRead, as_read
from bgfmt.storage import Source
from bgfmt.tables import GammonTwoSided, JacobyTwoSided, TwoSided
from bgfmt.tables.two_sided import StoredEquities

__all__ = ["BgfmtTwoSided"]

VERSIONS: dict[type[StoredEquities], int] = {
    TwoSided: layout.VERSION,
    GammonTwoSided: layout.GAMMONS,
    JacobyTwoSided: layout.JACOBY,
}
STEP = 8 << 20  # bytes copied at once


class BgfmtTwoSided(Format[StoredEquities]):
    name = "bgfmt-ts"
    title = "bgfmt two-sided, compressed"
    suffixes = (".bgts",)
    magic = layout.MAGIC
    carries = tuple(VERSIONS)
    structures: ClassVar[Mapping[str, Struct]] = {
        "table": layout.TABLE,
        "class": layout.CLASS,
        "head": layout.STRIP_HEAD,
        "column": layout.COLUMN,
        "index": layout.INDEX,
    }
    by_range = True

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[StoredEquities]:
        shape = layout.read_shape(source, offset)
        kind = next(kind for kind, version in VERSIONS.items() if version == shape.version)
        directory = layout.read_directory(source, offset, shape)
        at = offset + shape.parts["facts"].offset
        try:
            facts = json.loads(directory.facts) if directory.facts else {}
            fields = formats.fields_of(facts, kind)
        except INVALID_FACTS_ERRORS as error:
            raise CorruptError(source.name, at, "facts as bgfmt writes them", one_line(error)) from None
        reader = Reader(source, offset, shape, directory)
        equities = PackedRows(reader)
        fields["carried"] += (AsRead((equities,), reader),)
        sizes = shape.size, shape.points, shape.chequers
        return Reading.of(kind, source, offset, *sizes, equities=equities, **fields)

    def info(self, reading: Reading[StoredEquities]) -> dict[str, Any]:
        share = 8 * reading.extent.size / reading.table.entries
        facts = {"compressed": True, "level": layout.VERSION, "unpacked": reading.table.nbytes}
        return facts | {"bits_a_record": round(share, 2)}

    def refusal(self, table: StoredEquities, options: Options) -> str | None:
        if table.exact:
            return f"{self.name} holds 16-bit integers, not exact float64 equities; npz holds those"
        if len(facts_of(table)) > layout.MAX_FACTS_BYTES:
            return f"{self.name} holds at most {layout.MAX_FACTS_BYTES} bytes of facts"
        return table.check()

    def check(self, table: StoredEquities, options: Options) -> None:
        """Raise the errors of every format for a table that this one cannot store.

        MissingExtraError if a package that compression needs is not installed.
        """
        super().check(table, options)
        if as_read(table, Reader) is None:
            require("compressing a table", ("threadpoolctl", "large"), *jit.modules())

    def emit(self, table: StoredEquities, sink: Outlet, options: Options) -> None:
        reader = as_read(table, Reader)
        if reader is not None:
            sink.expect(reader.shape.size)
            _copy(reader, sink)
        else:
            writer.write(table, VERSIONS[type(table)], sink)

    def audit(self, source: Source, table: StoredEquities, extent: Extent) -> Iterator[Fault]:
        """Check the file's checksums, its facts (recipe and the like), and its encoding against that of the writer.

        Yields a `Fault` for each unknown fact and for each part that bgfmt's writer encodes otherwise; CorruptError
        is raised for a wrong checksum.
        """
        reader = as_read(table, Reader) or as_read(self.read(source, extent.offset).table, Reader)
        assert reader is not None
        reader.check_all()
        for fact in records.unknown(table):
            at = extent.offset + reader.shape.parts["facts"].offset
            yield Fault(at, reader.shape.facts_bytes, "facts", "what a program writes", fact)
        yield from canonical.find_differences(reader, table)


def _copy(reader: Reader, sink: Outlet) -> None:
    """Copy the file's bytes after verifying all checksums. A remote file is downloaded once for both."""
    source = reader.source.local()
    try:
        Reader(source, reader.offset, reader.shape, reader.directory).check_all()
        end = reader.offset + reader.shape.size
        for start in range(reader.offset, end, STEP):
            sink.write(source.bytes(start, min(STEP, end - start)))
    finally:
        if source is not reader.source:
            source.close()
