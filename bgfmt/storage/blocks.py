"""Sums of a file and of its blocks, so that each part of a download can be checked by itself.

A file is cut into blocks of 1 MiB, the last one shorter. The sum of a block is the SHA-256 of a zero byte and its
bytes; two neighbours make the SHA-256 of a one byte and both, level by level, an odd last one going up as it is,
until one is left: the root (the tree of RFC 6962). A list of sums that has the root is right, and by the list
each block is checked alone. A list is a file of 32 bytes a block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bgfmt.errors import FormatError
from bgfmt.storage.source import Source

BLOCK = 1 << 20
CHUNK = 8 << 20
SUM = 32  # bytes


@dataclass(frozen=True)
class FileSums:
    """Hexadecimal sums of a whole file, and the sums of its blocks, one behind the other."""

    size: int
    md5: str
    sha256: str
    blocks: bytes

    @property
    def root(self) -> str:
        """The root of the blocks, hexadecimal."""
        return root_of(self.blocks)


def sums_of(source: Source, progress: Callable[[int, int], None] | None = None) -> FileSums:
    """All sums of a source, read once."""
    md5 = hashlib.md5(usedforsecurity=False)
    sha256 = hashlib.sha256()
    blocks = bytearray()
    for start in range(0, source.size, BLOCK):
        piece = source.buffer[start : start + BLOCK]
        md5.update(piece)
        sha256.update(piece)
        blocks += block_sum(piece)
        source.release()
        if progress is not None:
            progress(min(start + BLOCK, source.size), source.size)
    return FileSums(source.size, md5.hexdigest(), sha256.hexdigest(), bytes(blocks))


def digests_of(source: Source, kinds: Iterable[str]) -> dict[str, str]:
    """Hexadecimal digests of a whole file by kind, read once."""
    hashes = {kind: hashlib.new(kind, usedforsecurity=False) for kind in kinds}
    for start in range(0, source.size, CHUNK):
        piece = source.buffer[start : start + CHUNK]
        for digest in hashes.values():
            digest.update(piece)
        source.release()
    return {kind: digest.hexdigest() for kind, digest in hashes.items()}


def block_sum(piece: bytes | memoryview) -> bytes:
    """The sum of one block."""
    return hashlib.sha256(b"\0" + bytes(piece)).digest()


def root_of(blocks: bytes) -> str:
    """The root of the sums of blocks, hexadecimal; FormatError where they are no list of sums.

    >>> root_of(block_sum(b"a") + block_sum(b"b") + block_sum(b"c"))[:16]
    '36642e73c2540ab1'
    """
    if not blocks or len(blocks) % SUM:
        raise FormatError(f"a list of sums has {SUM} bytes a block, not {len(blocks)} bytes")
    level = [blocks[at : at + SUM] for at in range(0, len(blocks), SUM)]
    while len(level) > 1:
        pairs = [b"".join(level[k : k + 2]) for k in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + pair).digest() if len(pair) > SUM else pair for pair in pairs]
    return level[0].hex()


def differing(source: Source, blocks: bytes) -> list[int]:
    """Numbers of the blocks of a source, or of the first part of it, that are not as their sums say.

    Blocks that lie beyond its end are not looked at; a block that is cut off differs.
    """
    many = min(len(blocks) // SUM, -(-source.size // BLOCK))
    wrong = []
    for k in range(many):
        if block_sum(source.buffer[k * BLOCK : (k + 1) * BLOCK]) != blocks[k * SUM : (k + 1) * SUM]:
            wrong.append(k)
        source.release()
    return wrong
