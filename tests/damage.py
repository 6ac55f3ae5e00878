"""Seeded damage: ways a database file goes wrong, for the tests of the verifier and of repair."""

from __future__ import annotations

import random
from collections.abc import Callable

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
    size = min(size, (len(data) - HEADER) // 4)
    slots = (len(data) - HEADER) // size
    for _ in range(100):
        a, b = (HEADER + size * k for k in rng.sample(range(slots), 2))
        if data[a : a + size] != data[b : b + size]:
            break
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    return bytes(data)


def header(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """A wrong digit in the header."""
    places = [k for k in range(6, 20) if chr(data[k]).isdigit()]
    k = rng.choice(places)
    data[k] = rng.choice([c for c in b"0123456789" if c != data[k]])
    return bytes(data)


def cut(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Cut short."""
    return bytes(data[: rng.randrange(1, len(data))])


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


def zeros(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """All zeros under the header."""
    return bytes(data[:HEADER]) + bytes(len(data) - HEADER)


def bare(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    """Nothing but the header."""
    return bytes(data[:HEADER])


KINDS: dict[str, Damage] = {
    f.__name__: f
    for f in (bit, bits, unit, swap, header, cut, pad, foreign, swapped_bytes, shift, zeros, bare)
}


def damaged(original: bytes, kind: str, seed: int, other: bytes) -> bytes:
    """A damaged copy that differs from the original."""
    for attempt in range(50):
        rng = random.Random(f"{kind}-{seed}-{attempt}")
        out = KINDS[kind](bytearray(original), rng, other)
        if out != original:
            return out
    raise AssertionError(f"{kind} does not change this file")
