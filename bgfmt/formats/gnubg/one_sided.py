"""GNU Backgammon one-sided databases, exact distributions and normal ones.

Rows are stored as they are, or compressed: an index, and behind it the values of each distribution from the first to
the last that is not zero. An index entry has 8 bytes with gammon distributions and 6 without. Gammonless files made
before March 2009 have 8-byte entries as well, the last two bytes zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from construct import Array, Int8ul, Int16ul, Int32ul, Struct, this
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, TruncatedError
from bgfmt.formats.base import ROLLS, Layout, Option, Options, Outlet, Reading, Region, RollsFormat
from bgfmt.formats.gnubg import family
from bgfmt.formats.gnubg.family import GnubgFormat, GnubgHeader, HeaderFacts, number_dtype
from bgfmt.formats.records import AsRead, Fact, Record, as_read, number, truth
from bgfmt.formats.structures import dtype_of
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import LazyRows, NormalOneSided, OneSided, Rows, Table

SHORT_ENTRY = Struct(
    "start" / Int32ul * "first value, counted in u16 from the end of the index",
    "count" / Int8ul * "number of stored bearoff values",
    "first" / Int8ul * "roll of the first stored bearoff value",
)
ENTRY = Struct(
    *SHORT_ENTRY.subcons,
    "gammon_count" / Int8ul * "number of stored gammon values",
    "gammon_first" / Int8ul * "roll of the first stored gammon value",
)
COMPRESSED = Struct(
    "header" / family.ONE_SIDED,
    "index" / Array(this.positions, ENTRY),
    "values" / Array(this.values, Int16ul) * "the distributions without their leading and trailing zeros",
)
#: dtypes of index entries by their size in bytes
INDEX_DTYPES: dict[int, np.dtype[Any]] = {
    struct.sizeof(): dtype_of(struct) for struct in (SHORT_ENTRY, ENTRY)
}
SHORT, LONG = INDEX_DTYPES
PROBE = LONG + ENTRY.start.sizeof()  # bytes of an index that show the size of its entries
VALUE = number_dtype("OS")


@dataclass(frozen=True)
class GnubgRows(Record):
    """How a one-sided file stores its rows: compressed or not, and the size of an index entry in bytes."""

    compressed: bool
    entry: int = 0

    def facts(self) -> Mapping[str, Fact]:
        return {"compressed": self.compressed} | ({"entry": self.entry} if self.entry else {})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        if "compressed" not in facts:
            return None
        entry = number(facts.get("entry", 0))
        if entry not in (0, *INDEX_DTYPES):
            raise ValueError(f"entry: expected 6 or 8 bytes, found {entry}")
        return cls(truth(facts["compressed"]), entry)


class GnubgOneSided(RollsFormat, GnubgFormat[OneSided]):
    kind = "OS"
    array = "bearoff"
    dtype = VALUE
    structures: ClassVar[Mapping[str, Struct]] = {
        "header": family.ONE_SIDED,
        "file": family.FILES["OS"],
        "compressed": COMPRESSED,
        "entry": ENTRY,
    }
    name = "gnubg-os"
    title = "GNU Backgammon one-sided"
    carries = (OneSided,)
    records = (GnubgHeader, GnubgRows)
    headerless: ClassVar[Mapping[str, type]] = {**family.SIZED, "gammon": bool, "compressed": bool}
    defaults: ClassVar[Mapping[str, Any]] = {"chequers": 15, "gammon": True, "compressed": True}
    options = (
        family.HEADER_OPTION,
        Option("compressed", bool, "omit leading and trailing zeros"),
        Option("gammon", bool, "write the gammon distributions"),
    )

    # -- reading ----------------------------------------------------------------------------------------

    def matches(self, source: Source, facts: HeaderFacts) -> bool:
        n = board.count(facts.points, 15)
        parts = 1 + facts.gammon
        if not facts.compressed:
            same = facts.size == source.size
            return same and family.fits_distributions(source.array(VALUE, (n, parts, ROLLS), 0), facts.points)
        struct = ENTRY if facts.gammon else SHORT_ENTRY
        first = struct.build({"start": 0, "count": 1, "first": 0, "gammon_count": 1, "gammon_first": 0})
        if source.size <= n * len(first) or source.bytes(0, len(first)) != first:
            return False
        try:
            rows = CompressedRows(source, 0, n, entry=len(first), gammon=facts.gammon)
            few = rows.block(0, min(n, family.COMPARED_SIDES)).reshape(-1, parts, ROLLS)
            return rows.size == source.size and family.fits_distributions(few, facts.points)
        except (CorruptError, ValueError):
            return False

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[OneSided]:
        facts, raw = self.read_opening(source, offset, described)
        n = board.count(facts.points, facts.chequers)
        gammon = facts.gammon
        start = offset + len(raw)
        packed = None
        if facts.compressed:
            # position 1's values always begin at 1; only one of the two entry sizes finds that number there
            old = source.size >= start + PROBE and _has_long_entries(source.bytes(start, PROBE), n)
            packed = CompressedRows(source, start, n, entry=LONG if gammon or old else SHORT, gammon=gammon)
        what = f"{facts.title} table"
        rows: Rows = packed.rows() if packed else source.array(VALUE, facts.shape, start, what)
        arrays = tuple(rows[:, k : k + ROLLS] for k in range(0, rows.shape[1], ROLLS))
        fields: dict[str, Any] = dict(zip(("bearoff", "gammon"), arrays, strict=False))
        carried = GnubgHeader(raw), GnubgRows(facts.compressed, packed.entry if packed else 0)
        fields["carried"] = (*carried, AsRead(arrays, packed)) if packed else carried
        size = len(raw) + (packed.size if packed else facts.size or 0)
        return Reading.of(OneSided, source, offset, size, facts.points, facts.chequers, **fields)

    def info(self, reading: Reading[OneSided]) -> dict[str, Any]:
        return {"compressed": _is_compressed(reading.table, {})} | super().info(reading)

    def host_facts(self, reading: Reading[OneSided]) -> dict[str, Any]:
        table = reading.table
        facts = super().host_facts(reading)
        notes = facts["notes"]
        reads = facts["gnubg_reads"]
        if table.gammon is None and _entry_size(table, False) == LONG and _is_compressed(table, {}):
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
            return [f"{other}, which a gnubg file cannot state"]
        return super().losses(table, options)

    def is_default_for(self, table: OneSided) -> bool:
        return not table.exact and table.gammon_policy != "race"

    def emit(self, table: OneSided, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        gammon = self.gammon(table, options)
        if not _is_compressed(table, options):
            for _, block in table.blocks():
                sink.write(_join_rows(block, gammon))
            return
        entry = _entry_size(table, gammon)
        index_at = sink.position
        sink.skip(table.positions * entry)
        start = 0  # values are counted in uint16, from the end of the index
        for rows, block in table.blocks():
            joined = _join_rows(block, gammon)
            index, stored, start = spans_of(joined, start, entry)
            done = rows.stop / table.positions
            sink.expect(index_at + table.positions * entry + 2 * start / done)
            sink.write_at(index_at + rows.start * entry, index)
            sink.write(joined[stored])

    # -- every byte -------------------------------------------------------------------------------------

    def facts_of(self, table: OneSided, options: Options) -> HeaderFacts:
        gammon = self.gammon(table, options)
        compressed = _is_compressed(table, options)
        return HeaderFacts("OS", table.points, table.chequers, gammon, compressed)

    def first_item(self, column: str) -> int:
        return ROLLS if column == "gammon" else 0

    def layout(self, table: OneSided, **options: Any) -> Layout:
        packed = as_read(table, CompressedRows)
        if packed is None or not _is_compressed(table, options) or options.get("gammon") is False:
            return super().layout(table, **options)
        header = self.header_of(table, options)
        head = len(header)
        index = len(packed.index) * packed.entry

        def place(entry: int, column: str, item: int) -> int:
            return head + packed.place(entry, column == "gammon", item)

        body = Region("index", head, index), Region("values", head + index, packed.size - index)
        return Layout(header, (*self.header_regions(header), *body), place)

    def arrays_in(self, room: NDArray[Any], table: OneSided, options: Options) -> dict[str, NDArray[Any]]:
        rows = room.view(VALUE).reshape(table.positions, -1)
        parts = {"bearoff": rows[:, :ROLLS], "gammon": rows[:, ROLLS:]}
        return {name: part for name, part in parts.items() if part.shape[1]}

    # -- damaged files ----------------------------------------------------------------------------------

    def canonical_headers(self) -> Iterator[HeaderFacts]:
        for points, gammon, compressed in product(range(1, 19), (True, False), (True, False)):
            yield HeaderFacts("OS", points, 15, gammon, compressed)

    def title_of(self, facts: HeaderFacts) -> str:
        packed = " compressed" if facts.compressed else ""
        return f"{facts.points} points {'with' if facts.gammon else 'without'} gammons{packed}"

    def tables_of_size(self, source: Source) -> list[str]:
        fits = super().tables_of_size(source)
        for facts in self.canonical_headers():
            n = board.count(facts.points, 15)
            entry = LONG if facts.gammon else SHORT
            with contextlib.suppress(TruncatedError):
                rows = CompressedRows(source, family.SIZE, n, entry=entry, gammon=facts.gammon)
                if facts.compressed and rows.size == source.size - family.SIZE:
                    fits.append(self.title_of(facts))
        return fits


def _has_long_entries(start: bytes, n: int) -> bool:
    """Return True if an index without gammon data has long entries, by the start of position 1's values."""
    if n < 2 or len(start) < PROBE:
        return False
    return ENTRY.start.parse(start[SHORT:]) != 1 and bool(ENTRY.start.parse(start[LONG:]) == 1)


def _is_compressed(table: Table, options: Options) -> bool:
    """Return whether to write the compressed layout: by the option, else as the table's own file, else True."""
    choice = options.get("compressed")
    rows = table.record(GnubgRows)
    if choice is not None:
        return bool(choice)
    return rows is None or rows.compressed


def _entry_size(table: OneSided, gammon: bool) -> int:
    """Return the size of an index entry in bytes; `LONG` without gammons only if the table's file is of that age."""
    rows = table.record(GnubgRows)
    old = not gammon and table.gammon is None and rows is not None and rows.entry == LONG
    return LONG if gammon or old else SHORT


def _join_rows(block: Mapping[str, NDArray[Any]], gammon: bool) -> NDArray[np.uint16]:
    """Return bearoff and gammon rows side by side, (m, 64), or bearoff rows alone, (m, 32), uint16.

    Nothing is copied if the two are already adjacent in memory.
    """
    bearoff = block["bearoff"]
    if not gammon:
        return np.ascontiguousarray(bearoff.astype(VALUE, copy=False))
    second = block["gammon"]
    address = bearoff.__array_interface__["data"][0]
    beside = second.__array_interface__["data"][0]
    if bearoff.strides == second.strides == (4 * ROLLS, 2) and beside - address == 2 * ROLLS:
        return np.lib.stride_tricks.as_strided(bearoff, (len(bearoff), 2 * ROLLS), writeable=False)
    return np.concatenate([bearoff, second], axis=1, dtype=VALUE)


# -- the compressed layout ------------------------------------------------------------------------------

U16 = NDArray[np.uint16]


@cache
def _spans() -> NDArray[np.bool_]:
    """Return a (33 * 64, 32) bool array: row 64 * count + first marks the rolls of `count` values from `first` on."""
    rolls = np.arange(ROLLS)
    count = np.arange(ROLLS + 1)[:, None, None]
    first = np.arange(64)[None, :, None]
    return ((rolls >= first) & (rolls < first + count)).reshape(-1, ROLLS)


def _mark_spans(firsts: NDArray[np.uint8], counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a bool array with a last axis of 32 rolls: True for `counts` rolls from roll `firsts` on."""
    return _spans().take(counts.astype(np.intp) * 64 + firsts, axis=0, mode="clip")


class CompressedRows:
    """Rows of a compressed file, decoded on demand. Caches the last block, which bearoff and gammon rows share.

    Parameters
    ----------
    offset : of the index in the source
    positions : number of index entries
    entry : size of an index entry, 6 or 8 bytes
    gammon : whether each entry has a gammon distribution as well
    """

    def __init__(self, source: Source, offset: int, positions: int, *, entry: int, gammon: bool) -> None:
        self.source = source
        self.offset = offset
        self.entry = entry
        self.gammon = gammon
        self.index = source.array(INDEX_DTYPES[entry], (positions,), offset, "index")
        self.data_offset = offset + positions * entry
        stored = _count_values(self.index[-1], gammon)
        what = "compressed data its index promises"
        self.values: U16 = source.array(VALUE, (stored,), self.data_offset, what)
        self.size = positions * entry + VALUE.itemsize * stored
        self.width = 2 * ROLLS if gammon else ROLLS
        self._last: tuple[int, int, U16] | None = None

    def rows(self) -> LazyRows:
        """Return all rows, decoded on demand, (n, 32 or 64) uint16.

        A row has the bearoff distribution and, if the file has it, the gammon distribution.
        """
        return LazyRows((len(self.index), self.width), VALUE, self.block, self.pick)

    def place(self, number: int, gammon: bool, roll: int) -> int:
        """Return the byte offset, from the start of the index, of one number of a position's distribution.

        number : the position. gammon : of the first chequer off instead of the last. roll : which number. If it is
        not stored because it is a leading or trailing zero, this is the offset of the index entry.
        """
        entry = self.index[number]
        start = int(entry["start"])
        count = int(entry["count"])
        first = int(entry["first"])
        if gammon:
            start += count
            count = int(entry["gammon_count"])
            first = int(entry["gammon_first"])
        if first <= roll < first + count:
            return self.data_offset - self.offset + 2 * (start + roll - first)
        return number * self.entry

    def block(self, start: int, stop: int) -> U16:
        """Decode the rows of positions start..stop-1, (m, 32 or 64) uint16; 64 with gammon data."""
        last = self._last
        if last is None or last[:2] != (start, stop):  # other threads may read other blocks meanwhile
            last = self._last = (start, stop, self._decode(self.index[start:stop], np.arange(start, stop)))
        return last[2]

    def pick(self, numbers: NDArray[np.int64]) -> U16:
        """Decode the rows with these position numbers, in this order, (m, 32 or 64) uint16; 64 with gammon data."""
        return self._decode(self.index[numbers], numbers)

    def _decode(self, entries: Any, numbers: NDArray[np.int64]) -> U16:
        out = np.zeros((len(numbers), self.width), np.uint16)
        if len(numbers) == 0:
            return out
        mask, lengths = self._mask(entries, numbers)
        begins = entries["start"].astype(np.int64)
        ends = begins + lengths
        bad = int(ends.argmax())
        if ends[bad] > len(self.values):
            found = f"start {begins[bad]:,} with {lengths[bad]} values"
            expected = f"values within the {len(self.values):,} stored"
            raise self._index_error(int(numbers[bad]), 0, expected, found)
        if np.array_equal(ends[:-1], begins[1:]):  # values in one piece
            out[mask] = self.values[begins[0] : ends[-1]]
        else:
            before = np.cumsum(lengths) - lengths
            out[mask] = self.values[np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)]
        return out

    def _mask(self, entries: Any, numbers: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return the mask of the stored values of some entries, (m, 32 or 64) bool, and their counts, (m,) int64."""
        names = [("count", "first")] + ([("gammon_count", "gammon_first")] if self.gammon else [])
        mask = np.empty((len(entries), len(names), ROLLS), bool)
        lengths = np.zeros(len(entries), np.int64)
        for k, (count, first) in enumerate(names):
            counts = entries[count]
            firsts = entries[first]
            beyond = (counts.astype(np.int16) + firsts) > ROLLS
            if beyond.any():
                bad = int(beyond.argmax())
                found = f"{counts[bad]} values from roll {firsts[bad]}"
                at = entries.dtype.fields[count][1]
                raise self._index_error(int(numbers[bad]), at, f"values within rolls 0..{ROLLS - 1}", found)
            mask[:, k] = _mark_spans(firsts, counts)
            lengths += counts
        return mask.reshape(len(entries), self.width), lengths

    def _index_error(self, number: int, at: int, expected: str, found: str) -> CorruptError:
        """Return the error for a wrong index entry; `at` is an offset within the entry."""
        return CorruptError(self.source.name, self.offset + number * self.entry + at, expected, found, number)


def _count_values(last: Any, gammon: bool) -> int:
    """Return the number of values that an index refers to, from its last entry."""
    return int(last["start"]) + int(last["count"]) + (int(last["gammon_count"]) if gammon else 0)


def spans_of(rows: U16, start: int, entry: int) -> tuple[Any, NDArray[np.bool_], int]:
    """Encode distributions (m, 32 or 64) as index entries and values without leading and trailing zeros.

    start : index at which the first value is stored, in uint16 units from the end of the index. entry : bytes of an
    index entry.

    Returns the index entries (m,), the mask (m, 32 or 64) of the values to store, and the start for the next block.
    Raises CapabilityError for an all-zero distribution or more values than 32 bits can count.
    """
    stored = rows != 0
    bits = np.packbits(stored, axis=1, bitorder="little").view("<u4")
    if not bits.all():
        number = int((bits == 0).any(axis=1).argmax())
        raise CapabilityError(f"an all-zero distribution (row {number} of its block) has no compressed form")
    first = np.bitwise_count((bits & -bits) - np.uint32(1))  # zeros below the lowest bit
    past = np.frexp(bits.astype(np.float64))[1]
    count = past.astype(np.uint8) - first
    if not np.array_equal(np.bitwise_count(bits), count):  # zeros between
        stored = _mark_spans(first, count).reshape(rows.shape)
    lengths = count.sum(axis=1, dtype=np.int64)
    end = start + int(lengths.sum())
    if end > 0xFFFFFFFF:
        raise CapabilityError("the compressed index counts in 32 bits; this table is too large for it")
    index = np.zeros(len(count), INDEX_DTYPES[entry])
    index["start"] = start + np.cumsum(lengths) - lengths
    index["count"] = count[:, 0]
    index["first"] = first[:, 0]
    if count.shape[1] == 2:
        index["gammon_count"] = count[:, 1]
        index["gammon_first"] = first[:, 1]
    return index, stored, end


# -- normal distributions --------------------------------------------------------------------------------

FIRST_MOMENTS = bytes(16) + b"\x00\x00\x80\x3f" + bytes(12)


class GnubgNormal(GnubgFormat[NormalOneSided]):
    kind = "ND"
    array = "moments"
    dtype = number_dtype("ND")
    structures: ClassVar[Mapping[str, Struct]] = {
        "header": family.ONE_SIDED,
        "file": family.FILES["ND"],
        "moments": family.MOMENTS,
    }
    name = "gnubg-nd"
    title = "GNU Backgammon one-sided, normal distributions"
    carries = (NormalOneSided,)
    headerless: ClassVar[Mapping[str, type]] = family.SIZED
    defaults: ClassVar[Mapping[str, Any]] = {"chequers": 15, "gammon": True}

    # -- reading ----------------------------------------------------------------------------------------

    def guess(self, source: Source) -> list[dict[str, Any]]:
        every = (HeaderFacts("ND", points, 15) for points in range(1, 24))
        return [{"points": facts.points, "chequers": 15} for facts in every if self.matches(source, facts)]

    def matches(self, source: Source, facts: HeaderFacts) -> bool:
        return facts.size == source.size and source.bytes(0, 32) == FIRST_MOMENTS

    def host_facts(self, reading: Reading[NormalOneSided]) -> dict[str, Any]:
        crash = "gnubg 1.07 crashes when this is installed as gnubg_os.bd; bearoffdump reads it"
        notes = super().host_facts(reading)["notes"]
        return {"gnubg_name": None, "gnubg_reads": False, "notes": [crash, *notes]}

    # -- writing ----------------------------------------------------------------------------------------

    def is_default_for(self, table: NormalOneSided) -> bool:
        return True

    def facts_of(self, table: NormalOneSided, options: Options) -> HeaderFacts:
        return HeaderFacts("ND", table.points, table.chequers, gammon=True)

    # -- damaged files ----------------------------------------------------------------------------------

    def canonical_headers(self) -> Iterator[HeaderFacts]:
        return (HeaderFacts("ND", points, 15, gammon=True) for points in range(1, 19))

    def title_of(self, facts: HeaderFacts) -> str:
        return f"{facts.points} points of normal distributions"
