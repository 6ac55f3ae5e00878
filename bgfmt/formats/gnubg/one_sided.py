"""GNU Backgammon one-sided database, exact distributions.

offset  size        meaning                                               source
0       40          header `gnubg-OS-PP-15-G-K-0`, see family             files of makebearoff 1.07

uncompressed (K = 0)
40      128*n, 64*n n records: 32 uint16 of the bearoff distribution and, where G = 1, 32 of the gammon one

compressed (K = 1)
40      8*n, 6*n    index, see compressed
...     ...         the values it points at, uint16
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats.base import ROLLS, Layout, Option, Options, Outlet, Reading, Region, RollsFormat, Salvage
from bgfmt.formats.gnubg.compressed import CompressedRows, decode_damaged, index_ends, spans_of
from bgfmt.formats.gnubg.family import (
    FEW,
    HEADER_OPTION,
    SIZE,
    SIZED,
    GnubgFormat,
    GnubgHeader,
    GnubgRows,
    HeaderFacts,
    fits_distributions,
)
from bgfmt.formats.records import AsRead, as_read
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import OneSided, Rows, Table


class GnubgOneSided(RollsFormat, GnubgFormat[OneSided]):
    kind = "OS"
    array = "bearoff"
    name = "gnubg-os"
    title = "GNU Backgammon one-sided"
    carries = (OneSided,)
    records = (GnubgHeader, GnubgRows)
    headerless: ClassVar[Mapping[str, type]] = {**SIZED, "gammon": bool, "compressed": bool}
    defaults: ClassVar[Mapping[str, Any]] = {"chequers": 15, "gammon": True, "compressed": True}
    options = (
        HEADER_OPTION,
        Option("compressed", bool, "leave out leading and trailing zeros"),
        Option("gammon", bool, "write the gammon distributions"),
    )

    # -- reading ----------------------------------------------------------------------------------------

    def fits(self, source: Source, facts: HeaderFacts) -> bool:
        n, parts = board.count(facts.points, 15), 1 + facts.gammon
        if not facts.compressed:
            same = facts.size == source.size
            return same and fits_distributions(source.array("<u2", (n, parts, ROLLS), 0), facts.points)
        first = bytes(4) + b"\x01\x00" * parts
        if source.size <= n * len(first) or source.bytes(0, len(first)) != first:
            return False
        try:
            rows = CompressedRows(source, 0, n, entry=len(first), gammon=facts.gammon)
            few = rows.block(0, min(n, FEW)).reshape(-1, parts, ROLLS)
            return rows.size == source.size and fits_distributions(few, facts.points)
        except (CorruptError, ValueError):
            return False

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[OneSided]:
        facts, raw = self.opening(source, offset, described)
        n, gammon, start = board.count(facts.points, facts.chequers), facts.gammon, offset + len(raw)
        packed = None
        if facts.compressed:
            # position 1's values always begin at 1; only one of the two entry sizes finds that number there
            old = source.size >= start + 12 and _old(source.bytes(start, 12), n)
            packed = CompressedRows(source, start, n, entry=8 if gammon or old else 6, gammon=gammon)
        what = f"{facts.title} table"
        rows: Rows = packed.rows() if packed else source.array("<u2", facts.shape, start, what)
        arrays = tuple(rows[:, k : k + ROLLS] for k in range(0, rows.shape[1], ROLLS))
        fields: dict[str, Any] = dict(zip(("bearoff", "gammon"), arrays, strict=False))
        carried = GnubgHeader(raw), GnubgRows(facts.compressed, packed.entry if packed else 0)
        fields["carried"] = (*carried, AsRead(arrays, packed)) if packed else carried
        size = len(raw) + (packed.size if packed else facts.size or 0)
        return Reading.of(OneSided, source, offset, size, facts.points, facts.chequers, **fields)

    def info(self, reading: Reading[OneSided]) -> dict[str, Any]:
        return {"compressed": _compressed(reading.table, {})} | super().info(reading)

    def host_facts(self, reading: Reading[OneSided]) -> dict[str, Any]:
        table, facts = reading.table, super().host_facts(reading)
        notes, reads = facts["notes"], facts["gnubg_reads"]
        if table.gammon is None and _entry(table, False) == 8 and _compressed(table, {}):
            notes.append("8-byte index entries, as written before March 2009; gnubg 1.07 misreads them")
            reads = False
        if table.gammon is None and table.points != 6:
            notes.append("gnubg's gammon chances are wrong with a gammonless file of other than 6 points")
        name = "gnubg_os0.bd" if table.points == 6 else "gnubg_os.bd"
        return {"gnubg_name": name, "gnubg_reads": reads, "notes": notes}

    # -- writing ----------------------------------------------------------------------------------------

    def losses(self, table: OneSided, options: Options) -> list[str]:
        if self.gammon(table, options) and table.gammon_policy == "race":
            other = "the gammon part follows the race's plays, not the plays that save the gammon"
            return [f"{other}, and a gnubg file cannot say so"]
        return super().losses(table, options)

    def home_of(self, table: OneSided) -> bool:
        return not table.exact and table.gammon_policy != "race"

    def emit(self, table: OneSided, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        gammon = self.gammon(table, options)
        if not _compressed(table, options):
            for _, block in table.blocks():
                sink.write(_joined(block, gammon))
            return
        entry = _entry(table, gammon)
        index_at = sink.written
        sink.skip(table.positions * entry)
        start = 0  # values are counted in uint16, from the end of the index
        for rows, block in table.blocks():
            joined = _joined(block, gammon)
            index, stored, start = spans_of(joined, start, entry)
            done = rows.stop / table.positions
            sink.expect(index_at + table.positions * entry + 2 * start / done)
            sink.write_at(index_at + rows.start * entry, index)
            sink.write(joined[stored])

    # -- every byte -------------------------------------------------------------------------------------

    def facts_of(self, table: OneSided, options: Options) -> HeaderFacts:
        gammon, compressed = self.gammon(table, options), _compressed(table, options)
        return HeaderFacts("OS", table.points, table.chequers, gammon, compressed)

    def first_item(self, column: str) -> int:
        return ROLLS if column == "gammon" else 0

    def layout(self, table: OneSided, **options: Any) -> Layout:
        packed = as_read(table, CompressedRows)
        if packed is None or not _compressed(table, options) or options.get("gammon") is False:
            return super().layout(table, **options)
        header = self.header_of(table, options)
        head, index = len(header), len(packed.index) * packed.entry

        def place(entry: int, column: str, item: int) -> int:
            return head + packed.place(entry, column == "gammon", item)

        body = Region("index", head, index), Region("values", head + index, packed.size - index)
        return Layout(header, (*self.header_regions(header), *body), place)

    def arrays_in(self, room: NDArray[Any], table: OneSided, options: Options) -> dict[str, NDArray[Any]]:
        rows = room.view("<u2").reshape(table.positions, -1)
        parts = {"bearoff": rows[:, :ROLLS], "gammon": rows[:, ROLLS:]}
        return {name: part for name, part in parts.items() if part.shape[1]}

    # -- damaged files ----------------------------------------------------------------------------------

    def every(self) -> Iterator[HeaderFacts]:
        for points, gammon, compressed in product(range(1, 19), (True, False), (True, False)):
            yield HeaderFacts("OS", points, 15, gammon, compressed)

    def in_words(self, facts: HeaderFacts) -> str:
        packed = " compressed" if facts.compressed else ""
        return f"{facts.points} points {'with' if facts.gammon else 'without'} gammons{packed}"

    def fitting(self, source: Source) -> list[str]:
        body, fits = source.buffer[SIZE:], super().fitting(source)
        for facts in self.every():
            n, entry = board.count(facts.points, 15), 8 if facts.gammon else 6
            if facts.compressed and index_ends(body, n, entry, facts.gammon) == len(body):
                fits.append(self.in_words(facts))
        return fits

    def from_body(self, facts: HeaderFacts, body: bytes, name: str) -> Salvage | None:
        if not facts.compressed:
            return super().from_body(facts, body, name)
        n = board.count(facts.points, facts.chequers)
        if n * 6 > 2 * len(body) + 64:
            return None
        entry = 8 if facts.gammon or _old(body[:12], n) else 6
        rows = decode_damaged(body, n, entry, facts.gammon)
        fields: dict[str, Any] = {"bearoff": rows[:, 0], "gammon": rows[:, 1] if facts.gammon else None}
        fields["carried"] = GnubgHeader(facts.canonical), GnubgRows(True, entry)
        table = OneSided(points=facts.points, chequers=facts.chequers, provenance=name, **fields)
        return Salvage(table, 1.0)


def _old(start: bytes, n: int) -> bool:
    """Whether an index without gammon data has entries of 8 bytes, by where position 1's values begin."""
    second = int.from_bytes(start[6:10], "little"), int.from_bytes(start[8:12], "little")
    return n > 1 and len(start) == 12 and second[0] != 1 and second[1] == 1


def _compressed(table: Table, options: Options) -> bool:
    """Whether to write the compressed layout: as asked, as the table's own file has it, else yes."""
    choice, rows = options.get("compressed"), table.record(GnubgRows)
    if choice is not None:
        return bool(choice)
    return rows is None or rows.compressed


def _entry(table: OneSided, gammon: bool) -> int:
    """Bytes of an index entry: those of the table's own file where it is as old as that."""
    rows = table.record(GnubgRows)
    old = not gammon and table.gammon is None and rows is not None and rows.entry == 8
    return 8 if gammon or old else 6


def _joined(block: Mapping[str, NDArray[Any]], gammon: bool) -> NDArray[np.uint16]:
    """Bearoff and gammon rows side by side, (m, 64) or (m, 32); without a copy where they lie so already."""
    bearoff = block["bearoff"]
    if not gammon:
        return np.ascontiguousarray(bearoff.astype("<u2", copy=False))
    second = block["gammon"]
    address, beside = bearoff.__array_interface__["data"][0], second.__array_interface__["data"][0]
    if bearoff.strides == second.strides == (4 * ROLLS, 2) and beside - address == 2 * ROLLS:
        return np.lib.stride_tricks.as_strided(bearoff, (len(bearoff), 2 * ROLLS), writeable=False)
    return np.concatenate([bearoff, second], axis=1, dtype=np.dtype("<u2"))
