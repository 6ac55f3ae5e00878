"""A reader of bgfmt-ts files in plain Python, written from docs/formats/bgfmt-ts.md alone: slow, no code of bgfmt."""

from __future__ import annotations

import struct
import zlib

Record = tuple[int, ...]
Shifts = tuple[bytes, bytes, bytes]


def summed(data: bytes, start: int, end: int) -> None:
    """The four bytes before `end` are the CRC-32 of those from `start`."""
    assert zlib.crc32(data[start : end - 4]) == int.from_bytes(data[end - 4 : end], "little")


class Units:
    """A stream of a block: its state, and the units behind it."""

    def __init__(self, units: list[int]) -> None:
        self.x = units[0] | units[1] << 16
        self.rest = units[2:]

    def filled(self) -> None:
        if self.x < 65536:
            self.x = self.x << 16 | self.rest.pop(0)

    def low_bits(self, m: int) -> int:
        if m == 0:
            return 0
        low = self.x % (1 << m)
        self.x >>= m
        self.filled()
        return low

    def symbol(self, frequencies: list[int]) -> int:
        slot, begin = self.x % 4096, 0
        for i, many in enumerate(frequencies):
            if slot < begin + many:
                self.x = many * (self.x >> 12) + slot - begin
                self.filled()
                return i
            begin += many
        raise AssertionError


def block(data: bytes, kinds: list[int], count: int, classes: list[list[int]]) -> list[list[int]]:
    """The residuals of a block, a list a record."""
    units = [int.from_bytes(data[k : k + 2], "little") for k in range(0, len(data), 2)]
    first, second = Units(units), Units(units[::-1])
    half = (count + 1) // 2
    out = [record(first if k < half else second, kinds, classes) for k in range(count)]
    assert first.x == second.x == 65536
    assert len(first.rest) + len(second.rest) == len(units)
    return out


def record(units: Units, kinds: list[int], classes: list[list[int]]) -> list[int]:
    """The residuals of the next record."""
    out = []
    for kind in kinds:
        if kind == 0:
            out.append(0)
            continue
        shift, frequencies = classes[kind][0], classes[kind][1:]
        i = units.symbol(frequencies)
        out.append(units.low_bits(16) if i == 63 else (i - 31 << shift) + units.low_bits(shift))
    return out


def read(data: bytes) -> dict[tuple[int, int], Record]:
    """Every record of a table, by the position numbers of both sides."""
    magic, version, _, chequers, columns, power, groups, n, facts, size = struct.unpack_from(
        "<8sH4BHIIQ", data
    )
    assert (magic, size) == (b"bgfmt-ts", len(data))
    assert version in (1, 3, 4)
    assert chequers
    summed(data, 0, 64)
    classes = [list(struct.unpack_from("<65H", data, 64 + 130 * q)) for q in range(16)]
    strips = struct.unpack_from(f"<{groups + 1}Q", data, 2144)
    order = struct.unpack_from(f"<{n}I", data, 2152 + 8 * groups)
    summed(data, 64, strips[0])
    assert strips[0] == 2152 + 8 * groups + 4 * n + facts + 4
    edges = [g * n // groups for g in range(groups + 1)]
    out: dict[tuple[int, int], Record] = {}
    for g in range(groups):
        out |= strip(data, strips[g], g, edges, order, columns, 1 << power, classes)
    return out


def strip(
    data: bytes, at: int, g: int, edges: list[int], order: tuple[int, ...], columns: int, size: int,
    classes: list[list[int]],
) -> dict[tuple[int, int], Record]:  # fmt: skip
    """The records of one strip."""
    groups, rows = len(edges) - 1, edges[g + 1] - edges[g]
    head = int.from_bytes(data[at : at + 4], "little")
    summed(data, at, at + head)
    place = at + 4
    tiles: list[list[Shifts]] = []
    for _ in range(groups):
        tiles.append([])
        for _ in range(columns):
            k, m, s = struct.unpack_from("<3H", data, place)
            place += 6
            tiles[-1].append((data[place:][:k], data[place + k :][:m], data[place + k + m :][:s]))
            place += k + m + s
    at += head
    index = struct.unpack_from(f"<{rows * groups + 1}Q", data, at)
    summed(data, at, at + 8 * len(index) + 4)
    at += 8 * len(index) + 4
    beside: list[list[bytes]] = []
    for j, tile in enumerate(tiles):
        wide = sum(2 * len(k) + len(m) + len(s) for k, m, s in tile)
        beside.append([])
        for _ in range(edges[j + 1] - edges[j]):
            summed(data, at, at + wide + 4)
            beside[-1].append(data[at : at + wide])
            at += wide + 4
    assert at == index[0]
    out = {}
    for row in range(rows):
        for j, tile in enumerate(tiles):
            begin, end = index[row * groups + j], index[row * groups + j + 1]
            summed(data, begin, end)
            found = segment(data[begin : end - 4], tile, beside[j], size, classes)
            for column, record in enumerate(found):
                out[order[edges[g] + row], order[edges[j] + column]] = record
    return out


def segment(
    data: bytes, tile: list[Shifts], beside: list[bytes], size: int, classes: list[list[int]]
) -> list[Record]:
    """The records of a row segment."""
    columns, width = len(tile), len(beside)
    many = -(-width // size)
    kept = 2 if columns == 4 else 1
    lengths = data[many * kept : many * (kept + 1)]
    at = many * (kept + 1)
    mine = data[at : at + (len(beside[0]) if beside else 0)]
    at += len(mine)
    out: list[Record] = []
    for b in range(many):
        count = min(size, width - b * size)
        halves = [data[b * kept + c // 2] >> 4 * (c % 2) & 15 for c in range(columns)]
        if lengths[b] == 255:
            for _ in range(count):
                out.append(struct.unpack_from(f"<{columns}H", data, at))
                at += 2 * columns
            continue
        end = at + 2 * lengths[b]
        residuals = block(data[at:end], halves, count, classes) if lengths[b] else [[0] * columns] * count
        at = end
        for k in range(count):
            predicted = predictions(mine, beside[b * size + k], tile)
            out.append(tuple((p + r) % 65536 for p, r in zip(predicted, residuals[k], strict=True)))
    assert at == len(data)
    return out


def predictions(mine: bytes, theirs: bytes, tile: list[Shifts]) -> list[int]:
    """What the factors say of a record."""
    out = []
    for shifts in tile:
        wide, narrow, pairs = map(len, shifts)
        sides = []
        for data in (mine, theirs):
            high, low = struct.unpack_from(f"<{wide}b", data), data[wide : 2 * wide]
            small = struct.unpack_from(f"<{narrow}b", data, 2 * wide)
            fours = data[2 * wide + narrow :][:pairs]
            sides.append(
                (
                    [256 * a + b for a, b in zip(high, low, strict=True)],
                    small,
                    [((b & 15 ^ 8) - 8, (b >> 4 ^ 8) - 8) for b in fours],
                )
            )
        mine, theirs = mine[2 * wide + narrow + pairs :], theirs[2 * wide + narrow + pairs :]
        (a, c, e), (b, d, f) = sides
        w = sum(x * y << s for x, y, s in zip(a, b, shifts[0], strict=True))
        n = sum(x * y << s for x, y, s in zip(c, d, shifts[1], strict=True))
        n += sum((x * y + u * v) << s for (x, u), (y, v), s in zip(e, f, shifts[2], strict=True))
        out.append(min(max(((w >> 10) + n + 8192 >> 14) + 32768, 0), 65535))
    return out
