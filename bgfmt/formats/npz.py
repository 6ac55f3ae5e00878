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
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

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
END = b"PK\x05\x06"
LOCAL_SIZE = 30
DIRECTORY_SIZE = 46
END_SIZE = 22
END_64 = 56 + 20
DESCRIPTOR_SIZES = (16, 24)  # with sizes of 4 and of 8 bytes
MAX_32_BIT_SIZE = (1 << 31) - 1  # zipfile writes 64-bit fields for larger sizes
MAX_MEMBERS = 64


class Npz(AnyTable):
    name = "npz"
    title = "NumPy archive"
    suffixes = (".npz",)
    magic = LOCAL

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        found = members(source, offset)
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
        starts = {f"zip header of {META}": 0, META: begins[0]}
        end = begins[0] + named[0][1]
        for name, begin in zip(arrays, begins[1:], strict=True):
            starts |= {f"zip header of {name}.npy": end, f"npy header of {name}": begin}
            starts[name] = begin + heads[name]
            end = starts[name] + sizes[name]
        starts["zip directory"] = end
        edges = pairwise([*starts.values(), whole])
        regions = (Region(n, a, b - a, n in arrays) for n, (a, b) in zip(starts, edges, strict=True))

        def place(entry: int, column: str, item: int) -> int:
            name = column or next(iter(arrays))
            rows = arrays[name]
            return starts[name] + rows.dtype.itemsize * (entry * prod(rows.shape[table.sides :]) + item)

        return Layout(b"", tuple(regions), place)

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """Compare the archive, checksums (CRC) included, with what this module writes for the same numbers."""
        yield from super().audit(source, table, extent)
        for text in records.unknown(table):
            member = members(source, extent.offset)[META]
            yield Fault(member.offset, member.size, META, "what a program writes", text)


@dataclass
class _FrameSink:
    """Sink over reserved bytes whose numbers are already in place: writes only what is around the numbers."""

    room: NDArray[np.uint8]
    layout: Layout
    written: int = 0
    name: str = "<archive>"

    def write(self, data: Any) -> None:
        size = size_of(data)
        region = self.layout.region_at(self.written)
        if size and not (region is not None and region.numbers):
            self.room[self.written : self.written + size] = np.frombuffer(data, np.uint8)
        self.written += size


# -- the archive -----------------------------------------------------------------------------------------


class Member(NamedTuple):
    """Member of an archive: name, offset and size in bytes of its content, and the CRC-32 of the directory."""

    name: str
    offset: int
    size: int
    crc: int


def members(source: Source, offset: int) -> dict[str, Member]:
    """Return the members by name, in file order, of the archive from `offset` to the end of the source.

    Raises UnknownFormatError without `META`, CorruptError unless all members are uncompressed, in order, and without
    gaps. `audit` checks the bytes around their contents.
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
    if META not in {info.filename for info in infos}:
        raise described.foreign_file_error(source.name, "a zip archive", f"member {META}")
    found: dict[str, Member] = {}
    begins = [info.header_offset for info in infos]
    if len(infos) > MAX_MEMBERS or begins[0] != 0:
        expected = f"an archive of at most {MAX_MEMBERS} members, the first at its beginning"
        raise CorruptError(source.name, offset, expected, f"{len(infos)} members from byte {begins[0]} on")
    for info, follows in zip(infos, [*begins[1:], start], strict=True):
        begin = offset + info.header_offset
        head = source.bytes(begin, LOCAL_SIZE, "archive")
        magic, flags, method, name_size, extra_size = struct.unpack("<4s2xHH16xHH", head)
        if (magic, flags & ~8, method) != (LOCAL, 0, zipfile.ZIP_STORED) or info.flag_bits != flags:
            what = f"member {info.filename!r} stored plain, as by `zip -0`"
            raise CorruptError(source.name, begin, what, f"method {info.compress_type}, flags {flags:#x}")
        content = begin + LOCAL_SIZE + name_size + extra_size
        rest = offset + follows - content - info.file_size
        if rest not in (DESCRIPTOR_SIZES if flags else (0,)) or info.filename in found:
            what = f"{info.file_size} bytes of member {info.filename!r}, once"
            raise CorruptError(source.name, content, what, f"{rest:+} bytes more")
        found[info.filename] = Member(info.filename, content, info.file_size, info.CRC)
    return found


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
