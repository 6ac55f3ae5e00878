"""Seeded damage: ways a database file goes wrong, for the tests of the verifier and of repair.

`KINDS` alter the bytes of a file, whatever they are; `VALUES` the numbers of a table, which is then written anew, so
that sums, checksums and layout are right and the numbers alone are not.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bgfmt.errors import BgfmtError

HEADER = 40
Damage = Callable[[bytearray, random.Random, bytes], bytes]


def bit(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """One bit flipped anywhere."""
    k = rng.randrange(len(data) * 8)
    data[k >> 3] ^= 1 << (k & 7)
    return bytes(data)


def bits(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A few bits flipped."""
    for k in rng.sample(range(len(data) * 8), 1 + rng.randrange(8)):
        data[k >> 3] ^= 1 << (k & 7)
    return bytes(data)


def unit(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """One 16-bit number of the body up or down by one."""
    at = HEADER + 2 * rng.randrange((len(data) - HEADER) // 2)
    value = int.from_bytes(data[at : at + 2], "little")
    step = 1 if value == 0 or (value < 65535 and rng.random() < 0.5) else -1
    data[at : at + 2] = (value + step).to_bytes(2, "little")
    return bytes(data)


def swap(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Two blocks of the body exchanged."""
    size = rng.choice([2, 8, 64, 128, 512])
    size = max(1, min(size, (len(data) - HEADER) // 4))
    slots = (len(data) - HEADER) // size
    for _ in range(100):
        a, b = (HEADER + size * k for k in rng.sample(range(slots), 2))
        if data[a : a + size] != data[b : b + size]:
            break
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    return bytes(data)


def regions(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Two large regions exchanged."""
    size = max(1, (len(data) - HEADER) // rng.choice([2, 3, 5]))
    a, b = HEADER, len(data) - size
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    return bytes(data)


def header(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A wrong digit in the header, or, without one, a wrong byte."""
    places = [k for k in range(6, 20) if chr(data[k]).isdigit()] or list(range(min(20, len(data))))
    k = rng.choice(places)
    data[k] = rng.choice([c for c in b"0123456789" if c != data[k]])
    return bytes(data)


def front(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """One bit flipped near the beginning, where headers and directories lie."""
    k = rng.randrange(8 * min(len(data), rng.choice([16, 64, 512, 2048])))
    data[k >> 3] ^= 1 << (k & 7)
    return bytes(data)


def back(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """One bit flipped near the end, where archives keep their directory."""
    k = rng.randrange(8 * min(len(data), rng.choice([16, 64, 512])))
    data[-1 - (k >> 3)] ^= 1 << (k & 7)
    return bytes(data)


def cut(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Cut short."""
    return bytes(data[: rng.randrange(1, len(data))])


def short(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A few bytes too short."""
    return bytes(data[: -rng.randrange(1, min(len(data), 65))])


def pad(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Bytes added at the end."""
    return bytes(data) + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))


def foreign(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A block of another file in the body."""
    size = min(rng.choice([16, 256, 4096]), len(other) - HEADER, len(data) - HEADER)
    for _ in range(100):
        a = rng.randrange(HEADER, len(data) - size + 1)
        b = rng.randrange(HEADER, len(other) - size + 1)
        if data[a : a + size] != other[b : b + size]:
            break
    data[a : a + size] = other[b : b + size]
    return bytes(data)


def swapped_bytes(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """The other byte order."""
    body = data[HEADER:]
    even = len(body) & ~1
    body[0:even:2], body[1:even:2] = body[1:even:2], body[0:even:2]
    return bytes(data[:HEADER] + body)


def shift(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """The body moved by a byte or an entry, the file's length kept."""
    by = rng.choice([1, 2, 8])
    body = data[HEADER:]
    moved = bytes(by) + body[:-by] if rng.random() < 0.5 else body[by:] + bytes(by)
    return bytes(data[:HEADER] + moved)


def lost(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A stretch taken out, or put in twice."""
    size = rng.choice([1, 2, 8, 28, 64, 128])
    at = rng.randrange(HEADER, max(HEADER + 1, len(data) - size))
    data[at : at + size] = b"" if rng.random() < 0.5 else data[at : at + size] * 2
    return bytes(data)


def zeros(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """All zeros under the header."""
    return bytes(data[:HEADER]) + bytes(len(data) - HEADER)


def hole(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A stretch of zeros, as of a sparse copy."""
    size = rng.choice([16, 512, 4096])
    at = rng.randrange(HEADER, max(HEADER + 1, len(data) - size))
    data[at : at + size] = bytes(len(data[at : at + size]))
    return bytes(data)


def bare(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Nothing but the header."""
    return bytes(data[:HEADER])


PAGE = 4096


def page(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A page of zeros at a page's boundary, as a disk loses it; the rest of a file shorter than two."""
    at = PAGE * rng.randrange(1, max(2, len(data) // PAGE))
    at = at if at < len(data) else HEADER
    data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
    return bytes(data)


def twice(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """The last piece once more, as of a copy that went on too early; never a whole file, which may be one of two."""
    return bytes(data) + bytes(data[-min(len(data) // 2, rng.choice([16, 512, PAGE, 65536])) :])


def copied(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A piece put over another of its size."""
    size = max(1, min(rng.choice([2, 8, 64, 512, PAGE]), (len(data) - HEADER) // 4))
    slots = (len(data) - HEADER) // size
    a, b = (HEADER + size * k for k in rng.sample(range(slots), 2))
    data[a : a + size] = data[b : b + size]
    return bytes(data)


def reversed_words(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Words of four or eight bytes of the body in the other byte order."""
    wide = rng.choice([4, 8])
    end = HEADER + (len(data) - HEADER) // wide * wide
    body = np.frombuffer(bytes(data[HEADER:end]), f"u{wide}").byteswap()
    return bytes(data[:HEADER]) + body.tobytes() + bytes(data[end:])


KINDS: dict[str, Damage] = {
    f.__name__: f
    for f in (
        bit, bits, unit, swap, regions, header, front, back, cut, short, pad, foreign, swapped_bytes, shift, lost,
        zeros, hole, bare, page, twice, copied, reversed_words,
    )
}  # fmt: skip


def damaged(original: bytes, kind: str, seed: int, other: bytes) -> bytes:
    """A damaged copy that differs from the original."""
    for attempt in range(50):
        rng = random.Random(f"{kind}-{seed}-{attempt}")
        out = KINDS[kind](bytearray(original), rng, other)
        if out != original:
            return out
    raise AssertionError(f"{kind} does not change this file")


# -- numbers ---------------------------------------------------------------------------------------------------

Array = Any


def words(values: Array) -> Array:
    """The numbers as unsigned integers of their own width, in place."""
    return values.reshape(-1).view({1: "u1", 2: "u2", 4: "u4", 8: "u8"}[values.dtype.itemsize])


def stretch(flat: Array, rng: random.Random) -> Array:
    """All of an array, or some of it."""
    if rng.random() < 0.4:
        return flat
    size = max(2, int(len(flat) * rng.choice([0.001, 0.01, 0.1, 0.5])))
    at = rng.randrange(max(1, len(flat) - size))
    return flat[at : at + size]


def preserving(values: Array, rng: random.Random) -> None:
    """Some units moved from one number to another: every sum is kept."""
    rows = words(values).reshape(len(values), -1)
    for _ in range(rng.choice([1, 1, 60])):
        row = rows[rng.randrange(len(rows))]
        a, b = rng.randrange(len(row)), rng.randrange(len(row))
        by = rng.choice([1, 3, 150])
        if row[a] >= by and row[b] <= np.iinfo(row.dtype).max - by:
            row[a] -= by
            row[b] += by


def stuck(values: Array, rng: random.Random) -> None:
    """A bit that is always set, or never."""
    flat = stretch(words(values), rng)
    mask = flat.dtype.type(1 << rng.randrange(8 * flat.dtype.itemsize))
    if rng.random() < 0.5:
        flat |= mask
    else:
        flat &= ~mask


def scaled(values: Array, rng: random.Random) -> None:
    """Numbers multiplied by something near one, or not near."""
    flat = stretch(values.reshape(-1), rng)
    flat[:] = (flat * rng.choice([0.5, 0.99, 0.9999, 1.0001])).astype(flat.dtype)


def by_n(values: Array, rng: random.Random) -> None:
    """Numbers up or down by a few units, all or some of them."""
    flat = stretch(words(values), rng)
    step = rng.choice([1, 1, 3, 300])
    flat[::step] += flat.dtype.type(rng.choice([1, 3, np.iinfo(flat.dtype).max]))


def turned(values: Array, rng: random.Random) -> None:
    """Transposed where that can be, else from last to first."""
    if values.ndim > 1 and values.shape[0] == values.shape[1]:
        values[:] = values.swapaxes(0, 1).copy()
    else:
        values[:] = values[::-1].copy()


def shuffled(values: Array, rng: random.Random) -> None:
    """Rows in another order, all or some."""
    some = stretch(values, rng)
    some[:] = some[rng.sample(range(len(some)), len(some))]


def exchanged(values: Array, rng: random.Random) -> None:
    """Two rows, or two numbers, exchanged."""
    where = values if rng.random() < 0.5 else values.reshape(-1)
    a, b = rng.randrange(len(where)), rng.randrange(len(where))
    where[[a, b]] = where[[b, a]]


def mirrored(values: Array, rng: random.Random) -> None:
    """Every bit the other way."""
    flat = stretch(words(values), rng)
    flat[:] = ~flat


def columns(values: Array, rng: random.Random) -> None:
    """Two columns exchanged, or one put in the place of another."""
    wide = values.reshape(len(values), -1)
    a, b = rng.randrange(wide.shape[1]), rng.randrange(wide.shape[1])
    wide[:, a] = wide[:, b].copy()


def flipped(values: Array, rng: random.Random) -> None:
    """One bit of one number."""
    flat = words(values)
    flat[rng.randrange(len(flat))] ^= flat.dtype.type(1 << rng.randrange(8 * flat.dtype.itemsize))


def random_numbers(values: Array, rng: random.Random) -> None:
    """Noise."""
    flat = stretch(values.reshape(-1).view(np.uint8), rng)
    flat[:] = np.frombuffer(rng.randbytes(len(flat)), np.uint8)


def row_over(values: Array, rng: random.Random) -> None:
    """A whole row copied over another."""
    a, b = rng.randrange(len(values)), rng.randrange(len(values))
    values[a] = values[b].copy()


def negated(values: Array, rng: random.Random) -> None:
    """One column with the other sign; of unsigned numbers their complement to nought."""
    wide = values.reshape(len(values), -1)
    column = wide[:, rng.randrange(wide.shape[1])]
    with np.errstate(over="ignore"):
        column[:] = (np.zeros((), values.dtype) - column).astype(values.dtype)


def rotated(values: Array, rng: random.Random) -> None:
    """Rows, or columns, one place on, the last one first."""
    axis = rng.randrange(values.ndim)
    values[:] = np.roll(values, rng.choice([-1, 1]), axis=axis)


def narrowed(values: Array, rng: random.Random) -> None:
    """Numbers that went through a narrower float."""
    through = np.float16 if rng.random() < 0.5 else np.float32
    if values.dtype.kind == "f":
        values[:] = values.astype(through).astype(values.dtype)
    else:  # of whole numbers their share of the greatest
        most = float(np.iinfo(values.dtype).max)
        back = (values / most).astype(through).astype(np.float64) * most
        values[:] = np.floor(back if rng.random() < 0.5 else back + 0.5).clip(0, most).astype(values.dtype)


def in_order(values: Array, rng: random.Random) -> None:
    """Rows sorted by their numbers."""
    wide = values.reshape(len(values), -1)
    values[:] = values[np.lexsort(wide.T[::-1])]


def other_order(values: Array, rng: random.Random) -> None:
    """Numbers in the other byte order, all or some."""
    flat = stretch(values.reshape(-1), rng)
    flat.byteswap(inplace=True)


def last_again(values: Array, rng: random.Random) -> None:
    """The last rows once more in the place of those before them."""
    size = max(1, int(len(values) * rng.choice([0.01, 0.1, 0.5])))
    before = values[-2 * size : -size]
    before[:] = values[len(values) - len(before) :]


def crossed(values: Array, rng: random.Random) -> None:
    """A unit moved in two rows, forth in one and back in the other: sums of rows and of columns are kept."""
    rows = words(values).reshape(len(values), -1)
    a, b = rng.randrange(len(rows)), rng.randrange(len(rows))
    c, d = rng.randrange(rows.shape[1]), rng.randrange(rows.shape[1])
    rows[a, c] += 1
    rows[a, d] -= 1
    rows[b, c] -= 1
    rows[b, d] += 1


def symmetric(values: Array, rng: random.Random) -> None:
    """One side of the diagonal put over the other; of a table that is no square the first half over the second."""
    if values.ndim > 1 and values.shape[0] == values.shape[1]:
        above = np.triu_indices(len(values), 1)
        values[above[::-1]] = values[above].copy()
    else:
        half = len(values) // 2
        values[len(values) - half :] = values[:half].copy()


def every_nth(values: Array, rng: random.Random) -> None:
    """One bit of every second, fourth, ... number always set, as of a memory chip."""
    flat, step = words(values), rng.choice([2, 4, 8, 64])
    flat[rng.randrange(step) :: step] |= flat.dtype.type(1 << rng.randrange(8 * flat.dtype.itemsize))


def neighbour(values: Array, rng: random.Random) -> None:
    """One number or all a last bit on, or a zero with the other sign."""
    flat = words(values)
    zeros = np.flatnonzero(flat == 0)
    if values.dtype.kind == "f" and len(zeros) and rng.random() < 0.3:
        flat[rng.choice(zeros.tolist())] = flat.dtype.type(1 << (8 * flat.dtype.itemsize - 1))
    elif rng.random() < 0.5:
        flat[rng.randrange(len(flat))] += 1
    else:
        flat += 1


VALUES: dict[str, Callable[[Array, random.Random], None]] = {
    f.__name__: f
    for f in (
        preserving, stuck, scaled, by_n, turned, shuffled, exchanged, mirrored, columns, flipped, random_numbers,
        row_over, negated, rotated, narrowed, in_order, other_order, last_again, crossed, symmetric, every_nth,
        neighbour,
    )
}  # fmt: skip


def damaged_table(table: Any, kind: str, seed: int) -> Any | None:
    """A table with altered numbers; None where this kind of damage changes nothing of it."""
    names = sorted(table.arrays())
    for attempt in range(10):
        rng = random.Random(f"{kind}-{seed}-{attempt}")
        name = rng.choice(names)
        values = np.array(table.arrays()[name])
        before = values.tobytes()
        with np.errstate(all="ignore"):
            VALUES[kind](values, rng)
        if values.tobytes() != before:
            return replace(table, **{name: values})
    return None


def another_size(table: Any, seed: int) -> Any | None:
    """The numbers of a table under another size, plausible in itself: header and length agree, and both are wrong.

    Rows are repeated where there are too few; the first is dropped, so that no smaller table is right. None where no
    other size near its own is allowed.
    """
    rng = random.Random(f"another size-{seed}")
    sizes = [(table.points + a, table.chequers + b) for a in (-2, -1, 0, 1, 2) for b in (-1, 0, 1) if a or b]
    rng.shuffle(sizes)
    for points, chequers in sizes:
        if points < 1 or chequers < 1:
            continue
        arrays = {}
        for name, rows in table.arrays().items():
            rule = next(rule for rule in table.rules(points, chequers) if rule.name == name)
            fitting = [shape for shape in rule.shapes if len(shape) == rows.ndim]
            if not fitting:
                break
            shape = tuple(b if a is None else a for a, b in zip(fitting[0], rows.shape, strict=True))
            if np.prod(shape, dtype=object) > 4 * rows.size:
                break
            arrays[name] = np.resize(np.asarray(rows)[1:], shape)
            if (arrays[name] == arrays[name].flat[0]).all():
                break  # a table in which every number is the same may be a true one
        else:
            with contextlib.suppress(TypeError, ValueError, BgfmtError):
                made = replace(table, points=points, chequers=chequers, carried=(), **arrays)
                if made.check() is None:
                    return made
    return None
