"""GNU Backgammon one-sided database of normal distributions.

offset  size  meaning                                                     source
0       40    header `gnubg-OS-PP-15-1-0-1`, see family                   files of makebearoff -n 1.07
40      16*n  four float32, little-endian: mean rolls to bear off, its standard deviation, mean rolls to
              save the gammon, its standard deviation (0 with fewer than 15 chequers)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from bgfmt.formats.base import Options, Reading
from bgfmt.formats.gnubg.family import SIZED, GnubgFormat, HeaderFacts
from bgfmt.storage import Source
from bgfmt.tables import NormalOneSided

FIRST_ROWS = bytes(16) + b"\x00\x00\x80\x3f" + bytes(12)


class GnubgNormal(GnubgFormat[NormalOneSided]):
    kind = "ND"
    array, dtype = "moments", "<f4"
    name = "gnubg-nd"
    title = "GNU Backgammon one-sided, normal distributions"
    carries = (NormalOneSided,)
    headerless: ClassVar[Mapping[str, type]] = SIZED
    defaults: ClassVar[Mapping[str, Any]] = {"chequers": 15, "gammon": True}

    # -- reading ----------------------------------------------------------------------------------------

    def guess(self, source: Source) -> list[dict[str, Any]]:
        every = (HeaderFacts("ND", points, 15) for points in range(1, 24))
        return [{"points": facts.points, "chequers": 15} for facts in every if self.fits(source, facts)]

    def fits(self, source: Source, facts: HeaderFacts) -> bool:
        return facts.size == source.size and source.bytes(0, 32) == FIRST_ROWS

    def host_facts(self, reading: Reading[NormalOneSided]) -> dict[str, Any]:
        crash = "gnubg 1.07 crashes when this is installed as gnubg_os.bd; bearoffdump reads it"
        notes = super().host_facts(reading)["notes"]
        return {"gnubg_name": None, "gnubg_reads": False, "notes": [crash, *notes]}

    # -- writing ----------------------------------------------------------------------------------------

    def home_of(self, table: NormalOneSided) -> bool:
        return True

    def facts_of(self, table: NormalOneSided, options: Options) -> HeaderFacts:
        return HeaderFacts("ND", table.points, table.chequers, gammon=True)

    # -- damaged files ----------------------------------------------------------------------------------

    def every(self) -> Iterator[HeaderFacts]:
        return (HeaderFacts("ND", points, 15, gammon=True) for points in range(1, 19))

    def in_words(self, facts: HeaderFacts) -> str:
        return f"{facts.points} points of normal distributions"
