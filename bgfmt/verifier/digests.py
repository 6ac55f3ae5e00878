"""Published sums of known databases."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from bgfmt.storage import Source
from bgfmt.verifier.findings import Finding, Rule

CHUNK = 8 << 20


@cache
def known() -> tuple[dict[str, Any], ...]:
    """The entries of data/digests.toml."""
    text = (files("bgfmt") / "data" / "digests.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["file"])


def candidates(source: Source) -> list[dict[str, Any]]:
    """Known files of this size and beginning; where a size was never published, of this beginning."""
    head = bytes(source.buffer[:20]).decode("latin-1")
    return [
        entry
        for entry in known()
        if head.startswith(entry.get("header", "")) and entry["size"] in (0, source.size)
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


def identify(source: Source) -> Iterator[Finding]:
    """The known file that has this file's sum; or the known files of its size and beginning, whose sum it has not."""
    same_size = candidates(source)
    if not same_size:
        return
    made = sums(source, {entry["kind"] for entry in same_size})
    for entry in same_size:
        if made[entry["kind"]] == entry["sum"]:
            said = f"{entry['name']} ({entry['kind']} published by: {entry['published_by']})"
            yield Finding(Rule.KNOWN, found=said, expected=entry["sum"])
            return
    if not any(entry["size"] for entry in same_size):
        return
    first = next(entry for entry in same_size if entry["size"])
    names = "; ".join(sorted({entry["name"] for entry in same_size}))
    kind = first["kind"]
    yield Finding(Rule.DIGEST, field=names, expected=f"{kind} {first['sum']}", found=f"{kind} {made[kind]}")
