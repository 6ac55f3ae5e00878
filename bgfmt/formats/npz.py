"""NumPy's .npz archive: every kind of table, stored integers or exact float64 numbers, readable without bgfmt.

A zip archive, nothing compressed, of one .npy file for each array of the table (named as `Table.arrays` names
them) and `bgfmt.json`: {"kind", "points", "chequers", "extra"}. Members are mapped, not loaded.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy

from bgfmt.errors import CorruptError, FormatError, HeaderError
from bgfmt.formats.base import Extent, Format, Head
from bgfmt.game import board
from bgfmt.storage import Sink, Source
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided

KINDS: dict[str, type[Table]] = {
    k.kind: k for k in (OneSided, NormalOneSided, MeanRolls, TwoSided, Hypergammon)
}
META = "bgfmt.json"


class Npz(Format):
    name = "npz"
    title = "NumPy archive"
    suffixes = (".npz",)
    carries = tuple(KINDS.values())

    def recognise(self, head: Head) -> bool:
        return head.bytes.startswith(b"PK\x03\x04")

    def read(self, source: Source, offset: int = 0, **described: Any) -> Table:
        try:
            with zipfile.ZipFile(_Window(source, offset)) as archive:
                members = {member.filename: member for member in archive.infolist()}
                if META not in members or members[META].file_size > 1 << 16:
                    raise HeaderError(source.name, META, offset, "a member that describes the table", "none")
                meta = json.loads(archive.read(META))
                kind = KINDS[meta["kind"]]
                points, chequers = int(meta["points"]), int(meta["chequers"])
                if not (1 <= points <= 25 and 1 <= chequers <= 15):
                    raise HeaderError(source.name, META, offset, "1 to 25 points, 1 to 15 chequers", meta)
                arrays = {
                    name.removesuffix(".npy"): self._array(source, offset, member)
                    for name, member in members.items()
                    if name.endswith(".npy")
                }
        except FormatError:
            raise
        except (zipfile.BadZipFile, KeyError, ValueError, TypeError, NotImplementedError, EOFError) as error:
            raise CorruptError(
                source.name, offset, "an archive written by bgfmt", str(error) or type(error).__name__
            ) from None
        _check_shapes(source.name, kind, points, chequers, arrays)
        extra = _extra(meta.get("extra"))
        return kind(
            points=points,
            chequers=chequers,
            provenance=source.name,
            extra={**extra, "format": self.name, "extent": Extent(offset, source.size - offset)},
            release=source.release,
            **arrays,
        )

    @staticmethod
    def _array(source: Source, offset: int, member: zipfile.ZipInfo) -> Any:
        if member.compress_type != zipfile.ZIP_STORED:
            raise CorruptError(source.name, member.header_offset, "a stored member", "a compressed one")
        local = offset + member.header_offset
        sizes = np.frombuffer(source.bytes(local + 26, 4, member.filename), "<u2")
        start = local + 30 + int(sizes.sum())
        head = io.BytesIO(source.bytes(start, min(256, source.size - start), member.filename))
        version = npy.read_magic(head)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = reader(head)
        if fortran or dtype.hasobject or min(shape, default=0) < 0:
            raise CorruptError(source.name, start, "a plain array in C order", str(dtype))
        return source.array(dtype, shape, start + head.tell(), member.filename)

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        extra = {k: v for k, v in table.extra.items() if k in ("gammon_policy", "recipe", "compressed")}
        if "gnubg_header" in table.extra:  # so that a copy back repeats it, or its absence
            extra["gnubg_header"] = bytes(table.extra["gnubg_header"]).hex()
        meta = {"kind": table.kind, "points": table.points, "chequers": table.chequers, "extra": extra}
        names = list(table.arrays())
        with zipfile.ZipFile(_Tail(sink), "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
            archive.writestr(_member(META), json.dumps(meta))
            for name in names:
                rows = table.arrays()[name]
                with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                    descr = npy.dtype_to_descr(np.dtype(rows.dtype).newbyteorder("<"))
                    header = {"descr": descr, "fortran_order": False, "shape": tuple(map(int, rows.shape))}
                    npy.write_array_header_2_0(member, header)
                    for _, block in table.blocks():
                        data = np.ascontiguousarray(block[name])
                        member.write(data.reshape(-1).view(np.uint8).data)


def _extra(said: Any) -> dict[str, Any]:
    """What an archive carries beyond its numbers; anything of another kind is left out."""
    if not isinstance(said, dict):
        return {}
    out: dict[str, Any] = {k: said[k] for k in ("gammon_policy", "recipe") if isinstance(said.get(k), str)}
    if isinstance(said.get("compressed"), bool):
        out["compressed"] = said["compressed"]
    with contextlib.suppress(ValueError, TypeError):
        out["gnubg_header"] = bytes.fromhex(said["gnubg_header"]) if "gnubg_header" in said else b""
    if "gnubg_header" not in said or len(out.get("gnubg_header", b"")) not in (0, 40):
        out.pop("gnubg_header", None)
    return out


def _member(name: str) -> zipfile.ZipInfo:
    """A member with a fixed date, so that equal tables give equal files."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _check_shapes(name: str, kind: type[Table], points: int, chequers: int, arrays: dict[str, Any]) -> None:
    n = board.count(points, chequers)
    shapes: dict[str, tuple[tuple[Any, ...], ...]] = {
        "one-sided": ((n, None),),
        "normal-distribution": ((n, 4),),
        "mean-rolls": ((n,),),
        "two-sided": ((n, n, 1), (n, n, 4)),
        "hypergammon": ((n, n, 28),),
    }
    wanted = shapes[kind.kind]
    names = {
        "one-sided": ({"bearoff"}, {"bearoff", "gammon"}),
        "normal-distribution": ({"moments"},),
        "mean-rolls": ({"means"},),
        "two-sided": ({"equities"},),
        "hypergammon": ({"records"},),
    }[kind.kind]
    widths = {"one-sided": ("u2", "f8"), "normal-distribution": ("f4",), "mean-rolls": ("f8",)}
    widths |= {"two-sided": ("u2", "f8"), "hypergammon": ("u1",)}
    if set(arrays) not in names:
        raise CorruptError(name, 0, f"arrays {' and '.join(sorted(names[-1]))}", sorted(arrays))
    for label, array in arrays.items():
        fits = any(
            len(array.shape) == len(shape)
            and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
            for shape in wanted
        )
        if not fits or array.dtype.newbyteorder("=") not in [np.dtype(w) for w in widths[kind.kind]]:
            raise CorruptError(name, 0, f"{label} of shape {wanted[-1]}", f"{array.shape} {array.dtype}")
        if kind is OneSided and not 1 <= array.shape[1] <= 256:
            raise CorruptError(name, 0, f"{label} of 1 to 256 rolls", array.shape)


class _Window(io.RawIOBase):
    """A source as the seekable file that zipfile reads."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source, self._start, self._at = source, offset, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._source.size - self._start)[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        begin = min(self._start + self._at, self._source.size)
        end = self._source.size if size < 0 else min(begin + size, self._source.size)
        self._at += end - begin
        return bytes(self._source.buffer[begin:end])


class _Tail(io.RawIOBase):
    """A sink as the unseekable file that zipfile writes."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def write(self, data: Any) -> int:
        before = self._sink.written
        self._sink.write(data)
        return self._sink.written - before
