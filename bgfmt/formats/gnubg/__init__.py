"""GNU Backgammon's databases: one module a kind, the header they share, and what gnubg reads in one.

`read_header` and `size_said` are for hosts that must know what gnubg would make of a file.
"""

from __future__ import annotations

from bgfmt.formats.gnubg.header import FOUR_GIB, SIZE, Said
from bgfmt.formats.gnubg.header import kind as kind_of
from bgfmt.formats.gnubg.header import read as read_header
from bgfmt.game import board

__all__ = ["FOUR_GIB", "SIZE", "Said", "kind_of", "read_header", "size_said"]


def size_said(said: Said) -> int | None:
    """Bytes of the whole file that a header promises; None for a compressed one, whose index has to be read."""
    n = board.count(said.points, said.chequers)
    if said.kind == "TS":
        return SIZE + n * n * (8 if said.cubeful else 2)
    if said.kind == "H":
        return SIZE + n * n * 28
    if said.kind == "ND":
        return SIZE + n * 16
    if said.compressed:
        return None
    return SIZE + n * (128 if said.gammon else 64)
