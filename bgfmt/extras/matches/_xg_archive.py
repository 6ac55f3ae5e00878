"""The container of eXtreme Gammon's files: a header, zlib streams and their index."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from construct import Bytes, Const, ConstructError, Int8ub, Int32ul, Padding, Struct

from bgfmt.errors import FormatError, TruncatedError

RECORD = 2560
MOST_RECORDS = 50_000  # over 500 games
INDEX_RECORD = 532

_HEADER = Struct(
    "magic" / Const(b"RGMH"), "version" / Int32ul, "size" / Int32ul, Padding(8), "thumbnail" / Int32ul
)
_END = Struct(
    "crc" / Int32ul, "members" / Int32ul, "version" / Int32ul, "index_size" / Int32ul, "size" / Int32ul,
    "compressed" / Int32ul, Padding(12),
)  # fmt: skip
_MEMBER = Struct(
    "length" / Int8ub, "name" / Bytes(255), Padding(256), "size" / Int32ul, "stored" / Int32ul, "start" / Int32ul,
    "crc" / Int32ul, "plain" / Int8ub, Padding(3),
)  # fmt: skip


def records(data: bytes, name: str, notes: list[str]) -> Iterator[bytes]:
    """The records of temp.xg, inflated one by one; a bomb is never held in memory."""
    try:
        header = _HEADER.parse(data)
    except ConstructError:
        raise FormatError(f"{name}: byte 0: expected the header of an .xg file, found {data[:8]!r}") from None
    begin = header.size + header.thumbnail
    if header.size < 24:
        raise FormatError(f"{name}: byte 8: expected the size of the header, found {header.size}")
    if begin >= len(data):
        raise TruncatedError(name, begin + 1, len(data), "header with its picture, and what follows,")
    member = _member(data, begin, notes)
    crc, count, rest = 0, 0, b""
    for piece in _pieces(data, member or (begin, 0, 0, False), name):
        crc = zlib.crc32(piece, crc)
        rest += piece
        whole = len(rest) - len(rest) % RECORD
        for at in range(0, whole, RECORD):
            count += 1
            if count > MOST_RECORDS:
                raise FormatError(f"{name}: more than {MOST_RECORDS:,} records in it")
            yield rest[at : at + RECORD]
        rest = rest[whole:]
    if rest:
        raise FormatError(
            f"{name}: expected whole records of {RECORD} bytes, found {len(rest)} bytes after {count}"
        )
    if member is not None and crc != member[2]:
        notes.append("the checksum of the match in the archive is wrong")


def _member(data: bytes, begin: int, notes: list[str]) -> tuple[int, int, int, bool] | None:
    """Where temp.xg lies: (byte, stored size, CRC-32, stored plainly); None where there is no sound index."""
    if len(data) < begin + _END.sizeof():
        return None
    end = _END.parse(data[-_END.sizeof() :])
    index = len(data) - _END.sizeof() - end.index_size
    if end.version != 1 or index - end.size != begin or not 1 <= end.members <= 100:
        notes.append("the archive has no index; its first member is read")
        return None
    if zlib.crc32(data[begin : -_END.sizeof()]) != end.crc:
        notes.append("the checksum of the archive is wrong")
    packed = data[index : index + end.index_size]
    size = end.members * INDEX_RECORD
    try:
        entries = zlib.decompressobj().decompress(packed, size) if end.compressed else packed[:size]
    except zlib.error:
        entries = b""
    for at in range(0, len(entries) - INDEX_RECORD + 1, INDEX_RECORD):
        entry = _MEMBER.parse(entries[at : at + INDEX_RECORD])
        if entry.name[: entry.length].lower() == b"temp.xg" and entry.start < end.size:
            return begin + entry.start, entry.stored, entry.crc, bool(entry.plain)
    notes.append("the archive's index names no match; its first member is read")
    return None


def _pieces(data: bytes, member: tuple[int, int, int, bool], name: str) -> Iterator[bytes]:
    at, size, _, plain = member
    if plain:
        yield data[at : at + min(size, MOST_RECORDS * RECORD)]
        return
    stream = zlib.decompressobj()
    while not stream.eof:
        piece = stream.unconsumed_tail
        if not piece:
            piece = data[at : at + 65536]
            at += len(piece)
        if not piece:
            raise FormatError(f"{name}: byte {at}: cut short, the match's stream goes on")
        try:
            yield stream.decompress(piece, 64 * RECORD)
        except zlib.error as error:
            raise FormatError(f"{name}: byte {member[0]}: expected a zlib stream ({error})") from None
