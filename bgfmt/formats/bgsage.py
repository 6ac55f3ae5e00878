"""bgsage's one-sided file, `bearoff_1sided.db`.

offset          type      content                                              source
0               7 x u32   magic "RAEB", version 1, points 6, chequers 15,       the file of PyPI bgsage 2.0
                          columns 32, positions 54264, gammon rows G
28              u16       bearoff distributions, N x 32
28 + 64 N       f32       mean rolls, N
28 + 68 N       i32       row of the gammon section, or -1, N
28 + 72 N       u16       G x 32, chance (parts of 65535) that no chequer is off after k rolls
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from construct import Const, Int32ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError, HeaderError
from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import LazyRows, OneSided, Rows, Table

POINTS, CHEQUERS, ROLLS = 6, 15, 32
N = board.count(POINTS, CHEQUERS)
FULL = board.count(POINTS, CHEQUERS - 1)  # the first position with all fifteen chequers
MAGIC = b"RAEB"
HEADER = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(1, Int32ul),
    "points" / Const(POINTS, Int32ul),
    "chequers" / Const(CHEQUERS, Int32ul),
    "columns" / Const(ROLLS, Int32ul),
    "positions" / Const(N, Int32ul),
    "gammon_rows" / Int32ul,
)
SIZE = 28


class Bgsage(Format):
    name = "bgsage"
    title = "bgsage one-sided"
    suffixes = (".db",)
    carries = (OneSided,)
    options = (Option("gammon", bool, "write the gammon section"),)

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(MAGIC)

    def read(self, source: Source, offset: int = 0, **described: Any) -> OneSided:
        rows = source.header(HEADER, SIZE, offset).gammon_rows
        if rows > N:
            raise HeaderError(source.name, "gammon_rows", offset + 24, f"at most {N}", rows)
        at = offset + SIZE
        bearoff = source.array("<u2", (N, ROLLS), at, "distributions")
        means = source.array("<f4", (N,), at + 64 * N, "means")
        where = source.array("<i4", (N,), at + 68 * N, "gammon index")
        survival = source.array("<u2", (rows, ROLLS), at + 72 * N, "gammon section")
        bad = (where < -1) | (where >= rows)
        if bad.any():
            number = int(bad.argmax())
            raise CorruptError(
                source.name, at + 68 * N + 4 * number, f"-1 or a row below {rows}", int(where[number]), number
            )
        gammon = (
            LazyRows((N, ROLLS), "<u2", lambda a, b: _distribution(where[a:b], survival)) if rows else None
        )
        extra = {
            "format": self.name,
            "gammon_policy": "race",
            "bgsage": (means, where, survival),
            "extent": Extent(offset, SIZE + 72 * N + 64 * rows),
        }
        return OneSided(
            points=POINTS,
            chequers=CHEQUERS,
            bearoff=bearoff,
            gammon=gammon,
            provenance=source.name,
            extra=extra,
            release=source.release,
        )

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        assert isinstance(table, OneSided)
        wanted = options.get("gammon", table.gammon is not None)
        if wanted and table.gammon is None:
            raise CapabilityError("the table has no gammon distributions; solve it anew to get them")
        bearoff = np.asarray(table.bearoff)
        kept = table.extra.get("bgsage") if wanted == (table.gammon is not None) else None
        if kept is not None:
            means, where, survival = kept
        else:
            means, where, survival = _parts(bearoff, table.gammon if wanted else None)
        sink.write(HEADER.build({"gammon_rows": len(survival)}))
        for array in (bearoff.astype("<u2", copy=False), means, where, survival):
            sink.write(array)

    def accept(self, table: Table) -> None:
        super().accept(table)
        if (table.points, table.chequers) != (POINTS, CHEQUERS):
            raise CapabilityError(
                f"bgsage holds 6 points and 15 chequers only, not {table.points} and {table.chequers}"
            )
        if table.exact:
            raise CapabilityError("bgsage holds 16-bit integers, not exact float64 chances; npz holds those")

    def losses(self, table: Table, options: Mapping[str, Any]) -> list[str]:
        if not isinstance(table, OneSided) or table.gammon is None:
            return []
        if options.get("gammon") is False:
            return ["the gammon distributions are dropped"]
        if table.extra.get("gammon_policy") != "race":
            return [
                "bgsage's gammon part follows the race's plays; these are the plays that save the gammon, "
                "and the file cannot say so"
            ]
        return []

    def info(self, table: Table) -> dict[str, Any]:
        assert isinstance(table, OneSided)
        note = "its gammon part follows the race's plays (gnubg's follows those that save the gammon)"
        return {
            "gammon": table.gammon is not None,
            "gnubg_name": None,
            "gnubg_reads": False,
            "notes": [note] if table.gammon is not None else [],
        }


def _distribution(where: NDArray[Any], survival: NDArray[Any]) -> NDArray[np.uint16]:
    """Chances, parts of 65535, that the first chequer comes off in exactly k rolls, from survival rows."""
    out = np.zeros((len(where), ROLLS), np.uint16)
    out[:, 0] = 65535
    have = where >= 0
    rows = survival[where[have]]
    out[have, 0] = 65535 - rows[:, 0]
    out[have, 1:] = rows[:, :-1] - rows[:, 1:]
    return out


def _parts(bearoff: NDArray[Any], gammon: Rows | None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Means, gammon index and survival rows, as bgsage lays them out, of finished distributions."""
    where = np.full(N, -1, "<i4")
    survival = np.zeros((0, ROLLS), "<u2")
    if gammon is not None:
        where[FULL:] = np.arange(N - FULL)
        gone = np.cumsum(np.asarray(gammon[FULL:N], np.int64), axis=1)
        survival = np.maximum(65535 - gone, 0).astype("<u2")
    return _means(bearoff), where, survival


def _means(bearoff: NDArray[Any]) -> NDArray[Any]:
    """Mean rolls as bgsage sums them: roll by roll in float64, then float32."""
    total = np.zeros(len(bearoff))
    for roll in range(ROLLS):
        total += roll * (bearoff[:, roll] / 65535.0)
    return total.astype("<f4")
