"""The lower rungs: structure (header, layout, size) and sense (sums and bounds)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.database import Database
from bgfmt.storage import Source
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided
from bgfmt.verifier.report import Finding

HEADER = 40
J_BLOCKS = 2048  # where the blocks of a J file begin
J_MOST = 8192
SLACK = 16  # units by which truncation may turn round two nearly equal equities


def canonical_header(table: Table) -> bytes:
    """The header GNU Backgammon's programs write for this table; empty where they write none or it has none."""
    from bgfmt.formats.gnubg import header as gnubg

    if not table.extra.get("gnubg_header"):
        return b""
    if isinstance(table, TwoSided):
        return gnubg.canonical_two_sided(table.points, table.chequers, cubeful=table.cubeful)
    if isinstance(table, Hypergammon):
        return gnubg.canonical_hyper(table.chequers)
    normal = isinstance(table, NormalOneSided)
    gammon = normal or (isinstance(table, OneSided) and table.gammon is not None)
    return gnubg.canonical_one_sided(
        table.points,
        table.chequers,
        gammon=gammon,
        compressed=not normal and bool(table.extra.get("compressed")),
        normal=normal,
    )


def structure(db: Database) -> Iterator[Finding]:
    """Header bytes that no program writes, and bytes that belong to no table."""
    table = db.table
    wanted = canonical_header(table)
    have = bytes(table.extra.get("gnubg_header") or b"")
    start = table.extra["extent"].offset if "extent" in table.extra else 0
    wrong = [k for k in range(len(wanted)) if have[k] != wanted[k]]
    if wrong:
        k = wrong[0]
        yield Finding(
            "structure",
            f"{len(wrong)} of the {HEADER} header bytes are not as written; first: byte {start + k}: "
            f"expected {bytes(wanted[k : k + 1])!r}, found {bytes(have[k : k + 1])!r}",
            kind="layout",
            offset=start + k,
            expected=wanted[k],
            found=have[k],
        )
    if db.rest:
        at = db.source.size - db.rest
        yield Finding(
            "structure",
            f"{db.rest:,} bytes after byte {at:,} belong to no table",
            kind="layout",
            offset=at,
            expected="the end of the file",
            found=f"{db.rest} more bytes",
        )


class Compared:
    """Takes what a format writes and holds it against the bytes of the file."""

    def __init__(self, source: Source, offset: int, begin: int = 0) -> None:
        self.source, self.offset, self.begin, self.written = source, offset, begin, 0
        self.name = source.name
        self.wrong = 0
        self.first: tuple[int, int, int | None] | None = None

    def write(self, data: Any) -> None:
        """Compare the next bytes."""
        self.write_at(self.written, data)
        self.written += data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)

    def write_at(self, offset: int, data: Any) -> None:
        """Compare bytes at an offset."""
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        mine = np.frombuffer(data, np.uint8)
        early = min(len(mine), max(0, self.begin - offset))
        mine, at = mine[early:], self.offset + offset + early
        stored = np.frombuffer(self.source.buffer[at : at + len(mine)], np.uint8)
        differ = np.flatnonzero(stored != mine[: len(stored)])
        self.wrong += len(differ) + len(mine) - len(stored)
        if len(differ) and (self.first is None or at + int(differ[0]) < self.first[0]):
            k = int(differ[0])
            self.first = (at + k, int(mine[k]), int(stored[k]))
        elif len(stored) < len(mine) and self.first is None:
            self.first = (self.source.size, int(mine[len(stored)]), None)

    def skip(self, size: int) -> None:
        """Leave room for what `write_at` compares later."""
        self.written += size

    def flush(self) -> None:
        """Nothing waits."""


def layout(db: Database) -> Iterator[Finding]:
    """Bytes that differ from what the format writes for the very same numbers."""
    table = db.table
    if db.format.name not in ("gnubg-os", "bgsage", "jfile") or "extent" not in table.extra:
        return
    if db.format.name == "gnubg-os" and not table.extra.get("compressed"):
        return
    foreign = (
        db.format.name == "jfile"
    )  # its header and directory depend on how the file grew; its blocks do not
    sink = Compared(db.source, table.extra["extent"].offset, J_BLOCKS if foreign else 0)
    left_out = {"bgsage", "jfile"}
    extra = {key: value for key, value in table.extra.items() if key not in left_out}
    db.format.write(replace(table, extra=extra), sink)  # type: ignore[arg-type]
    if foreign and (sink.written != db.source.size or sink.wrong > J_MOST):
        return  # a file laid out otherwise, as J's library leaves it after changes
    if sink.wrong:
        assert sink.first is not None
        at, wanted, found = sink.first
        yield Finding(
            "structure",
            f"{sink.wrong:,} bytes of the layout are not as written; first: byte {at:,}: "
            f"expected {wanted:#04x}, found {'the end' if found is None else f'{found:#04x}'}",
            kind="layout",
            offset=at,
            expected=wanted,
            found=found,
        )


def sense(table: Table) -> Iterator[Finding]:
    """What theory says of every entry: sums, bounds, order. One pass; the first breach of each rule is named."""
    named: set[str] = set()
    for rows, block in table.blocks():
        for rule, bad, what in _breaches(table, rows.start, block):
            if rule in named or not bad.any():
                continue
            named.add(rule)
            number = rows.start + int(bad.argmax())
            yield Finding("sense", f"row {number:,}: {what}", position_number=number)


def _breaches(table: Table, start: int, block: dict[str, NDArray[Any]]) -> Iterator[tuple[str, Any, str]]:
    if isinstance(table, OneSided):
        whole = 1.0 if table.exact else 65535
        for name, rows in block.items():
            sums = rows.sum(axis=1, dtype=np.float64)
            yield (
                f"sum of {name}",
                np.abs(sums - whole) > 1e-9 * whole,
                f"its {name} numbers do not add up to {whole:,}",
            )
        bearoff = block["bearoff"]
        early = bearoff[:, 0] != 0
        if start == 0:
            early[0] = False
        yield "off at once", early, "chequers on the board cannot be off after 0 rolls"
    elif isinstance(table, NormalOneSided):
        moments = block["moments"]
        good = np.isfinite(moments).all(axis=1) & (moments >= 0).all(axis=1)
        yield "finite", ~good, "a mean or deviation is negative or not a number"
    elif isinstance(table, MeanRolls):
        means = block["means"]
        good = np.isfinite(means) & (means >= 0)
        yield "finite", ~good, "a mean is negative or not a number"
    elif isinstance(table, TwoSided):
        equities = block["equities"]
        if equities.dtype != np.uint16:
            bad = ~(np.isfinite(equities) & (np.abs(equities) <= 1 + 1e-9)).all(axis=(1, 2))
            yield "bounds", bad, "an equity is not a number from -1 to 1"
            return
        over = np.asarray(equities[:, 0].max(axis=1) != 0)
        if start == 0:
            over[0] = False
            yield "won", (equities[:1] != 0xFFFF).any(axis=(1, 2)), "a side without chequers has won"
        yield "lost", over, "a side whose opponent has no chequers left has lost"
        if equities.shape[2] == 4:
            owned, centered, opponent = (equities[..., c].astype(np.int32) for c in (1, 2, 3))
            bad = (owned + SLACK < centered).any(axis=1) | (centered + SLACK < opponent).any(axis=1)
            yield "cube", bad, "owning the cube is worth less than the centre, or that less than facing it"
    elif isinstance(table, Hypergammon):
        yield "zero byte", block["records"][..., 27].any(axis=1), "the last byte of a record is not zero"
