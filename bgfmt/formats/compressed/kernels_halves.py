"""Compiled: single records that the second level leaves out, rebuilt by one ply of gnubg's recipe. See `halves`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.formats.compressed.kernels_coder import LANES, LEFT, TO, WORDS, begun, four, opened, rested
from bgfmt.formats.compressed.kernels_predict import predicted
from bgfmt.formats.compressed.kernels_products import fetch
from bgfmt.formats.compressed.kernels_records import MOST_LAID, PLAIN, SOON, by_length, lay, within_block
from bgfmt.formats.compressed.kernels_sums import crc32
from bgfmt.formats.compressed.plays import Room
from bgfmt.game.kernels_results import results_of
from bgfmt.game.kernels_vectors import turned
from bgfmt.game.results import Singles
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
def _jobs(file: File, row: Any, wanted: Any, states: Any, jobs: Any, stored: Any, out: Any) -> Any:
    """The streams in which records of a row are, as lanes: how many, or -1; those in no stream go to `out`.

    jobs (any, 3) takes of each the first and past the last of `wanted`, and the place of the stream's first record.
    """
    data, block, columns, edges = file.data, file.block, out.shape[1], file.edges
    kept, groups, g = 2 if columns == 4 else 1, len(edges) - 1, file.group[row]
    tile: Any = np.int64(-1)
    start: Any = 0
    stop, lengths, at, b, width, low = start, start, start, start, start, start
    found: Any = 0
    i: Any = 0
    while i < len(wanted):
        j = file.group[wanted[i]]
        if j != tile:
            tile, low, b = j, edges[j], 0
            start, stop = file.begins[row * groups + j + g], file.begins[row * groups + j + g + 1]
            if not file.rows_sound[row, j]:
                if not _sound(data, start, stop):
                    return -1
                file.rows_sound[row, j] = True
            width = min(edges[j + 1], row + 1) - low
            blocks = (width + block - 1) // block
            lengths = start + blocks * kept
            at = lengths + blocks + file.factors[g * groups + j]
        while b < (wanted[i] - low) // block:
            size = np.int64(data[lengths + b])
            at += 2 * size if size != PLAIN else 2 * columns * block
            b += 1
        begin = low + b * block
        count = min(block, width - b * block)
        half = (count + 1) // 2
        second = wanted[i] - begin >= half
        first, past = (begin + half, begin + count) if second else (begin, begin + half)
        e = i + 1
        while e < len(wanted) and wanted[e] < past:
            e += 1
        units = np.int64(data[lengths + b])
        some = begun(data, start + b * kept, columns, states, found)
        if units == PLAIN:
            if at + 2 * columns * count > stop - 4:
                return -1
            for x in range(i, e):
                place = at + 2 * columns * (wanted[x] - begin)
                stored[x] = True
                for c in range(columns):
                    out[x, c] = np.int64(data[place + 2 * c]) | np.int64(data[place + 2 * c + 1]) << 8
        elif units == 0:
            if some:
                return -1
            out[i:e] = 0
        else:
            if at + 2 * units > stop - 4 or not opened(data, at, units, second, states, found):
                return -1
            fetch(data, at, at + 2 * units)
            states[found, LEFT] = wanted[e - 1] - first + 1
            jobs[found, 0], jobs[found, 1], jobs[found, 2] = i, e, first
            found += 1
        i = e
    return found


@njit()
def of_row(file: File, row: Any, wanted: Any, out: Any) -> bool:
    """Records of one row at ascending places up to its own, out (m, columns) uint16; False where one is bad."""
    data, columns, many = file.data, out.shape[1], len(wanted)
    states, jobs = np.empty((many, WORDS), np.uint64), np.empty((many, 3), np.int64)
    stored, order = np.zeros(many, np.bool_), np.empty(many, np.int64)
    found = _jobs(file, row, wanted, states, jobs, stored, out)
    if found < 0:
        return False
    lanes = np.zeros((LANES, WORDS), np.uint64)
    room = file.block // 2 * columns
    flat = np.empty(LANES * room, np.uint16)
    by_length(states, found, order)
    for at in range(0, found, LANES):
        for k in range(LANES):
            if at + k < found:
                lanes[k] = states[order[at + k]]
                lanes[k, TO] = k * room
            else:
                rested(lanes, k, k * room)
        while True:
            steps: Any = np.int64(lanes[0, LEFT])
            for k in range(1, LANES):
                steps = min(steps, np.int64(lanes[k, LEFT]))
            if steps > file.block:
                break
            four(data, lanes, steps, columns, file.slots, file.shifts, columns, flat)
            for k in range(LANES):
                if lanes[k, LEFT] == 0:
                    if not within_block(lanes, k):
                        return False
                    job = jobs[order[at + k]]
                    for x in range(job[0], job[1]):
                        place = k * room + (wanted[x] - job[2]) * columns
                        for c in range(columns):
                            out[x, c] = flat[place + c]
                    rested(lanes, k, k * room)
    return _add_predictions(file, row, wanted, stored, out)


@njit()
def _add_predictions(file: File, row: Any, wanted: Any, stored: Any, out: Any) -> bool:
    """Add to records of a row their predictions, unless they are stored; False where a column's factors are bad."""
    edges, groups, g = file.edges, len(file.edges) - 1, file.group[row]
    signed, laid = file.data.view(np.int8), np.empty(MOST_LAID, np.int32)
    each = 3 if out.shape[1] == 4 else 2
    where = np.empty(len(wanted), np.int64)
    for x in range(len(wanted)):
        t = g * groups + file.group[wanted[x]]
        where[x] = file.beside[t] + (wanted[x] - edges[file.group[wanted[x]]]) * (file.factors[t] + 4)
    tile: Any = np.int64(-1)
    for x in range(len(wanted)):
        if x + SOON < len(wanted):
            fetch(
                file.data,
                where[x + SOON],
                where[x + SOON] + file.factors[g * groups + file.group[wanted[x + SOON]]],
            )
        j = file.group[wanted[x]]
        t = g * groups + j
        if not file.beside_sound[g, wanted[x]]:
            if not _sound(file.data, where[x], where[x] + file.factors[t] + 4):
                return False
            file.beside_sound[g, wanted[x]] = True
        if stored[x]:
            continue
        if j != tile:
            width = min(edges[j + 1], row + 1) - edges[j]
            mine = file.begins[row * groups + j + g] + (width + file.block - 1) // file.block * each
            lay(signed, mine, file.factors[t], file.parts[t], file.weights, laid)
            tile = j
        predicted(laid, signed, where[x], file.parts[t], out[x])
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
