"""bgfmt's own format of match-score tables, `.bgm`; byte by byte in docs/formats/bgfmt-match.md.

offset  size       meaning (little-endian)
0       8          "BGMATCH", 0x1a
8       u16        version, 1
10      6 x u8     points, chequers, points that a and b need, which player of the match equity table a is, flags
                   (1: columns with a on roll serve for both; 2: a side may have fifteen chequers)
16      2 x u16    columns C, results M
20      u32        rows of a block
24      32, 64     SHA-256 of the match equity table's values; its name, UTF-8, filled with zeros
120     C x 4      u8 who is on roll (0 a, 1 b), u8 who owns the cube (2 nobody, 255 there is none), u16 its value
...     M x 20     u32 points, 2 x f64 chance of a to win the match after winning, and after losing, them
...     u32        CRC-32 of all before it; then zeros up to a multiple of 64
...     n*n*C f32  the numbers: record us * n + them
...     u32        CRC-32 of each block of rows
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from construct import Array as Many
from construct import Bytes, Const, Int8ul, Int16ul, Int32ul, Struct
from numpy.typing import NDArray

from bgfmt.errors import HeaderError
from bgfmt.formats.base import Format, Layout, Options, Outlet, Reading, Region
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Results, ScoreFacts

MAGIC = b"BGMATCH\x1a"
FIXED_BYTES = 120
MAX_COLUMNS = 64  # and results
NO_CUBE = 255
BLOCK_BYTES = 1 << 20
FIRST = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(1, Int16ul),
    "points" / Int8ul,
    "chequers" / Int8ul,
    "away" / Many(2, Int8ul),
    "player" / Int8ul,
    "flags" / Int8ul,
    "columns" / Int16ul,
    "results" / Int16ul,
    "block_rows" / Int32ul,
    "digest" / Bytes(32),
    "met" / Bytes(64),
)
COLUMN = np.dtype([("roller", "u1"), ("owner", "u1"), ("cube", "<u2")])
RESULT = np.dtype([("points", "<u4"), ("win", "<f8"), ("lose", "<f8")])


class BgfmtMatch(Format[MatchScore]):
    name = "bgfmt-match"
    title = "bgfmt match score"
    suffixes = (".bgm",)
    magic = MAGIC
    carries = (MatchScore,)

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[MatchScore]:
        header = source.header(FIRST, FIXED_BYTES, offset)

        def refuse(field: str, at: int, expected: object, value: object) -> HeaderError:
            return HeaderError(source.name, field, offset + at, expected, value)

        if not (1 <= header.columns <= MAX_COLUMNS and 1 <= header.results <= MAX_COLUMNS):
            raise refuse(
                "columns and results", 16, f"1 to {MAX_COLUMNS} of each", (header.columns, header.results)
            )
        size = FIXED_BYTES + 4 * header.columns + 20 * header.results + 4
        raw = source.bytes(offset, size, "header")
        right = zlib.crc32(raw[:-4])
        summed = int.from_bytes(raw[-4:], "little")
        if right != summed:
            raise refuse("sum of the header", size - 4, f"{right:08x}", f"{summed:08x}")
        if not (1 <= header.points <= board.MAX_POINTS and 1 <= header.chequers <= board.MAX_CHEQUERS):
            raise refuse("points", 10, "1 to 24 points, 1 to 15 chequers", (header.points, header.chequers))
        n = board.count(header.points, header.chequers)
        if not 1 <= header.block_rows <= n:
            raise refuse("rows of a block", 20, f"1 to {n}", header.block_rows)
        score = _score(header, raw, refuse)
        start = offset + _padded(size)
        what = f"{header.points}x{header.chequers} match-score table"
        rows = source.array("<f4", (n, n, header.columns), start, what)
        end = start + 4 * n * n * header.columns + 4 * -(-n // header.block_rows)
        source.need(end, "sums of the blocks")
        sizes = end - offset, header.points, header.chequers
        return Reading.of(MatchScore, source, offset, *sizes, balance=rows, score=score, recipe="match")

    def info(self, reading: Reading[MatchScore]) -> dict[str, Any]:
        return {"columns": list(reading.table.names)}

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: MatchScore, options: Options) -> str | None:
        if table.exact:
            return "bgfmt-match holds float32 numbers, not exact float64 ones; npz holds those"
        return table.check()

    def is_default_for(self, table: MatchScore) -> bool:
        return not table.exact

    def emit(self, table: MatchScore, sink: Outlet, options: Options) -> None:
        sink.write(_header(table))
        n = table.positions
        step = _block_rows(table)
        sums = []
        for start in range(0, n, step):
            block = np.ascontiguousarray(table.balance[start : start + step], "<f4")
            sums.append(zlib.crc32(block.reshape(-1).view(np.uint8).data))
            sink.write(block)
            if table.release is not None:
                table.release()
        sink.write(np.array(sums, "<u4"))

    @contextlib.contextmanager
    def body(self, sink: Sink, table: MatchScore, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        self.check(table, options)
        _, numbers, sums = (region.size for region in self.layout(table).regions)
        sink.write(_header(table))
        room = sink.reserve(numbers + sums)
        rows = room[:numbers].view("<f4").reshape(table.balance.shape)
        yield {"balance": rows}
        step = _block_rows(table)
        parts = [rows[k : k + step].reshape(-1).view(np.uint8).data for k in range(0, len(rows), step)]
        room[numbers:] = np.array([zlib.crc32(part) for part in parts], "<u4").view(np.uint8)

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: MatchScore, **options: Any) -> Layout:
        header, n, width = _header(table), table.positions, 4 * len(table.score.states)
        size = n * n * width
        regions = (
            Region("header", 0, len(header)),
            Region("numbers", len(header), size, numbers=True),
            Region("sums of the blocks", len(header) + size, 4 * -(-n // _block_rows(table))),
        )

        def place(entry: int, column: str, item: int) -> int:
            return len(header) + entry * width + 4 * item

        return Layout(header, regions, place)


def _padded(size: int) -> int:
    """Return the next multiple of 64."""
    return -(-size // 64) * 64


def _block_rows(table: MatchScore) -> int:
    """Return the number of whole rows that take about a megabyte together."""
    return max(1, min(table.positions, BLOCK_BYTES // (4 * table.positions * len(table.score.states))))


def _header(table: MatchScore) -> bytes:
    s = table.score
    fields = {"points": table.points, "chequers": table.chequers, "away": s.away, "player": s.player}
    fields |= {"flags": s.alike + 2 * s.gammons, "columns": len(s.states), "results": len(s.results)}
    fields |= {"block_rows": _block_rows(table), "digest": bytes.fromhex(s.digest)}
    first = FIRST.build(fields | {"met": s.met.encode().ljust(64, b"\0")})
    results = np.array([(k, r.win, r.lose) for k, r in s.results.items()], RESULT)
    raw = first + _columns(s).tobytes() + results.tobytes()
    raw += zlib.crc32(raw).to_bytes(4, "little")
    return bytes(raw.ljust(_padded(len(raw)), b"\0"))


def _columns(score: ScoreFacts) -> NDArray[Any]:
    """Return who is on roll and the state of the cube, of each column, as `COLUMN` records."""
    cubes = [(state.roller, state.cube or (0, NO_CUBE)) for state in score.states]
    return np.array([(roller, owner, value) for roller, (value, owner) in cubes], COLUMN)


def _score(header: Any, raw: bytes, refuse: Any) -> ScoreFacts:
    """Parse the score of a header whose checksum is right."""
    rows = np.frombuffer(raw, RESULT, header.results, FIXED_BYTES + COLUMN.itemsize * header.columns).tolist()
    results = {points: Results(win, lose) for points, win, lose in rows}
    name = header.met.rstrip(b"\0").decode("utf-8", "replace")
    if header.flags > 3:
        raise refuse("flags", 15, "0 to 3", header.flags)
    away = (header.away[0], header.away[1])
    alike = bool(header.flags & 1)
    gammons = bool(header.flags & 2)
    score = ScoreFacts(away, header.player, name, header.digest.hex(), results, alike, gammons)
    problem = score.find_problem()
    if problem is not None:
        raise refuse("score", 12, problem, "another")
    expected = _columns(score)
    if not np.array_equal(np.frombuffer(raw, COLUMN, header.columns, FIXED_BYTES), expected):
        what = f"the {len(expected)} columns of this score"
        raise refuse("columns", FIXED_BYTES, what, f"{header.columns} others")
    return score
