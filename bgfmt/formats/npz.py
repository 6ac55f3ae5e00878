"""NumPy's .npz archive: every kind of table, stored integers or exact float64 numbers, readable without bgfmt.

A zip archive without compression, of `bgfmt.json` and one .npy file for each array of the table, named as
`Table.arrays` names them. Members are mapped, not loaded. Every byte must belong to a member or to the directory.

member          content
bgfmt.json      {"kind", "points", "chequers", "extra"}; extra: facts that the table's file had besides numbers
NAME.npy        npy header of version 2, then the array in C order, little-endian

offset  content
0       for each member: local header (30 bytes, name, extra field), its bytes, and, with flag bit 3, a
        descriptor (signature, CRC, sizes of 4 or 8 bytes)
...     directory: 46 bytes, name and extra field for each member; 56 + 20 bytes more if 32 bits are not enough;
        22 bytes that end the file
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bgfmt.errors import BgfmtError, CorruptError, TruncatedError
from bgfmt.formats import described, records
from bgfmt.formats.base import Extent, Fault, Layout, Options, Outlet, Reading, Region
from bgfmt.formats.described import AnyTable
from bgfmt.storage import Sink, Source
from bgfmt.storage.sink import Tail, size_of
from bgfmt.storage.source import SourceFile
from bgfmt.tables import MeanRolls, Rows, Table

META = "bgfmt.json"
NPY = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|\x02\x00....)"
    rb"\{'descr': '([<|](?:[ui][1248]|f[248]))', 'fortran_order': False, 'shape': \(([0-9, ]{0,99})\), \} *\n",
    re.DOTALL,
)
LOCAL = b"PK\x03\x04"
DESCRIPTOR = b"PK\x07\x08"
END = b"PK\x05\x06"
LOCAL_SIZE = 30
DIRECTORY_SIZE = 46
END_SIZE = 22
END_64 = 56 + 20
MAX_32_BIT_SIZE = (1 << 31) - 1  # zipfile writes 64-bit fields for larger sizes
MAX_MEMBERS = 64


class Npz(AnyTable):
    name = "npz"
    title = "NumPy archive"
    suffixes = (".npz",)
    magic = LOCAL

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        found = members(source, offset, META)
        meta = found.pop(META)
        if meta.size > described.MAX_DESCRIPTION_BYTES:
            what = f"a member {META} that describes the table"
            raise CorruptError(source.name, offset, what, f"{meta.size:,} bytes")

        def refuse(expected: str, value: object) -> CorruptError:
            return CorruptError(source.name, meta.offset, expected, value)

        text = source.bytes(meta.offset, meta.size, META)
        if zlib.crc32(text) != meta.crc:
            raise refuse(f"{META} with the checksum {meta.crc:08x}", f"{zlib.crc32(text):08x}")
        arrays = {name.removesuffix(".npy"): _array(source, member) for name, member in found.items()}
        table = described.table_of(text, arrays, source, refuse)
        return Reading(table, Extent(offset, source.size - offset))

    # -- writing ----------------------------------------------------------------------------------------

    def is_default_for(self, table: Table) -> bool:
        return bool(table.arrays()) and table.exact and not isinstance(table, MeanRolls)

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        with zipfile.ZipFile(Tail(sink), "w", zipfile.ZIP_STORED) as out:  # type: ignore[call-overload]
            out.writestr(_zip_info(META), described.text_of(table))
            for name, rows in table.arrays().items():
                with out.open(_zip_info(f"{name}.npy"), "w", force_zip64=True) as member:
                    member.write(_npy_header(rows))
                    for _, block in table.blocks():
                        data = np.ascontiguousarray(block[name], _stored_dtype(rows))
                        member.write(data.reshape(-1).view(np.uint8).data)

    def takes_body(self, table: Table, options: Options) -> bool:
        return True

    @contextlib.contextmanager
    def body(self, sink: Sink, table: Table, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        self.check(table, options)
        layout = self.layout(table)
        room = sink.reserve(layout.size)
        places = {r.name: room[r.offset : r.offset + r.size] for r in layout.regions if r.numbers}
        arrays = {
            n: places[n].view(_stored_dtype(rows)).reshape(rows.shape) for n, rows in table.arrays().items()
        }
        yield arrays
        filled: Any = replace(table, **arrays)  # type: ignore[arg-type]
        self.write(filled, _FrameSink(room, layout))  # type: ignore[arg-type]

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: Table, **options: Any) -> Layout:
        arrays = table.arrays()
        heads = {name: len(_npy_header(rows)) for name, rows in arrays.items()}
        sizes = {name: prod(rows.shape) * rows.dtype.itemsize for name, rows in arrays.items()}
        named = [(META, len(described.text_of(table)), False)]
        named += [(f"{name}.npy", heads[name] + sizes[name], True) for name in arrays]
        begins, whole = archive_size(named)
        regions = [Region(f"zip header of {META}", 0, begins[0]), Region(META, begins[0], named[0][1])]
        starts = {}
        for name, begin in zip(arrays, begins[1:], strict=True):
            before = sum(r.size for r in regions)
            starts[name] = begin + heads[name]
            regions += [
                Region(f"zip header of {name}.npy", before, begin - before),
                Region(f"npy header of {name}", begin, heads[name]),
                Region(name, starts[name], sizes[name], numbers=True),
            ]
        behind = sum(r.size for r in regions)
        regions.append(Region("zip directory", behind, whole - behind))

        def place(entry: int, column: str, item: int) -> int:
            name = column or next(iter(arrays))
            rows = arrays[name]
            dtype = _stored_dtype(arrays[name])
            axes = rows.shape[table.sides :]
            return starts[name] + dtype.itemsize * (entry * prod(axes) + item)

        return Layout(b"", tuple(regions), place)

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Compare the archive, checksums (CRC) included, with what this module writes for the same numbers."""
        yield from super().audit(source, table, extent)
        for text in records.unknown(table):
            member = members(source, extent.offset)[META]
            yield Fault(member.offset, member.size, META, "what a program writes", text)


class _FrameSink:
    """Sink over reserved bytes whose numbers are already in place: writes only what is around the numbers."""

    def __init__(self, room: NDArray[np.uint8], layout: Layout) -> None:
        self.room = room
        self.layout = layout
        self.written = 0
        self.name = "<archive>"

    def write(self, data: Any) -> None:
        size = size_of(data)
        region = self.layout.region_at(self.written)
        if size and not (region is not None and region.numbers):
            self.room[self.written : self.written + size] = np.frombuffer(data, np.uint8)
        self.written += size


# -- the archive -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """Member of an archive.

    begin : offset of its local header. offset, size : its content, in bytes. end : offset after its descriptor.
    crc : CRC-32 stated in the directory.
    """

    name: str
    begin: int
    offset: int
    size: int
    end: int
    crc: int


def members(source: Source, offset: int = 0, needed: str = "") -> dict[str, Member]:
    """Return the members by name, in file order, of the archive from `offset` to the end of the source.

    needed : name of a member without which UnknownFormatError is raised.
    Raises CorruptError unless all members are uncompressed, in order, without gaps, and agree with the archive's
    directory.
    """
    if source.size - offset < END_SIZE or source.bytes(source.size - END_SIZE, 4) != END:
        raise TruncatedError(source.name, 0, source.size, "archive with its directory")
    try:
        with zipfile.ZipFile(SourceFile(source, offset)) as archive:
            infos = archive.infolist()
            start = archive.start_dir
    except BgfmtError:
        raise
    except Exception as error:  # zipfile raises many types of exception for damaged archives
        reason = str(error) or type(error).__name__
        raise CorruptError(source.name, offset, "a zip archive", reason) from None
    if len(infos) > MAX_MEMBERS:
        raise CorruptError(source.name, offset, f"at most {MAX_MEMBERS} members", len(infos))
    if needed and needed not in {info.filename for info in infos}:
        raise described.foreign_file_error(source.name, "a zip archive", f"member {needed}")
    by_name: dict[str, Member] = {}
    at = offset
    for k, info in enumerate(infos):
        follows = infos[k + 1].header_offset if k + 1 < len(infos) else start
        member = _member(source, info, offset, offset + follows)
        if member.begin != at or member.name in by_name:
            raise CorruptError(source.name, member.begin, f"member {info.filename!r} at byte {at}", "another")
        by_name[member.name] = member
        at = member.end
    _check_end(source, offset, at, offset + start, infos)
    return by_name


def _member(source: Source, info: zipfile.ZipInfo, base: int, follows: int) -> Member:
    """Return a member of the directory, checked against its local header and descriptor."""
    begin = base + info.header_offset

    def refuse(what: str, value: object) -> CorruptError:
        return CorruptError(source.name, begin, f"member {info.filename!r} {what}", value)

    if begin < base or info.file_size < 0:
        raise refuse("inside the archive", f"one at {begin}")
    if info.compress_type != zipfile.ZIP_STORED:
        raise refuse("stored plain", "it compressed: unpack the archive, and pack it again by `zip -0`")
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
        raise refuse("with its checksum and size", head[14:26].hex(" "))
    if flags & 8:
        wide = struct.pack("<4sIQQ", DESCRIPTOR, info.CRC, info.file_size, info.file_size)
        short = struct.pack("<4sIII", DESCRIPTOR, info.CRC, *[info.file_size & 0xFFFFFFFF] * 2)
        behind = wide if follows - end == len(wide) else short
        if source.bytes(end, len(behind), "archive") != behind:
            raise refuse("with its checksum and size behind it", "others")
        end += len(behind)
    return Member(info.filename, begin, offset, info.file_size, end, info.CRC)


def _check_end(source: Source, base: int, end: int, start: int, infos: list[zipfile.ZipInfo]) -> None:
    """Raise CorruptError unless the directory begins right after the last member and nothing follows it."""
    if end != start:
        raise CorruptError(source.name, end, "the archive's directory", f"{start - end} bytes before it")
    last = source.bytes(source.size - END_SIZE, END_SIZE, "archive")
    directory = sum(DIRECTORY_SIZE + len(i.filename.encode()) + len(i.extra) + len(i.comment) for i in infos)
    left = source.size - start - directory
    if last[20:] != b"\0\0" or left not in (END_SIZE, END_SIZE + END_64):
        raise CorruptError(source.name, start + directory, "the end of the archive", "more bytes")


def archive_size(sizes: Iterable[tuple[str, int, bool]]) -> tuple[list[int], int]:
    """Return the offsets of the members' contents and the archive's size, in bytes, as `zipfile` writes it in one go.

    sizes : of each member its name, its size in bytes, and whether its size fields have 64 bits regardless of its
    size.
    """
    begins = []
    at = 0
    directory = 0
    for name, size, wide in sizes:
        begin = at
        at += LOCAL_SIZE + len(name) + (20 if wide else 0)
        begins.append(at)
        at += size + (24 if wide else 16)
        large = 16 * (size > MAX_32_BIT_SIZE) + 8 * (begin > MAX_32_BIT_SIZE)
        directory += DIRECTORY_SIZE + len(name) + (4 + large if large else 0)
    far = END_64 if at > MAX_32_BIT_SIZE or directory > MAX_32_BIT_SIZE else 0
    return begins, at + directory + far + END_SIZE


# -- members ---------------------------------------------------------------------------------------------


def _zip_info(name: str) -> zipfile.ZipInfo:
    """Return the directory entry of a member, with a fixed date and system, so that equal tables give equal files."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    return info


def _stored_dtype(rows: Rows) -> np.dtype[Any]:
    """Return the little-endian form of an array's dtype."""
    return np.dtype(rows.dtype).newbyteorder("<")


def _npy_header(rows: Rows) -> bytes:
    """Return the npy header of an array."""
    out = io.BytesIO()
    shape = tuple(map(int, rows.shape))
    header = {"descr": npy.dtype_to_descr(_stored_dtype(rows)), "fortran_order": False, "shape": shape}
    npy.write_array_header_2_0(out, header)
    return out.getvalue()


def _array(source: Source, member: Member) -> NDArray[Any]:
    """Return the array of a member as a view of the source."""
    head = source.bytes(member.offset, min(member.size, 1024), member.name)
    header = NPY.match(head)
    if header is None or not member.name.endswith(".npy"):
        raise CorruptError(source.name, member.offset, "a plain array in C order", head)
    shape = tuple(int(axis) for axis in header.group(2).decode().replace(" ", "").split(",") if axis)
    dtype = np.dtype(header.group(1).decode())
    start = header.end()
    if start + prod(shape) * dtype.itemsize != member.size:
        what = f"{member.name} of shape {shape}"
        raise CorruptError(source.name, member.offset, what, f"{member.size:,} bytes")
    return source.array(dtype, shape, member.offset + start, member.name)
