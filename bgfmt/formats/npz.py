"""NumPy's .npz archive: every kind of table, stored integers or exact float64 numbers, readable without bgfmt.

A zip archive (see `archive`), nothing compressed, of `bgfmt.json` and one .npy file for each array of the table,
named as `Table.arrays` names them. Members are mapped, not loaded.

member          content
bgfmt.json      {"kind", "points", "chequers", "extra"}; extra: what the table's file said beyond its numbers
NAME.npy        npy header of version 2, then the array in C order, little-endian
"""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bgfmt.errors import CorruptError
from bgfmt.formats import archive, described, records
from bgfmt.formats.base import Extent, Fault, Layout, Options, Outlet, Reading, Region
from bgfmt.formats.described import AnyTable
from bgfmt.storage import Sink, Source
from bgfmt.storage.sink import size_of
from bgfmt.tables import MeanRolls, Rows, Table

META = "bgfmt.json"
NPY = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|\x02\x00....)"
    rb"\{'descr': '([<|](?:[ui][1248]|f[248]))', 'fortran_order': False, 'shape': \(([0-9, ]{0,99})\), \} *\n",
    re.DOTALL,
)


class Npz(AnyTable):
    name = "npz"
    title = "NumPy archive"
    suffixes = (".npz",)
    magic = archive.LOCAL

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        members = archive.members(source, offset, META)
        meta = members.pop(META)
        if meta.size > described.MOST:
            what = f"a member {META} that describes the table"
            raise CorruptError(source.name, offset, what, f"{meta.size:,} bytes")

        def refuse(expected: str, value: object) -> CorruptError:
            return CorruptError(source.name, meta.offset, expected, value)

        text = source.bytes(meta.offset, meta.size, META)
        if zlib.crc32(text) != meta.crc:
            raise refuse(f"{META} with the sum {meta.crc:08x}", f"{zlib.crc32(text):08x}")
        arrays = {name.removesuffix(".npy"): _array(source, member) for name, member in members.items()}
        table = described.table_of(text, arrays, source, refuse)
        return Reading(table, Extent(offset, source.size - offset))

    # -- writing ----------------------------------------------------------------------------------------

    def home_of(self, table: Table) -> bool:
        return bool(table.arrays()) and table.exact and not isinstance(table, MeanRolls)

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        with zipfile.ZipFile(archive.Tail(sink), "w", zipfile.ZIP_STORED) as out:  # type: ignore[call-overload]
            out.writestr(_entry(META), described.text_of(table))
            for name, rows in table.arrays().items():
                with out.open(_entry(f"{name}.npy"), "w", force_zip64=True) as member:
                    member.write(_npy_header(rows))
                    for _, block in table.blocks():
                        data = np.ascontiguousarray(block[name], _stored(rows))
                        member.write(data.reshape(-1).view(np.uint8).data)

    def takes_body(self, table: Table, options: Options) -> bool:
        return True

    @contextlib.contextmanager
    def body(self, sink: Sink, table: Table, **options: Any) -> Iterator[dict[str, NDArray[Any]]]:
        self.check(table, options)
        layout = self.layout(table)
        room = sink.reserve(layout.size)
        places = {r.name: room[r.offset : r.offset + r.size] for r in layout.regions if r.numbers}
        arrays = {n: places[n].view(_stored(rows)).reshape(rows.shape) for n, rows in table.arrays().items()}
        yield arrays
        filled: Any = replace(table, **arrays)  # type: ignore[arg-type]
        self.write(filled, _Around(room, layout))  # type: ignore[arg-type]

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: Table, **options: Any) -> Layout:
        arrays = table.arrays()
        heads = {name: len(_npy_header(rows)) for name, rows in arrays.items()}
        sizes = {name: prod(rows.shape) * rows.dtype.itemsize for name, rows in arrays.items()}
        named = [(META, len(described.text_of(table)), False)]
        named += [(f"{name}.npy", heads[name] + sizes[name], True) for name in arrays]
        begins, whole = archive.size_of(named)
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
            rows, dtype = arrays[name], _stored(arrays[name])
            axes = rows.shape[table.sides :]
            return starts[name] + dtype.itemsize * (entry * prod(axes) + item)

        return Layout(b"", tuple(regions), place)

    def audit(self, source: Source, table: Table, extent: Extent) -> Iterator[Fault]:
        """The archive is compared with what this module writes for the same numbers, sums (CRC) included."""
        yield from super().audit(source, table, extent)
        for text in records.unknown(table):
            member = archive.members(source, extent.offset)[META]
            yield Fault(member.offset, member.size, META, "what a program writes", text)


class _Around:
    """A sink over room whose numbers are there already: takes what lies around them."""

    def __init__(self, room: NDArray[np.uint8], layout: Layout) -> None:
        self.room, self.layout, self.written, self.name = room, layout, 0, "<archive>"

    def write(self, data: Any) -> None:
        size, region = size_of(data), self.layout.region_at(self.written)
        if size and not (region is not None and region.numbers):
            self.room[self.written : self.written + size] = np.frombuffer(data, np.uint8)
        self.written += size


# -- members ---------------------------------------------------------------------------------------------


def _entry(name: str) -> zipfile.ZipInfo:
    """A member with a fixed date and system, so that equal tables give equal files."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    return info


def _stored(rows: Rows) -> np.dtype[Any]:
    """The dtype an array is stored in: little-endian."""
    return np.dtype(rows.dtype).newbyteorder("<")


def _npy_header(rows: Rows) -> bytes:
    out, shape = io.BytesIO(), tuple(map(int, rows.shape))
    header = {"descr": npy.dtype_to_descr(_stored(rows)), "fortran_order": False, "shape": shape}
    npy.write_array_header_2_0(out, header)
    return out.getvalue()


def _array(source: Source, member: archive.Member) -> NDArray[Any]:
    """The array of a member, a view."""
    head = source.bytes(member.offset, min(member.size, 1024), member.name)
    header = NPY.match(head)
    if header is None or not member.name.endswith(".npy"):
        raise CorruptError(source.name, member.offset, "a plain array in C order", repr(head[:80]))
    shape = tuple(int(axis) for axis in header.group(2).decode().replace(" ", "").split(",") if axis)
    dtype, start = np.dtype(header.group(1).decode()), header.end()
    if start + prod(shape) * dtype.itemsize != member.size:
        what = f"{member.name} of shape {shape}"
        raise CorruptError(source.name, member.offset, what, f"{member.size:,} bytes")
    return source.array(dtype, shape, member.offset + start, member.name)
