"""GNU Backgammon one-sided database, exact distributions.

offset  size        meaning                                               source
0       40          header `gnubg-OS-PP-15-G-K-0`, see _gnubg_header       files of makebearoff 1.07

uncompressed (K = 0)
40      128*n, 64*n n records: 32 uint16 of the bearoff distribution and, where G = 1, 32 of the gammon one

compressed (K = 1)
40      8*n, 6*n    index, see _compressed
...     ...         the values it points at, uint16
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError, CorruptError
from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.formats.gnubg import header as gnubg
from bgfmt.formats.gnubg.compressed import ROLLS, CompressedRows, index_of, spans_of
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import OneSided, Rows, Table


class GnubgOneSided(Format):
    name = "gnubg-os"
    title = "GNU Backgammon one-sided"
    suffixes = (".bd",)
    carries = (OneSided,)
    headerless: ClassVar[Mapping[str, type]] = {
        "points": int,
        "chequers": int,
        "gammon": bool,
        "compressed": bool,
    }
    options = (
        Option("header", bool, "write the 40 header bytes"),
        Option("compressed", bool, "leave out leading and trailing zeros"),
        Option("gammon", bool, "write the gammon distributions"),
    )

    def recognise(self, head: Head) -> bool:
        return gnubg.kind(head.bytes) == "OS"

    def guess(self, source: Source) -> list[dict[str, Any]]:
        found = []
        for points in range(1, 19):
            n = board.count(points, 15)
            for gammon in (True, False):
                described = {"points": points, "chequers": 15, "gammon": gammon}
                if source.size == n * (128 if gammon else 64) and self._sums_fit(source, n, gammon):
                    found.append({**described, "compressed": False})
                if source.size > n * (8 if gammon else 6) and self._index_fits(source, n, gammon):
                    found.append({**described, "compressed": True})
        return found

    @staticmethod
    def _sums_fit(source: Source, n: int, gammon: bool) -> bool:
        rows = source.array("<u2", (n, 1 + gammon, ROLLS), 0)[:: max(1, n // 1000)]
        return bool((rows.sum(axis=2, dtype=np.int64) == 65535).all())

    @staticmethod
    def _index_fits(source: Source, n: int, gammon: bool) -> bool:
        entry = b"\x01\x00" * (1 + gammon)
        if source.bytes(0, 4 + len(entry)) != bytes(4) + entry:
            return False
        try:
            rows = CompressedRows(source, 0, n, entry=8 if gammon else 6, gammon=gammon)
            return rows.size == source.size and bool(
                (rows.block(0, min(n, 9)).sum(axis=1) == 65535 * (1 + gammon)).all()
            )
        except (CorruptError, ValueError):
            return False

    def read(self, source: Source, offset: int = 0, **described: Any) -> OneSided:
        if described:
            raw, start = b"", offset
            points, chequers = int(described["points"]), int(described.get("chequers", 15))
            gammon, compressed = bool(described.get("gammon", True)), bool(described.get("compressed", True))
        else:
            spec = gnubg.read_sided(source, offset)
            points, chequers, raw = spec["points"], spec["chequers"], spec["raw"]
            gammon, compressed, _ = spec["flags"]
            start = offset + gnubg.SIZE
        n = board.count(points, chequers)
        extra: dict[str, Any] = {"format": self.name, "gnubg_header": raw, "compressed": compressed}
        bearoff: Rows
        second: Rows | None
        if compressed:
            entry = 8 if gammon or self._old_index(source, start, n) else 6
            packed = CompressedRows(source, start, n, entry=entry, gammon=gammon)
            bearoff, size = packed.rows(0), packed.size
            second = packed.rows(1) if gammon else None
            extra |= {"entry": entry, "packed": packed}
        else:
            what = f"{points}-point one-sided table"
            rows = source.array("<u2", (n, (1 + gammon) * ROLLS), start, what)
            bearoff, second = rows[:, :ROLLS], rows[:, ROLLS:] if gammon else None
            size = rows.nbytes
        return OneSided(
            points=points,
            chequers=chequers,
            bearoff=bearoff,
            gammon=second,
            provenance=source.name,
            extra={**extra, "extent": Extent(offset, start - offset + size)},
            release=source.release,
        )

    @staticmethod
    def _old_index(source: Source, start: int, n: int) -> bool:
        """Whether a gammonless file has the 8-byte entries of releases before March 2009.

        Position 1's values always begin at 1; only one of the two entry sizes finds that number there.
        """
        if n < 2 or source.size < start + 12:
            return False
        second = int.from_bytes(source.bytes(start + 6, 4), "little")
        return second != 1 and int.from_bytes(source.bytes(start + 8, 4), "little") == 1

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        assert isinstance(table, OneSided)
        gammon = self._gammon(table, options)
        compressed = bool(options.get("compressed", table.extra.get("compressed", True)))
        canonical = gnubg.canonical_one_sided(
            table.points, table.chequers, gammon=gammon, compressed=compressed, normal=False
        )
        sink.write(gnubg.choose(table, canonical, options.get("header")))
        if compressed:
            self._write_compressed(table, sink, gammon)
        else:
            for _, block in table.blocks():
                sink.write(_joined(block, gammon))

    @staticmethod
    def _write_compressed(table: OneSided, sink: Sink, gammon: bool) -> None:
        """Index first, values after it: the values of each block are kept until the index is complete."""
        entry = 8 if gammon else 6
        if not gammon and table.extra.get("entry") == 8 and table.gammon is None:
            entry = 8
        index_at = sink.written
        sink.skip(table.positions * entry)
        start = 0
        for rows, block in table.blocks():
            joined = _joined(block, gammon)
            count, first, stored = spans_of(joined)
            index, start = index_of(count, first, start, entry)
            sink.write_at(index_at + rows.start * entry, index)
            sink.write(joined[stored])

    @staticmethod
    def _gammon(table: OneSided, options: Mapping[str, Any]) -> bool:
        wanted = options.get("gammon")
        if wanted and table.gammon is None:
            raise CapabilityError("the table has no gammon distributions; solve it anew to get them")
        return table.gammon is not None if wanted is None else bool(wanted)

    def accept(self, table: Table) -> None:
        super().accept(table)
        if table.exact:
            raise CapabilityError(
                "gnubg-os holds 16-bit integers, not exact float64 chances; npz holds those"
            )

    def losses(self, table: Table, options: Mapping[str, Any]) -> list[str]:
        lost = []
        if isinstance(table, OneSided) and table.gammon is not None and options.get("gammon") is False:
            lost.append("the gammon distributions are dropped")
        elif isinstance(table, OneSided) and table.extra.get("gammon_policy") == "race":
            lost.append(
                "the gammon part follows the race's plays, not the plays that save the gammon, "
                "and a gnubg file cannot say so"
            )
        return lost

    def info(self, table: Table) -> dict[str, Any]:
        assert isinstance(table, OneSided)
        headed, extent = bool(table.extra.get("gnubg_header")), table.extra["extent"]
        unreadable = gnubg.slot_limits(extent.size)
        notes = [] if headed else ["it has no header"]
        if unreadable:
            notes.append(unreadable)
        if table.extra.get("entry") == 8 and table.gammon is None:
            notes.append("8-byte index entries, as written before March 2009; gnubg 1.07 misreads them")
            unreadable = notes[-1]
        if table.gammon is None and table.points != 6:
            notes.append("gnubg's gammon chances are wrong with a gammonless file of other than 6 points")
        return {
            "gammon": table.gammon is not None,
            "compressed": bool(table.extra.get("compressed")),
            "header": headed,
            "gnubg_name": "gnubg_os0.bd" if table.points == 6 else "gnubg_os.bd",
            "gnubg_reads": headed and unreadable is None,
            "notes": notes,
        }


def _joined(block: Mapping[str, NDArray[Any]], gammon: bool) -> NDArray[np.uint16]:
    """Bearoff and gammon rows side by side, (m, 64) or (m, 32); without a copy where they lie so already."""
    bearoff = block["bearoff"]
    if not gammon:
        return np.ascontiguousarray(bearoff.astype("<u2", copy=False))
    second = block["gammon"]
    address, beside = bearoff.__array_interface__["data"][0], second.__array_interface__["data"][0]
    if bearoff.strides == second.strides == (4 * ROLLS, 2) and beside - address == 2 * ROLLS:
        return np.lib.stride_tricks.as_strided(bearoff, (len(bearoff), 2 * ROLLS), writeable=False)
    return np.concatenate([bearoff, second], axis=1, dtype=np.dtype("<u2"))
