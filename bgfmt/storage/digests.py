"""Checksums of whole files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from bgfmt.storage.source import Source

__all__ = ["compute_digests"]

CHUNK = 8 << 20


def compute_digests(source: Source, kinds: Iterable[str]) -> dict[str, str]:
    """Compute checksums of a whole file in one pass: {algorithm: hexadecimal digest}.

    kinds : names of hash algorithms as hashlib has them, such as "sha256".
    """
    hashes = {kind: hashlib.new(kind, usedforsecurity=False) for kind in kinds}
    for start in range(0, source.size, CHUNK):
        piece = source.buffer[start : start + CHUNK]
        for digest in hashes.values():
            digest.update(piece)
        source.release()
    return {kind: digest.hexdigest() for kind, digest in hashes.items()}
