"""GNU Backgammon two-sided database.

offset  size  meaning                                                     source
0       40    header `gnubg-TS-PP-CC-U`, see family                       files of makebearoff 1.07
40      ...   n*n records of 4 (cubeful) or 1 uint16, little-endian;
              record us*n + them, equity = value / 32767.5 - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, ClassVar

from bgfmt.formats.base import Option, Options, Outlet, Reading
from bgfmt.formats.gnubg.family import HEADER_OPTION, SIZED, GnubgFormat, HeaderFacts, fits_two_sided
from bgfmt.storage import Source
from bgfmt.tables import TwoSided

MAX_PLAIN_POINTS = 12  # beyond, the sides' points overlap and makebearoff itself is no longer exact


class GnubgTwoSided(GnubgFormat[TwoSided]):
    kind = "TS"
    array = "equities"
    name = "gnubg-ts"
    title = "GNU Backgammon two-sided"
    carries = (TwoSided,)
    headerless: ClassVar[Mapping[str, type]] = {**SIZED, "cubeful": bool}
    defaults: ClassVar[Mapping[str, Any]] = {"cubeful": True}
    options = (HEADER_OPTION, Option("cubeful", bool, "write all four equities, or the cubeless one alone"))

    # -- reading ----------------------------------------------------------------------------------------

    def fits(self, source: Source, facts: HeaderFacts) -> bool:
        same = facts.size == source.size
        return same and fits_two_sided(source.array("<u2", facts.shape, 0), facts.points)

    def info(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        return {"cubeful": reading.table.cubeful} | super().info(reading)

    def host_facts(self, reading: Reading[TwoSided]) -> dict[str, Any]:
        table, facts = reading.table, super().host_facts(reading)
        if not table.cubeful:
            note = "bearoffdump prints 2e - 1 for cubeless files, and gnubg finds no cubeful equities"
            facts["notes"].append(note)
        if table.points > MAX_PLAIN_POINTS:
            facts["notes"].append(f"{table.points} points are more than a pure race")
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
            return "a cubeless table has no cubeful equities; solve it anew to get them"
        return super().refusal(table, options)

    def losses(self, table: TwoSided, options: Options) -> list[str]:
        dropped = table.cubeful and options.get("cubeful") is False
        return ["the cubeful equities are dropped"] if dropped else []

    def home_of(self, table: TwoSided) -> bool:
        return not table.exact

    def facts_of(self, table: TwoSided, options: Options) -> HeaderFacts:
        choice = options.get("cubeful")
        cubeful = table.cubeful if choice is None else bool(choice)
        return HeaderFacts("TS", table.points, table.chequers, cubeful=cubeful)

    def emit(self, table: TwoSided, sink: Outlet, options: Options) -> None:
        sink.write(self.header_of(table, options))
        columns = self.facts_of(table, options).shape[-1]
        for _, block in table.blocks():
            sink.write(block["equities"][..., :columns].astype("<u2", copy=False))

    # -- damaged files ----------------------------------------------------------------------------------

    def every(self) -> Iterator[HeaderFacts]:
        for cubeful, points, chequers in product((True, False), range(1, 25), range(1, 16)):
            yield HeaderFacts("TS", points, chequers, cubeful=cubeful)

    def in_words(self, facts: HeaderFacts) -> str:
        return f"{facts.points}x{facts.chequers}{'' if facts.cubeful else ' cubeless'}"
