"""bgsage's one-sided file, `bearoff_1sided.db`.

The structures follow the file of PyPI bgsage 2.0. The means follow from the distributions, and positions with all
fifteen chequers have gammon rows in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from construct import Array, Const, Float32l, Int16ul, Int32sl, Int32ul, Struct, this
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, HeaderError
from bgfmt.formats.base import ROLLS, Layout, Option, Options, Outlet, Reading, RollsFormat
from bgfmt.formats.records import AsRead, as_read, lasting
from bgfmt.formats.structures import fields, offset_of, read_struct, regions_of, size_of
from bgfmt.game import board
from bgfmt.storage import Source
from bgfmt.tables import LazyRows, OneSided, Rows

POINTS = 6
CHEQUERS = 15
POSITIONS = board.count(POINTS, CHEQUERS)
FIRST_FULL = board.count(POINTS, CHEQUERS - 1)  # the first position with all fifteen chequers
MAGIC = b"RAEB"
HEADER = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(1, Int32ul),
    "points" / Const(POINTS, Int32ul),
    "chequers" / Const(CHEQUERS, Int32ul),
    "columns" / Const(ROLLS, Int32ul),
    "positions" / Const(POSITIONS, Int32ul),
    "gammon_rows" / Int32ul * "number of gammon rows",
)
FILE = Struct(
    "header" / HEADER,
    "distributions"
    / Array(POSITIONS, Array(ROLLS, Int16ul))
    * "probability, in 65535ths, of bearing off in exactly k rolls",
    "mean rolls" / Array(POSITIONS, Float32l) * "mean number of rolls to bear off",
    "gammon index" / Array(POSITIONS, Int32sl) * "number of the position's gammon row, or -1 if it has none",
    "gammon rows"
    / Array(this.gammon_rows, Array(ROLLS, Int16ul))
    * "probability, in 65535ths, that no chequer is off after k rolls",
)
ROWS_AT = offset_of(HEADER, "gammon_rows")


class Sections(NamedTuple):
    """Parts after the distributions: means, each position's row in the gammon section (or -1), the gammon section."""

    means: NDArray[Any]
    where: NDArray[Any]
    survival: NDArray[Any]


class Bgsage(RollsFormat):
    name = "bgsage"
    title = "bgsage one-sided"
    suffixes = (".db",)
    magic = MAGIC
    carries = (OneSided,)
    structures: ClassVar[Mapping[str, Struct]] = {"header": HEADER, "file": FILE}
    options = (Option("gammon", bool, "write the gammon section"),)

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[OneSided]:
        rows = read_struct(HEADER, source, offset).gammon_rows
        if rows > POSITIONS:
            raise HeaderError(source.name, "gammon_rows", offset + ROWS_AT, f"at most {POSITIONS}", rows)
        parts = fields(FILE, gammon_rows=rows)
        bearoff = parts["distributions"].read(source, offset, "part with the distributions")
        means = np.asarray(parts["mean rolls"].read(source, offset, "means"))
        where = np.asarray(parts["gammon index"].read(source, offset, "gammon index"))
        survival = parts["gammon rows"].read(source, offset, "gammon section")
        bad = (where < -1) | (where >= rows)
        if bad.any():
            number = int(bad.argmax())
            at = offset + parts["gammon index"].offset + where.itemsize * number
            raise CorruptError(source.name, at, f"-1 or a row below {rows}", int(where[number]), number)
        gammon = LazyRows(
            (POSITIONS, ROLLS),
            "<u2",
            lambda a, b: _distribution(where[a:b], survival),
            lambda numbers: _distribution(where[numbers], survival),
        )
        arrays = (bearoff, gammon) if rows else (bearoff,)
        return Reading.of(
            OneSided, source, offset, size_of(FILE, gammon_rows=rows), POINTS, CHEQUERS, bearoff=bearoff,
            gammon=gammon if rows else None, gammon_policy="race" if rows else "",
            carried=(AsRead(arrays, Sections(means, where, survival)),),
        )  # fmt: skip

    def host_facts(self, reading: Reading[OneSided]) -> dict[str, Any]:
        note = "its gammon part follows the race's plays (gnubg's follows those that save the gammon)"
        return super().host_facts(reading) | {"notes": [note] if reading.table.gammon is not None else []}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: OneSided, options: Options) -> str | None:
        if (table.points, table.chequers) != (POINTS, CHEQUERS):
            return f"bgsage can only hold 6 points and 15 chequers, not {table.points} and {table.chequers}"
        return super().refusal(table, options)

    def losses(self, table: OneSided, options: Options) -> list[str]:
        if self.gammon(table, options) and table.gammon_policy != "race":
            return [
                "bgsage's gammon part follows the race's plays; these are the plays that save the gammon, "
                "which the file cannot state"
            ]
        return super().losses(table, options)

    def is_default_for(self, table: OneSided) -> bool:
        return not table.exact and table.gammon_policy == "race"

    def emit(self, table: OneSided, sink: Outlet, options: Options) -> None:
        bearoff = np.asarray(table.bearoff)
        gammon = self.gammon(table, options)
        kept = as_read(table, Sections) if gammon == (table.gammon is not None) else None
        parts = kept or _sections(bearoff, table.gammon if gammon else None)
        sink.write(HEADER.build({"gammon_rows": len(parts.survival)}))
        arrays = (bearoff, *parts)
        declared = list(fields(FILE, gammon_rows=len(parts.survival)).values())[1:]
        for field, array in zip(declared, arrays, strict=True):
            sink.write(np.ascontiguousarray(array, field.dtype))

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: OneSided, **options: Any) -> Layout:
        kept = as_read(table, Sections)
        rows = POSITIONS - FIRST_FULL if self.gammon(table, options) else 0
        if kept is not None and self.gammon(table, options):
            rows = len(kept.survival)
        parts = fields(FILE, gammon_rows=rows)
        regions = regions_of(parts, ("distributions", "gammon rows"))
        _, distributions, _, index, survival = parts.values()

        def place(entry: int, column: str, item: int) -> int:
            if column != "gammon":
                return distributions.place(entry, item)
            row = int(kept.where[entry]) if kept is not None else entry - FIRST_FULL
            return survival.place(row, item) if row >= 0 else index.place(entry)

        return Layout(bytes(HEADER.build({"gammon_rows": rows})), regions, place)

    def as_written(self, table: OneSided) -> tuple[OneSided, Options]:
        return replace(table, carried=lasting(table)), {}


def _distribution(where: NDArray[Any], survival: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the probabilities, in 65535ths, that the first chequer comes off in exactly k rolls, (m, 32) uint16.

    where : rows of the gammon section, -1 for none. survival : the section, no chequer off after k rolls.
    """
    out = np.zeros((len(where), ROLLS), np.uint16)
    out[:, 0] = 65535
    have = where >= 0
    rows = survival[where[have]]
    out[have, 0] = 65535 - rows[:, 0]
    out[have, 1:] = rows[:, :-1] - rows[:, 1:]
    return out


def _sections(bearoff: NDArray[Any], gammon: Rows | None) -> Sections:
    """Build means, gammon index and survival rows, in bgsage's layout, from distributions."""
    where = np.full(POSITIONS, -1, "<i4")
    survival = np.zeros((0, ROLLS), "<u2")
    if gammon is not None:
        where[FIRST_FULL:] = np.arange(POSITIONS - FIRST_FULL)
        gone = np.cumsum(np.asarray(gammon[FIRST_FULL:POSITIONS], np.int64), axis=1)
        survival = np.maximum(65535 - gone, 0).astype("<u2")
    return Sections(_means(bearoff), where, survival)


def _means(bearoff: NDArray[Any]) -> NDArray[Any]:
    """Return mean rolls as bgsage sums them: roll by roll in float64, then rounded to float32."""
    total = np.zeros(len(bearoff))
    for roll in range(ROLLS):
        total += roll * (bearoff[:, roll] / 65535.0)
    return total.astype("<f4")
