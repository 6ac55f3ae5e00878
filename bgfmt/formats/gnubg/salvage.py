"""What a damaged file of gnubg's may have been: by its header, its size, and its numbers turned round or shifted.

Every header that gnubg's programs write is held against the file's own first 40 bytes. One wrong digit in an intact
header is far likelier than a body of exactly another kind's size, so the size counts like eight bytes of the header.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bgfmt.errors import BgfmtError
from bgfmt.formats.base import Salvage
from bgfmt.formats.gnubg.header import SIZE, Said
from bgfmt.storage import Source

if TYPE_CHECKING:
    from bgfmt.formats.gnubg.family import GnubgFormat

LEAST_SAME = 30  # of 40 header bytes
FOR_SIZE = 8
MOST = 12  # headers of one kind that are tried
MOST_BYTES = 2 << 30


def candidates(form: GnubgFormat[Any], source: Source) -> Iterator[Salvage]:
    """The tables of one of gnubg's formats that a file may have been, the likeliest first."""
    if source.size < SIZE or source.size > MOST_BYTES:
        return
    own, body = source.bytes(0, SIZE), source.bytes(SIZE, source.size - SIZE)
    scored = sorted(_near(form, own, source.size), key=lambda pair: -pair[0])[:MOST]
    for near, said in scored:
        yield from _read(form, said, body, source.name, near, own)
    even = len(body) & ~1
    turned = np.frombuffer(body[:even], "<u2").byteswap().tobytes() + body[even:]
    for near, said in scored[:2]:
        later = near / 2
        yield from _read(form, said, turned, source.name, later, own, "its bytes were in the other order")
        for by in (1, 2, 8):
            how = f"its body was shifted by {by} bytes"
            yield from _read(form, said, body[by:], source.name, later, own, how)
            how = f"its body was shifted by -{by} bytes"
            yield from _read(form, said, bytes(by) + body, source.name, later, own, how)


def _near(form: GnubgFormat[Any], own: bytes, size: int) -> Iterator[tuple[float, Said]]:
    for said in form.every():
        same = sum(a == b for a, b in zip(own, said.canonical, strict=True))
        if same >= LEAST_SAME:
            numbers = form.numbers(said)
            fits = numbers is not None and SIZE + numbers == size
            yield (same + FOR_SIZE * fits) / (SIZE + FOR_SIZE), said


def _read(
    form: GnubgFormat[Any], said: Said, body: bytes, name: str, near: float, own: bytes, how: str = ""
) -> Iterator[Salvage]:
    try:
        found = form.from_body(said, body, name)
    except (BgfmtError, ValueError):
        return
    if found is not None:
        yield replace(found, near=near, sure=said.canonical[:20] == own[:20], how=how)


def fitting(form: GnubgFormat[Any], source: Source) -> Iterator[str]:
    """Tables, in words, whose file of this format would have just this size, header included."""
    for said in form.every():
        numbers = form.numbers(said)
        if numbers is not None and SIZE + numbers == source.size:
            yield form.in_words(said)
