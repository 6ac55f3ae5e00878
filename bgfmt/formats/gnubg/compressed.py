"""The compressed layout of one-sided rows: an index, and each distribution without its leading and trailing zeros.

Index entry, 8 bytes with gammon distributions and 6 without:

offset  type  content
0       u32   start of this position's values, in uint16 units from the start of the data
4       u8    number of stored bearoff values
5       u8    roll number of the first stored bearoff value
6       u8    number of stored gammon values
7       u8    roll number of the first stored gammon value

Gammonless files made before March 2009 have 8-byte entries as well, the last two bytes zero. Values are stored from
the first to the last that is not zero.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError
from bgfmt.formats.base import ROLLS
from bgfmt.storage import Source
from bgfmt.tables import LazyRows

U16 = NDArray[np.uint16]


def index_dtype(entry: int) -> np.dtype[Any]:
    """Layout of one index entry of 6 or 8 bytes."""
    fields: list[Any] = [("start", "<u4"), ("count", "u1"), ("first", "u1")]
    if entry == 8:
        fields += [("gammon_count", "u1"), ("gammon_first", "u1")]
    return np.dtype(fields)


@cache
def _spans() -> NDArray[np.bool_]:
    """(33, 64, 32) bool: [count, first] marks the rolls that `count` values from roll `first` cover."""
    rolls = np.arange(ROLLS)
    count, first = np.arange(ROLLS + 1)[:, None, None], np.arange(64)[None, :, None]
    return (rolls >= first) & (rolls < first + count)


class CompressedRows:
    """Decodes rows of a compressed file on demand; keeps the last block, since bearoff and gammon share it."""

    def __init__(self, source: Source, offset: int, positions: int, *, entry: int, gammon: bool) -> None:
        self.source, self.offset, self.entry, self.gammon = source, offset, entry, gammon
        self.index = source.array(index_dtype(entry), (positions,), offset, "index")
        self.data_offset = offset + positions * entry
        last = self.index[-1]
        stored = int(last["start"]) + int(last["count"]) + (int(last["gammon_count"]) if gammon else 0)
        what = "compressed data its index promises"
        self.values: U16 = source.array("<u2", (stored,), self.data_offset, what)
        self.size = positions * entry + 2 * stored
        self.width = 2 * ROLLS if gammon else ROLLS
        self._last: tuple[int, int, U16] | None = None

    def rows(self) -> LazyRows:
        """Bearoff and gammon distributions side by side, (n, 32 or 64) uint16."""
        return LazyRows((len(self.index), self.width), "<u2", self.block, self.pick)

    def place(self, number: int, gammon: bool, roll: int) -> int:
        """Byte of a roll's value from the start of the index; of the index entry where the value is left out."""
        entry = self.index[number]
        start, count, first = int(entry["start"]), int(entry["count"]), int(entry["first"])
        if gammon:
            start += count
            count, first = int(entry["gammon_count"]), int(entry["gammon_first"])
        if first <= roll < first + count:
            return self.data_offset - self.offset + 2 * (start + roll - first)
        return number * self.entry

    def block(self, start: int, stop: int) -> U16:
        """Rows start..stop-1, (m, 32 or 64) uint16."""
        last = self._last
        if last is not None and last[:2] == (start, stop):
            return last[2]
        entries = self.index[start:stop]
        mask, lengths = self._mask(entries, start)
        starts = entries["start"].astype(np.int64)
        if len(entries) and np.array_equal(starts[1:], starts[:-1] + lengths[:-1]):  # values in one piece
            begin, end = int(starts[0]), int(starts[0] + lengths.sum())
            self._check_range(begin, end, start)
            rows = np.zeros((len(entries), self.width), np.uint16)
            rows[mask] = self.values[begin:end]
        else:
            rows = self.pick(np.arange(start, stop))
        self._last = (start, stop, rows)
        return rows

    def pick(self, numbers: NDArray[np.int64]) -> U16:
        """Rows of these numbers, in their order."""
        out = np.zeros((len(numbers), self.width), np.uint16)
        if len(numbers) == 0:
            return out
        entries = self.index[numbers]
        mask, lengths = self._mask(entries, numbers)
        begins = entries["start"].astype(np.int64)
        ends = begins + lengths
        bad = int(ends.argmax())
        self._check_range(int(begins[bad]), int(ends[bad]), int(numbers[bad]))
        before = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)
        out[mask] = self.values[places]
        return out

    def _mask(self, entries: Any, numbers: Any) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        spans = _spans()
        names = [("count", "first")] + ([("gammon_count", "gammon_first")] if self.gammon else [])
        mask = np.empty((len(entries), len(names), ROLLS), bool)
        lengths = np.zeros(len(entries), np.int64)
        for k, (count, first) in enumerate(names):
            counts, firsts = entries[count], entries[first]
            beyond = (counts.astype(np.int16) + firsts) > ROLLS
            if beyond.any():
                at = int(beyond.argmax())
                number = int(numbers[at]) if isinstance(numbers, np.ndarray) else int(numbers) + at
                found = f"{counts[at]} values from roll {firsts[at]}"
                raise self._wrong(number, 4 + 2 * k, f"values within rolls 0..{ROLLS - 1}", found)
            code = counts.astype(np.intp) * 64 + firsts
            np.take(spans.reshape(-1, ROLLS), code, axis=0, out=mask[:, k], mode="clip")
            lengths += counts
        return mask.reshape(len(entries), self.width), lengths

    def _check_range(self, begin: int, end: int, number: int) -> None:
        if end > len(self.values):
            found = f"start {begin:,} with {end - begin} values"
            raise self._wrong(number, 0, f"values within the {len(self.values):,} stored", found)

    def _wrong(self, number: int, at: int, expected: str, found: str) -> CorruptError:
        """The error of an index entry, `at` a byte of it."""
        return CorruptError(self.source.name, self.offset + number * self.entry + at, expected, found, number)


def decode_damaged(body: bytes, positions: int, entry: int, gammon: bool) -> U16:
    """Rows (n, 1 or 2, 32) of a damaged body; a row whose entry or values make no sense is left zero."""
    padded = body[: positions * entry] + bytes(max(0, positions * entry - len(body)))
    index = np.frombuffer(padded, index_dtype(entry), positions)
    stored = body[positions * entry :]
    values = np.frombuffer(stored[: len(stored) & ~1], "<u2")
    rows = np.zeros((positions, 1 + gammon, ROLLS), np.uint16)
    starts = index["start"].astype(np.int64)
    for part in range(1 + gammon):
        counts = index["gammon_count" if part else "count"].astype(np.int64)
        firsts = index["gammon_first" if part else "first"].astype(np.int64)
        good = (counts > 0) & (counts + firsts <= ROLLS) & (starts + counts <= len(values))
        for k in range(ROLLS):
            which = np.flatnonzero(good & (k < counts))
            rows[which, part, firsts[which] + k] = values[starts[which] + k]
        starts = starts + counts
    return rows


def index_ends(body: bytes | memoryview, positions: int, entry: int, gammon: bool) -> int | None:
    """Bytes of a whole body, as its last index entry tells; None where the index is not complete."""
    last = bytes(body[(positions - 1) * entry : positions * entry])
    if len(last) < entry:
        return None
    stored = int.from_bytes(last[:4], "little") + last[4] + (last[6] if gammon else 0)
    return positions * entry + 2 * stored


def spans_of(rows: U16, start: int, entry: int) -> tuple[Any, NDArray[np.bool_], int]:
    """How distributions (m, 32 or 64) are stored whose values begin at `start`.

    Returns their index, the mask of the values to store, from first to last that is not zero, and where the values of
    what follows begin.
    """
    stored = rows != 0
    bits = np.packbits(stored, axis=1, bitorder="little").view("<u4")
    if not bits.all():
        number = int((bits == 0).any(axis=1).argmax())
        raise CapabilityError(f"an all-zero distribution (row {number} of its block) has no compressed form")
    first = (np.frexp((bits & (~bits + np.uint32(1))).astype(np.float64))[1] - 1).astype(np.uint8)
    last = (np.frexp(bits.astype(np.float64))[1] - 1).astype(np.uint8)
    count = last - first + np.uint8(1)
    if not np.array_equal(np.bitwise_count(bits), count):
        code = count.astype(np.intp) * 64 + first
        stored = _spans().reshape(-1, ROLLS).take(code, axis=0).reshape(stored.shape)
    lengths = count.sum(axis=1, dtype=np.int64)
    end = start + int(lengths.sum())
    if end > 0xFFFFFFFF:
        raise CapabilityError("the compressed index counts in 32 bits; this table is too large for it")
    index = np.zeros(len(count), index_dtype(entry))
    index["start"] = start + np.cumsum(lengths) - lengths
    index["count"], index["first"] = count[:, 0], first[:, 0]
    if count.shape[1] == 2:
        index["gammon_count"], index["gammon_first"] = count[:, 1], first[:, 1]
    return index, stored, end
