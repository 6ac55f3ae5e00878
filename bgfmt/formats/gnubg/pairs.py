"""GNU Backgammon's databases of both sides: two-sided and hypergammon, n*n records; record us*n + them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np
from construct import Struct

from bgfmt.errors import format_bytes
from bgfmt.formats.base import Extent, Fault, Option, Options, Outlet, Reading
from bgfmt.formats.gnubg import family
from bgfmt.formats.gnubg.family import HYPER_POINTS, GnubgFormat, HeaderFacts, number_dtype
from bgfmt.storage import Source
from bgfmt.tables import Hypergammon, TwoSided

MAX_PLAIN_POINTS = 12  # beyond, the sides' points overlap and makebearoff itself is no longer exact
RECORD = family.OUTCOMES.sizeof()


class GnubgTwoSided(GnubgFormat[TwoSided]):
    kind = "TS"
    array = "equities"
    dtype = number_dtype("TS")
    structures: ClassVar[Mapping[str, Struct]] = {
        "header": family.TWO_SIDED,
        "equities": family.EQUITIES,
        "file": family.FILES["TS"],
    }
    name = "gnubg-ts"
    title = "GNU Backgammon two-sided"
    carries = (TwoSided,)
    headerless: ClassVar[Mapping[str, type]] = {**family.SIZED, "cubeful": bool}
    defaults: ClassVar[Mapping[str, Any]] = {"cubeful": True}
    options = (
        family.HEADER_OPTION,
        Option("cubeful", bool, "write all four equities, or the cubeless one alone"),
    )

    # -- reading ----------------------------------------------------------------------------------------

    def matches(self, source: Source, facts: HeaderFacts) -> bool:
        same = facts.size == source.size
        return same and family.fits_two_sided(source.array(self.dtype, facts.shape, 0), facts.points)

    def info(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        return {"cubeful": reading.table.cubeful} | super().info(reading)

    def host_facts(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        table = reading.table
        facts = super().host_facts(reading)
        if not table.cubeful:
            note = "bearoffdump prints 2e - 1 for cubeless files, and gnubg finds no cubeful equities"
            facts["notes"].append(note)
        if table.points > MAX_PLAIN_POINTS:
            facts["notes"].append(f"{table.points} points are too many for a pure race")
        if table.points > 23:
            facts["notes"].append("gnubg's own reader refuses 24 points")
            facts["gnubg_reads"] = False
        name = "gnubg_ts0.bd" if (table.points, table.chequers) == (6, 6) else "gnubg_ts.bd"
        return facts | {"gnubg_name": name}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: TwoSided, options: Options) -> str | None:
        if table.exact:
            return "gnubg-ts holds 16-bit integers, not exact float64 equities; npz holds those"
        if options.get("cubeful") and not table.cubeful:
            return "a cubeless table has no cubeful equities; solve it again to get them"
        return super().refusal(table, options)

    def losses(self, table: TwoSided, options: Options) -> list[str]:
        dropped = table.cubeful and options.get("cubeful") is False
        return ["the cubeful equities are dropped"] if dropped else []

    def is_default_for(self, table: TwoSided) -> bool:
        return not table.exact

    def facts_of(self, table: TwoSided, options: Options) -> HeaderFacts:
        choice = options.get("cubeful")
        cubeful = table.cubeful if choice is None else bool(choice)
        return HeaderFacts("TS", table.points, table.chequers, cubeful=cubeful)

    def emit(self, table: TwoSided, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        columns = self.facts_of(table, options).shape[-1]
        for _, block in table.blocks():
            sink.write(block["equities"][..., :columns].astype(self.dtype, copy=False))

    # -- damaged files ----------------------------------------------------------------------------------

    def canonical_headers(self) -> Iterator[HeaderFacts]:
        for cubeful, points, chequers in product((True, False), range(1, 25), range(1, 16)):
            yield HeaderFacts("TS", points, chequers, cubeful=cubeful)

    def title_of(self, facts: HeaderFacts) -> str:
        return f"{facts.points}x{facts.chequers}{'' if facts.cubeful else ' cubeless'}"


class GnubgHypergammon(GnubgFormat[Hypergammon]):
    kind = "H"
    array = "records"
    dtype = number_dtype("H")
    structures: ClassVar[Mapping[str, Struct]] = {
        "header": family.HYPERGAMMON,
        "record": family.OUTCOMES,
        "file": family.FILES["H"],
    }
    name = "gnubg-hyper"
    title = "GNU Backgammon hypergammon"
    carries = (Hypergammon,)
    headerless: ClassVar[Mapping[str, type]] = {"chequers": int}
    defaults: ClassVar[Mapping[str, Any]] = {"points": HYPER_POINTS}

    # -- reading ----------------------------------------------------------------------------------------

    def matches(self, source: Source, facts: HeaderFacts) -> bool:
        if facts.size != source.size:
            return False
        rows = source.array(self.dtype, (source.size // RECORD, RECORD), 0)
        return not rows[np.arange(0, len(rows), max(1, len(rows) // 4096))][:, RECORD - 1].any()

    def host_facts(self, reading: Reading[Hypergammon]) -> dict[str, Any]:
        return super().host_facts(reading) | {"gnubg_name": f"hyper{reading.table.chequers}.bd"}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Hypergammon, options: Options) -> str | None:
        if table.points != HYPER_POINTS or not 1 <= table.chequers <= 3:
            return f"gnubg-hyper holds 25 points and 1 to 3 chequers, not {table.points} and {table.chequers}"
        return None

    def is_default_for(self, table: Hypergammon) -> bool:
        return True

    def facts_of(self, table: Hypergammon, options: Options) -> HeaderFacts:
        return HeaderFacts("H", HYPER_POINTS, table.chequers)

    # -- every byte -------------------------------------------------------------------------------------

    def audit(self, source: Source, table: Hypergammon, extent: Extent) -> Iterator[Fault]:
        yield from super().audit(source, table, extent)
        start = extent.end - table.positions**2 * RECORD
        for rows, block in table.blocks():
            last = block["records"][..., RECORD - 1].reshape(-1)
            for k in np.flatnonzero(last)[:100]:
                at = start + (rows.start * table.positions + int(k)) * RECORD + RECORD - 1
                yield Fault(
                    at, 1, "zero byte of a record", format_bytes(b"\0"), format_bytes(last[k].tobytes())
                )

    def canonical_headers(self) -> Iterator[HeaderFacts]:
        return (HeaderFacts("H", HYPER_POINTS, chequers) for chequers in (1, 2, 3))

    def title_of(self, facts: HeaderFacts) -> str:
        return f"{facts.chequers} chequer{'s' * (facts.chequers > 1)}"
