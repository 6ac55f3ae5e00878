"""Checksums of a file and of its blocks, so that each part of a download can be checked by itself.

A file is cut into blocks of 1 MiB, the last one shorter. The checksum of a block is the SHA-256 of a zero byte
followed by its bytes; two neighbours are combined to the SHA-256 of a one byte and both, level by level, an odd
last one being passed up unchanged, until one is left: the root (the Merkle tree of RFC 6962). A list of
checksums with the right root is right, and each block can be checked by the list alone. A list is a file of 32
bytes per block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from bgfmt.errors import FormatError
from bgfmt.storage.source import Source

BLOCK = 1 << 20
CHECKSUM_BYTES = 32  # of a SHA-256


@dataclass(frozen=True)
class FileChecksums:
    """Hexadecimal checksums of a whole file, and the concatenated 32-byte checksums of its blocks."""

    size: int
    md5: str
    sha256: str
    blocks: bytes

    @property
    def root(self) -> str:
        """The root of the tree of block checksums (see `compute_root`), hexadecimal."""
        return compute_root(self.blocks)


def compute_checksums(source: Source) -> FileChecksums:
    """Compute MD5, SHA-256 and the checksums of the 1 MiB blocks of a source in one pass."""
    md5 = hashlib.md5(usedforsecurity=False)
    sha256 = hashlib.sha256()
    blocks = bytearray()
    for piece in _blocks(source):
        md5.update(piece)
        sha256.update(piece)
        blocks += hash_block(piece)
    return FileChecksums(source.size, md5.hexdigest(), sha256.hexdigest(), bytes(blocks))


def hash_block(piece: bytes | memoryview) -> bytes:
    """Return the 32-byte checksum of one block: SHA-256 of a zero byte and the block."""
    return hashlib.sha256(b"\0" + bytes(piece)).digest()


def compute_root(blocks: bytes) -> str:
    """Compute the root of the hash tree over concatenated 32-byte block checksums, hexadecimal.

    FormatError if their length is zero or no multiple of 32.

    >>> compute_root(hash_block(b"a") + hash_block(b"b") + hash_block(b"c"))[:16]
    '36642e73c2540ab1'
    """
    if not blocks or len(blocks) % CHECKSUM_BYTES:
        raise FormatError(
            f"a list of checksums must have {CHECKSUM_BYTES} bytes for each block, not {len(blocks)} bytes"
        )
    level = _split(blocks)
    while len(level) > 1:
        pairs = [b"".join(level[k : k + 2]) for k in range(0, len(level), 2)]
        level = [
            hashlib.sha256(b"\1" + pair).digest() if len(pair) > CHECKSUM_BYTES else pair for pair in pairs
        ]
    return level[0].hex()


def find_damaged_blocks(source: Source, blocks: bytes) -> list[int]:
    """Return the indices of the 1 MiB blocks of a source whose checksum differs from the expected one.

    The source may be the first part of a download: blocks beyond its end are ignored, a truncated block
    differs.

    blocks : the expected 32-byte checksums, concatenated.
    """
    expected = _split(blocks)
    return [
        k
        for k, (own, piece) in enumerate(zip(expected, _blocks(source), strict=False))
        if hash_block(piece) != own
    ]


def _blocks(source: Source) -> Iterator[memoryview]:
    """Yield the 1 MiB blocks of a source."""
    for start in range(0, source.size, BLOCK):
        yield source.buffer[start : start + BLOCK]
        source.release()


def _split(blocks: bytes) -> list[bytes]:
    """Return concatenated checksums one by one."""
    return [blocks[at : at + CHECKSUM_BYTES] for at in range(0, len(blocks), CHECKSUM_BYTES)]
