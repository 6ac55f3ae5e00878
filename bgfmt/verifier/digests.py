"""Published sums of known databases."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from bgfmt.storage import Source

CHUNK = 8 << 20


@cache
def known() -> tuple[dict[str, Any], ...]:
    """The entries of data/digests.toml."""
    text = (files("bgfmt") / "data" / "digests.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["file"])


def candidates(source: Source) -> list[dict[str, Any]]:
    """Known files of this size or, where a size was never published, with this header."""
    head = bytes(source.buffer[:20]).decode("latin-1")
    return [
        entry
        for entry in known()
        if (entry["size"] == source.size if entry["size"] else head.startswith(entry["header"]))
    ]


def sums(source: Source, kinds: set[str]) -> dict[str, str]:
    """Hexadecimal sums of a whole file, read once."""
    made = {kind: hashlib.new(kind, usedforsecurity=False) for kind in kinds}
    for start in range(0, source.size, CHUNK):
        piece = source.buffer[start : start + CHUNK]
        for sum_ in made.values():
            sum_.update(piece)
        source.release()
    return {kind: sum_.hexdigest() for kind, sum_ in made.items()}


def identify(source: Source) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """(the known file with this file's sum, or None; known files of its size)."""
    same_size = candidates(source)
    if not same_size:
        return None, []
    made = sums(source, {entry["kind"] for entry in same_size})
    for entry in same_size:
        if made[entry["kind"]] == entry["sum"]:
            return entry, same_size
    return None, same_size
