"""Zip archives of stored members, read strictly: every byte is a member's or the directory's.

offset  content
0       for each member: local header (30 bytes, name, extra field), its bytes, and, where flag bit 3 is set, a
        descriptor (signature, CRC, sizes of 4 or 8 bytes)
...     directory: 46 bytes, name and extra field for each member; where 32 bits do not do, 56 + 20 bytes more;
        22 bytes that end the file
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bgfmt.errors import BgfmtError, CorruptError, TruncatedError
from bgfmt.formats import described
from bgfmt.storage import Source
from bgfmt.storage.source import SourceFile

LOCAL, DESCRIPTOR, END = b"PK\x03\x04", b"PK\x07\x08", b"PK\x05\x06"
LOCAL_SIZE, DIRECTORY_SIZE, END_SIZE, END_64 = 30, 46, 22, 56 + 20
LARGE = (1 << 31) - 1  # beyond, zipfile writes fields of 64 bits
MOST_MEMBERS = 64


@dataclass(frozen=True)
class Member:
    """A member: where its own header, its bytes and what follows them begin, and the sum the directory has."""

    name: str
    begin: int
    offset: int
    size: int
    end: int
    crc: int


def members(source: Source, offset: int = 0, needed: str = "") -> dict[str, Member]:
    """The members of the archive that fills a source from `offset` to its end, by name, in file order.

    UnknownFormatError for an archive without the member `needed`; CorruptError unless all are stored plain, in order
    and without gaps, and agree with the directory.
    """
    if source.size - offset < END_SIZE or source.bytes(source.size - END_SIZE, 4) != END:
        raise TruncatedError(source.name, 0, source.size, "archive with its directory")
    try:
        with zipfile.ZipFile(SourceFile(source, offset)) as archive:
            infos, start = archive.infolist(), archive.start_dir
    except BgfmtError:
        raise
    except Exception as error:  # zipfile raises errors of many kinds for damaged archives
        reason = str(error) or type(error).__name__
        raise CorruptError(source.name, offset, "a zip archive", reason) from None
    if len(infos) > MOST_MEMBERS:
        raise CorruptError(source.name, offset, f"at most {MOST_MEMBERS} members", len(infos))
    if needed and needed not in {info.filename for info in infos}:
        raise described.foreign(source.name, "a zip archive", f"member {needed}")
    by_name: dict[str, Member] = {}
    at = offset
    for k, info in enumerate(infos):
        follows = infos[k + 1].header_offset if k + 1 < len(infos) else start
        member = _member(source, info, offset, offset + follows)
        if member.begin != at or member.name in by_name:
            raise CorruptError(source.name, member.begin, f"member {info.filename!r} at byte {at}", "another")
        by_name[member.name], at = member, member.end
    _check_end(source, offset, at, offset + start, infos)
    return by_name


def _member(source: Source, info: zipfile.ZipInfo, base: int, follows: int) -> Member:
    """A member as the directory has it, held against its own header and descriptor."""
    begin = base + info.header_offset

    def refuse(what: str, value: object) -> CorruptError:
        return CorruptError(source.name, begin, f"member {info.filename!r} {what}", value)

    if begin < base or info.file_size < 0:
        raise refuse("inside the archive", f"one at {begin}")
    if info.compress_type != zipfile.ZIP_STORED:
        raise refuse("stored plain", "it compressed: unpack the archive, and pack it anew by `zip -0`")
    if info.flag_bits & ~8 or info.file_size != info.compress_size:
        raise refuse("stored plain", f"flags {info.flag_bits:#x}")
    head = source.bytes(begin, LOCAL_SIZE, "archive")
    magic, flags, method, crc, packed, size, name_size, extra_size = struct.unpack("<4s2xHH4xIIIHH", head)
    offset = begin + LOCAL_SIZE + name_size + extra_size
    name = source.bytes(begin + LOCAL_SIZE, name_size, "archive")
    if (magic, flags, method) != (LOCAL, info.flag_bits, info.compress_type):
        raise refuse("as the directory has it", head[:10].hex(" "))
    if name != info.filename.encode("ascii", "replace"):
        raise refuse("by that name", repr(name))
    end = offset + info.file_size
    sums = {crc, packed, size} - {0, 0xFFFFFFFF}
    if sums - {info.CRC, info.file_size}:
        raise refuse("with its sum and size", head[14:26].hex(" "))
    if flags & 8:
        wide = struct.pack("<4sIQQ", DESCRIPTOR, info.CRC, info.file_size, info.file_size)
        short = struct.pack("<4sIII", DESCRIPTOR, info.CRC, *[info.file_size & 0xFFFFFFFF] * 2)
        behind = wide if follows - end == len(wide) else short
        if source.bytes(end, len(behind), "archive") != behind:
            raise refuse("with its sum and size behind it", "others")
        end += len(behind)
    return Member(info.filename, begin, offset, info.file_size, end, info.CRC)


def _check_end(source: Source, base: int, end: int, start: int, infos: list[zipfile.ZipInfo]) -> None:
    """The directory begins behind the last member, and nothing follows it."""
    if end != start:
        raise CorruptError(source.name, end, "the archive's directory", f"{start - end} bytes before it")
    last = source.bytes(source.size - END_SIZE, END_SIZE, "archive")
    directory = sum(DIRECTORY_SIZE + len(i.filename.encode()) + len(i.extra) + len(i.comment) for i in infos)
    left = source.size - start - directory
    if last[20:] != b"\0\0" or left not in (END_SIZE, END_SIZE + END_64):
        raise CorruptError(source.name, start + directory, "the end of the archive", "more bytes")


def size_of(sizes: Iterable[tuple[str, int, bool]]) -> tuple[list[int], int]:
    """Where the bytes of each member begin, and the size of the whole, as `zipfile` writes an archive in one go.

    sizes : name, bytes, and whether its fields have 64 bits whatever its size, of each member.
    """
    begins, at, directory = [], 0, 0
    for name, size, wide in sizes:
        begin = at
        at += LOCAL_SIZE + len(name) + (20 if wide else 0)
        begins.append(at)
        at += size + (24 if wide else 16)
        large = 16 * (size > LARGE) + 8 * (begin > LARGE)
        directory += DIRECTORY_SIZE + len(name) + (4 + large if large else 0)
    far = END_64 if at > LARGE or directory > LARGE else 0
    return begins, at + directory + far + END_SIZE


class Tail(io.RawIOBase):
    """A sink as the unseekable file that zipfile writes."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def write(self, data: Any) -> int:
        before = self._sink.written
        self._sink.write(data)
        return int(self._sink.written - before)
