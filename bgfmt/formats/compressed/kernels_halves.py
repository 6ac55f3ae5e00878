"""Compiled: records that the second level leaves out, rebuilt by one ply of gnubg's recipe. See `halves`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.formats.compressed.kernels_coder import LANES, LEFT, TO, WORDS, begun, four, opened, rested
from bgfmt.formats.compressed.kernels_predict import predicted
from bgfmt.formats.compressed.kernels_records import MOST_LAID, PLAIN, lay, within_block
from bgfmt.formats.compressed.kernels_sums import crc32
from bgfmt.formats.compressed.plays import Room, Singles
from bgfmt.game.kernels_results import results_of
from bgfmt.game.kernels_vectors import Rolls, record, turned
from bgfmt.jit import njit


class File(NamedTuple):
    """What of a file its records are found by; see `reading.Packed` for each."""

    data: Any
    group: Any
    edges: Any
    begins: Any
    beside: Any
    factors: Any
    parts: Any
    weights: Any
    slots: Any
    shifts: Any
    rows_sound: Any
    beside_sound: Any
    block: Any


@njit()
def _sound(data: Any, start: Any, stop: Any) -> bool:
    """Whether the last four bytes of a part are its sum."""
    said = np.int64(0)
    for b in range(4):
        said |= np.int64(data[stop - 4 + b]) << (8 * b)
    return bool(crc32(data, start, stop - 4) == said)


@njit()
def of_row(file: File, row: Any, wanted: Any, out: Any) -> bool:
    """Records of one row at ascending places up to its own, out (m, columns) uint16; False where one is bad."""
    data, block, columns = file.data, file.block, out.shape[1]
    edges, kept = file.edges, 2 if out.shape[1] == 4 else 1
    many, groups = len(wanted), len(file.edges) - 1
    g = file.group[row]
    lanes, whose = np.zeros((LANES, WORDS), np.uint64), np.full((LANES, 3), -1, np.int64)
    half_room = (block // 2) * columns
    flat = np.empty(LANES * half_room + 8, np.uint16)
    stored = np.zeros(many, np.bool_)
    tile: Any = np.int64(-1)
    start: Any = 0
    stop, lengths, at, b, width, low = start, start, start, start, start, start
    i = 0
    while True:
        busy = False
        steps: Any = np.int64(1 << 40)
        for k in range(LANES):
            while whose[k, 0] < 0 and i < many:
                j = file.group[wanted[i]]
                if j != tile:
                    tile, low, b = j, edges[j], 0
                    start, stop = file.begins[row * groups + j + g], file.begins[row * groups + j + g + 1]
                    if not file.rows_sound[row, j]:
                        if not _sound(data, start, stop):
                            return False
                        file.rows_sound[row, j] = True
                    width = min(edges[j + 1], row + 1) - low
                    blocks = (width + block - 1) // block
                    lengths = start + blocks * kept
                    at = lengths + blocks + file.factors[g * groups + j]
                within = wanted[i] - low
                while b < within // block:
                    size = np.int64(data[lengths + b])
                    at += 2 * size if size != PLAIN else 2 * columns * block
                    b += 1
                within -= b * block
                count = min(block, width - b * block)
                half = (count + 1) // 2
                second = within >= half
                first = low + b * block + (half if second else 0)  # place of the first record of the stream
                past = low + b * block + (count if second else half)
                e = i + 1
                while e < many and wanted[e] < past:
                    e += 1
                units = np.int64(data[lengths + b])
                some = begun(data, start + b * kept, columns, lanes, k)
                if units == PLAIN:
                    if at + 2 * columns * count > stop - 4:
                        return False
                    for x in range(i, e):
                        place = at + 2 * columns * (wanted[x] - low - b * block)
                        stored[x] = True
                        for c in range(columns):
                            out[x, c] = np.int64(data[place + 2 * c]) | np.int64(data[place + 2 * c + 1]) << 8
                elif units == 0:
                    if some:
                        return False
                    for x in range(i, e):
                        for c in range(columns):
                            out[x, c] = 0
                else:
                    if at + 2 * units > stop - 4 or not opened(data, at, units, second, lanes, k):
                        return False
                    lanes[k, LEFT] = wanted[e - 1] - first + 1
                    lanes[k, TO] = k * half_room
                    whose[k, 0], whose[k, 1], whose[k, 2] = i, e, first
                i = e
            if whose[k, 0] < 0:
                rested(lanes, k, k * half_room)
            else:
                busy = True
                steps = min(steps, np.int64(lanes[k, LEFT]))
        if not busy:
            break
        four(data, lanes, steps, columns, file.slots, file.shifts, columns, flat)
        for k in range(LANES):
            if whose[k, 0] >= 0 and lanes[k, LEFT] == 0:
                if not within_block(lanes, k):
                    return False
                for x in range(whose[k, 0], whose[k, 1]):
                    place = k * half_room + (wanted[x] - whose[k, 2]) * columns
                    for c in range(columns):
                        out[x, c] = flat[place + c]
                whose[k, 0] = -1
    signed, laid = data.view(np.int8), np.empty(MOST_LAID, np.int32)
    tile = np.int64(-1)
    for x in range(many):
        j = file.group[wanted[x]]
        t = g * groups + j
        size = file.factors[t] + 4
        where = file.beside[t] + (wanted[x] - edges[j]) * size
        if not file.beside_sound[g, wanted[x]]:
            if not _sound(data, where, where + size):
                return False
            file.beside_sound[g, wanted[x]] = True
        if stored[x]:
            continue
        if j != tile:
            width = min(edges[j + 1], row + 1) - edges[j]
            mine = file.begins[row * groups + j + g] + (width + block - 1) // block * (kept + 1)
            lay(signed, mine, size - 4, file.parts[t], file.weights, laid)
            tile = j
        predicted(laid, signed, where, file.parts[t], out[x])
    return True


@njit()
def keep_earlier(first: Any, many: Any, ends: Any, results: Any) -> bool:
    """Of the results of the 21 rolls of places first..first+many-1 keep those before the place itself.

    results[ends[21 k + r] : ends[21 k + r + 1]] are those of roll r of the k-th, before and after. False where a roll
    has none left; the first place of all has none anyway.
    """
    every = True
    begin, at = ends[0], ends[0]
    for k in range(many):
        u = first + k
        for r in range(21 * k + 1, 21 * k + 22):
            before = at
            for q in range(begin, ends[r]):
                if results[q] < u:
                    results[at] = results[q]
                    at += 1
            every &= at > before or u == 0
            begin, ends[r] = ends[r], at
    return every


@njit()
def wanted_by(u: Any, singles: Singles, room: Room) -> Any:
    """The places before u that u's rolls lead to, ascending; none where a roll has none.

    room.found and room.ends have those of each roll.
    """
    room.ends[0] = 0
    starts, results = singles.starts, singles.results
    results_of(u, starts, results, room.ends, 1, room.found, 0, room.seen, room.one, room.two)
    mark = room.seen[-1] + 1
    room.seen[-1] = mark
    count = 0
    if keep_earlier(u, 1, room.ends, room.found):
        for q in range(room.ends[21]):
            j = room.found[q]
            if room.seen[j] != mark:
                room.seen[j] = mark
                room.one[count] = j
                count += 1
    out = np.sort(room.one[:count])
    for i in range(count):
        room.slot[out[i]] = i
    return out


@njit()
def folded(records: Any, room: Room, out: Any) -> None:
    """One ply: out (columns,) uint16 from the records (m, columns) of `wanted_by`, all of the other side's row."""
    columns = records.shape[1]
    total, best = np.zeros(4, np.int32), np.empty(4, np.int32)
    values = np.empty(records.size, np.int16)
    turned(records.reshape(-1), columns, values)
    double, step = 0, 2
    for r in range(21):
        best[:] = -32768
        for q in range(room.ends[r], room.ends[r + 1]):
            i = room.slot[room.found[q]] * columns
            for c in range(columns):
                best[c] = max(best[c], np.int32(values[i + c]))
        times = np.int32(2)
        if r == double:
            double, step, times = double + step, step + 1, np.int32(1)
        for c in range(columns):
            total[c] += times * best[c]
    for c in range(columns):
        x = total[c]
        out[c] = 32768 + x // 36 if x >= 0 else 32768 - (-x) // 36  # towards zero


@njit()
def rebuilt(file: File, singles: Singles, room: Room, us: Any, ts: Any, begin: Any, out: Any) -> Any:
    """Records of pairs of places 0 < us < ts, from `begin` on, out (m, columns) uint16; -1, or one that is bad."""
    records = np.empty((1024, out.shape[1]), np.uint16)
    for i in range(begin, len(us)):
        wanted = wanted_by(us[i], singles, room)
        if not len(wanted):
            return i
        if len(wanted) > len(records):
            records = np.empty((2 * len(wanted), out.shape[1]), np.uint16)
        some = records[: len(wanted)]
        if not of_row(file, ts[i], wanted, some):
            return i
        folded(some, room, out[i])
    return -1


@njit()
def tile_of(rows: Any, lines: Any, values: Any) -> None:
    """lines (width, lanes) int16 = turned values of rows (m, width, columns), those of a place side by side."""
    m, width, columns = rows.shape
    for i in range(m):
        turned(rows[i].reshape(-1), columns, values)
        for x in range(width):
            for c in range(columns):
                lines[x, i * columns + c] = values[x * columns + c]


@njit()
def _against(lines: Any, at: Any, rolls: Rolls, u: Any, columns: int, stored: Any, back: Any) -> None:
    """Records of u against the rows of `lines`, stored (lanes,) uint16."""
    if u == 0:
        stored[:] = 65535
    else:
        record(stored, back, lines, at, 0, rolls, u, columns)


@njit()
def against(
    lines: Any, at: Any, ends: Any, results: Any, weights: Any, us: Any, first: Any, many: Any, columns: int,
    into: Any, target: Any, out: Any,
) -> None:  # fmt: skip
    """Records of sides at ascending places `us` against those at first..first+many-1, as far as they are left out.

    lines : as `tile_of` has it, of rows `first` on. at : arange. out : (any, any) uint64, or uint16 where there is
    one column: the record of us[i] and place t goes to out[into[i], target[t]], unless that is negative.
    """
    stored, back = np.empty(lines.shape[1], np.uint16), np.empty(lines.shape[1], np.int16)
    whole = stored.view(out.dtype)
    rolls = Rolls(ends, results, weights)
    for i in range(len(us)):
        u = us[i]
        if u >= first + many - 1:
            break
        _against(lines, at, rolls, u, columns, stored, back)
        for t in range(max(first, u + 1), first + many):
            if target[t] >= 0:
                out[into[i], target[t]] = whole[t - first]


@njit()
def _mixed(x: Any) -> Any:
    """The end of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit()
def sum_stored(rows: Any, first: Any, keys: Any, sums: Any) -> None:
    """Add up what the second level leaves out of rows first.., (m, n) whole records, by row; keys (n,) uint64."""
    for i in range(rows.shape[0]):
        total = np.uint64(0)
        for t in range(first + i + 1, rows.shape[1]):
            total += _mixed(np.uint64(rows[i, t]) ^ keys[t])
        sums[first + i] += total


@njit()
def sum_rebuilt(
    lines: Any, at: Any, ends: Any, results: Any, weights: Any, first: Any, many: Any, columns: int, keys: Any,
    sums: Any,
) -> None:  # fmt: skip
    """The same of what one ply makes of rows first..first+many-1, for every side before them."""
    stored, back = np.empty(lines.shape[1], np.uint16), np.empty(lines.shape[1], np.int16)
    rolls = Rolls(ends, results, weights)
    for u in range(first + many - 1):
        _against(lines, at, rolls, u, columns, stored, back)
        total = np.uint64(0)
        for t in range(max(first, u + 1), first + many):
            whole = np.uint64(0)
            for c in range(columns):
                whole |= np.uint64(stored[(t - first) * columns + c]) << np.uint64(16 * c)
            total += _mixed(whole ^ keys[t])
        sums[u] += total
