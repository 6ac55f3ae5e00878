"""bgfmt's own format of match-score tables, `.bgm`; see docs/formats/bgfmt-match.md."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from construct import (
    Array,
    Bytes,
    Const,
    Container,
    Float32l,
    Float64l,
    Int8ul,
    Int16ul,
    Int32ul,
    Struct,
    this,
)
from numpy.typing import NDArray

from bgfmt.errors import HeaderError
from bgfmt.formats.base import Format, Layout, Options, Outlet, Reading
from bgfmt.formats.structures import Field, dtype_of, fields, offset_of, read_struct, regions_of, size_of
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Results, ScoreFacts

MAGIC = b"BGMATCH\x1a"
MAX_COLUMNS = 64  # and results
NO_CUBE = 255
BLOCK_BYTES = 1 << 20
FIRST = Struct(
    "magic" / Const(MAGIC),
    "version" / Const(1, Int16ul),
    "points" / Int8ul,
    "chequers" / Int8ul,
    "away" / Array(2, Int8ul) * "points that a and b need",
    "player" / Int8ul * "0 or 1: the player of the match equity table that a is",
    "flags"
    / Int8ul
    * "sum of 1 if columns with a on roll are valid for both players, and 2 if a side may have fifteen chequers",
    "columns" / Int16ul * "number of columns",
    "results" / Int16ul * "number of results",
    "block_rows" / Int32ul * "rows of a block",
    "digest" / Bytes(32) * "SHA-256 of the match equity table's values",
    "met" / Bytes(64) * "name of the match equity table, UTF-8, filled with zeros",
)
COLUMN = Struct(
    "roller" / Int8ul * "who is on roll: 0 a, 1 b",
    "owner" / Int8ul * "who owns the cube: 0 a, 1 b, 2 nobody, 255 there is none",
    "cube" / Int16ul * "value of the cube, 0 for none",
)
RESULT = Struct(
    "points" / Int32ul,
    "win" / Float64l * "MWC of a after winning the points",
    "lose" / Float64l * "MWC of a after losing them",
)
CRC = Int32ul
HEADER = Struct(
    *FIRST.subcons,
    "states" / Array(this.columns, COLUMN) * "the cube state of each column",
    "wins" / Array(this.results, RESULT) * "match winning probabilities (MWC) after each result of a game",
    "crc" / CRC * "CRC-32 of all bytes before it",
)
ALIGNMENT = 64
NUMBER = Float32l
FLOAT = dtype_of(NUMBER)
FILE = Struct(
    "header" / Bytes(this.header) * f"filled with zeros to a multiple of {ALIGNMENT} bytes",
    "numbers" / Array(this.n, Array(this.n, Array(this.columns, NUMBER))),
    "checksums of the blocks"
    / Array(this.blocks, CRC)
    * "CRC-32 of each block of rows of `numbers`; the last block can be shorter",
)


class BgfmtMatch(Format[MatchScore]):
    name = "bgfmt-match"
    title = "bgfmt match score"
    suffixes = (".bgm",)
    magic = MAGIC
    carries = (MatchScore,)
    structures: ClassVar[Mapping[str, Struct]] = {
        "header": HEADER,
        "column": COLUMN,
        "result": RESULT,
        "file": FILE,
    }

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **described: Any) -> Reading[MatchScore]:
        first = read_struct(FIRST, source, offset)

        def refuse(field: str, expected: object, value: object) -> HeaderError:
            return HeaderError(source.name, field, offset + offset_of(HEADER, field), expected, value)

        if not (1 <= first.columns <= MAX_COLUMNS and 1 <= first.results <= MAX_COLUMNS):
            found = first.columns, first.results
            raise refuse("columns", f"1 to {MAX_COLUMNS} columns and results", found)
        size = size_of(HEADER, columns=first.columns, results=first.results)
        raw = source.bytes(offset, size, "header")
        header = HEADER.parse(raw)
        right = zlib.crc32(raw[: -CRC.sizeof()])
        if right != header.crc:
            at = offset + size - CRC.sizeof()
            raise HeaderError(source.name, "checksum of the header", at, f"{right:08x}", f"{header.crc:08x}")
        if not (1 <= header.points <= board.MAX_POINTS and 1 <= header.chequers <= board.MAX_CHEQUERS):
            found = header.points, header.chequers
            raise refuse("points", "1 to 24 points, 1 to 15 chequers", found)
        n = board.count(header.points, header.chequers)
        if not 1 <= header.block_rows <= n:
            raise refuse("block_rows", f"1 to {n}", header.block_rows)
        score = _score(header, refuse)
        parts = _parts(_padded(size), n, header.columns, header.block_rows)
        rows = parts["numbers"].read(source, offset, f"{header.points}x{header.chequers} match-score table")
        end = sum(part.size for part in parts.values())
        source.need(offset + end, "checksums of the blocks")
        sizes = end, header.points, header.chequers
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
            block = np.ascontiguousarray(table.balance[start : start + step], FLOAT)
            sums.append(zlib.crc32(block.reshape(-1).view(np.uint8).data))
            sink.write(block)
            if table.release is not None:
                table.release()
        sink.write(np.array(sums, dtype_of(CRC)))

    @contextlib.contextmanager
    def body(self, sink: Sink, table: MatchScore, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        self.check(table, options)
        _, numbers, sums = (region.size for region in self.layout(table).regions)
        sink.write(_header(table))
        room = sink.reserve(numbers + sums)
        rows = room[:numbers].view(FLOAT).reshape(table.balance.shape)
        yield {"balance": rows}
        step = _block_rows(table)
        parts = [rows[k : k + step].reshape(-1).view(np.uint8).data for k in range(0, len(rows), step)]
        room[numbers:] = np.array([zlib.crc32(part) for part in parts], dtype_of(CRC)).view(np.uint8)

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: MatchScore, **options: Any) -> Layout:
        header = _header(table)
        parts = _parts(len(header), table.positions, len(table.score.states), _block_rows(table))

        def place(entry: int, column: str, item: int) -> int:
            return parts["numbers"].place(*divmod(entry, table.positions), item)

        return Layout(header, regions_of(parts, ("numbers",)), place)


def _parts(header: int, n: int, columns: int, block_rows: int) -> dict[str, Field]:
    """Return the parts of a file; `header` is the size of its header in bytes."""
    return fields(FILE, header=header, n=n, columns=columns, blocks=-(-n // block_rows))


def _padded(size: int) -> int:
    """Return the next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _block_rows(table: MatchScore) -> int:
    """Return the number of whole rows that take about a megabyte together."""
    return max(
        1, min(table.positions, BLOCK_BYTES // (FLOAT.itemsize * table.positions * len(table.score.states)))
    )


def _header(table: MatchScore) -> bytes:
    s = table.score
    values = {"points": table.points, "chequers": table.chequers, "away": s.away, "player": s.player}
    values |= {"flags": s.alike + 2 * s.gammons, "columns": len(s.states), "results": len(s.results)}
    values |= {"block_rows": _block_rows(table), "digest": bytes.fromhex(s.digest)}
    values |= {"met": s.met.encode().ljust(FIRST.met.sizeof(), b"\0"), "states": _columns(s), "crc": 0}
    values["wins"] = [{"points": k, "win": r.win, "lose": r.lose} for k, r in s.results.items()]
    raw = HEADER.build(values)[: -CRC.sizeof()]
    raw += CRC.build(zlib.crc32(raw))
    return bytes(raw.ljust(_padded(len(raw)), b"\0"))


def _columns(score: ScoreFacts) -> list[dict[str, int]]:
    """Return who is on roll and the state of the cube, of each column, as values of `COLUMN`."""
    cubes = [(state.roller, state.cube or (0, NO_CUBE)) for state in score.states]
    return [{"roller": roller, "owner": owner, "cube": value} for roller, (value, owner) in cubes]


def _score(header: Container[Any], refuse: Callable[..., HeaderError]) -> ScoreFacts:
    """Return the score of a header whose checksum is right."""
    results = {row.points: Results(row.win, row.lose) for row in header.wins}
    name = header.met.rstrip(b"\0").decode("utf-8", "replace")
    if header.flags > 3:
        raise refuse("flags", "0 to 3", header.flags)
    alike = bool(header.flags & 1)
    gammons = bool(header.flags & 2)
    digest = header.digest.hex()
    score = ScoreFacts((header.away[0], header.away[1]), header.player, name, digest, results, alike, gammons)
    problem = score.find_problem()
    if problem is not None:
        raise refuse("away", problem, "another")
    if list(header.states) != _columns(score):
        raise refuse("states", "the columns of this score", f"{header.columns} others")
    return score
