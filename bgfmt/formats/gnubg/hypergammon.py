"""GNU Backgammon hypergammon database.

offset  size  meaning                                                     source
0       40    header `gnubg-HC`, C = 1, 2 or 3 chequers, see family       files of makehyper 1.07
40      28    a record for each (us, them), us*n + them, n = C(25 + C, C):
              nine 24-bit little-endian numbers and one zero byte
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from bgfmt.formats.base import Extent, Fault, Options, Reading, shown
from bgfmt.formats.gnubg.family import HYPER_POINTS, GnubgFormat, HeaderFacts
from bgfmt.storage import Source
from bgfmt.tables import Hypergammon

RECORD = 28


class GnubgHypergammon(GnubgFormat[Hypergammon]):
    kind = "H"
    array, dtype = "records", "u1"
    name = "gnubg-hyper"
    title = "GNU Backgammon hypergammon"
    carries = (Hypergammon,)
    headerless: ClassVar[Mapping[str, type]] = {"chequers": int}
    defaults: ClassVar[Mapping[str, Any]] = {"points": HYPER_POINTS}

    # -- reading ----------------------------------------------------------------------------------------

    def fits(self, source: Source, facts: HeaderFacts) -> bool:
        if facts.size != source.size:
            return False
        rows = source.array("u1", (source.size // RECORD, RECORD), 0)
        return not rows[np.arange(0, len(rows), max(1, len(rows) // 4096))][:, RECORD - 1].any()

    def host_facts(self, reading: Reading[Hypergammon]) -> dict[str, Any]:
        return super().host_facts(reading) | {"gnubg_name": f"hyper{reading.table.chequers}.bd"}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Hypergammon, options: Options) -> str | None:
        if table.points != HYPER_POINTS or not 1 <= table.chequers <= 3:
            return f"gnubg-hyper holds 25 points and 1 to 3 chequers, not {table.points} and {table.chequers}"
        return None

    def home_of(self, table: Hypergammon) -> bool:
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
                yield Fault(at, 1, "zero byte of a record", shown(b"\0"), shown(last[k].tobytes()))

    def every(self) -> Iterator[HeaderFacts]:
        return (HeaderFacts("H", HYPER_POINTS, chequers) for chequers in (1, 2, 3))

    def in_words(self, facts: HeaderFacts) -> str:
        return f"{facts.chequers} chequer{'s' * (facts.chequers > 1)}"
