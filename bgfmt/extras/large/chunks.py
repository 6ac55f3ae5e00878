"""Chunk storage in a folder, or anything that fsspec reaches: small named objects with checksums, as in a zarr v3
store.

A chunk is an array's bytes, little-endian in C order, followed by their CRC-32C, as zarr's codecs `bytes` and
`crc32c` have it. An object appears under its name whole or not at all. fsspec is imported only for an address
such as ``s3://bucket/name``; a plain path is read and written with the system's own calls.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, FormatError, TruncatedError, extra, install_hint
from bgfmt.storage import is_address, is_url, system
from bgfmt.storage.source import MemorySource, Scheme, open_regular
from bgfmt.storage.system import PathLike

Array = NDArray[Any]
Place = tuple[int, ...]  # of a chunk in the grid of its array
ROOT = "zarr.json"
CHECKSUM_BYTES = 4
MAX_METADATA_BYTES = 1 << 16
UNFINISHED_NAME = re.compile(r".+\.\d+-[0-9a-f]{8}\.part")  # a piece while it is written


class Folder:
    """Objects as files of a folder, by key, whose parts are joined with ``/``.

    FileNotFoundError for a missing one.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)

    def _name(self, key: str) -> str:
        return os.path.join(self.path, *key.split("/"))

    def read_parts(self, key: str, starts: list[int], size: int) -> list[bytes]:
        """Read `size` bytes of an object from each of the offsets `starts`; fewer where the object ends.

        key : name of the object, its parts joined with ``/``. FileNotFoundError if it does not exist.
        """
        with open(open_regular(self._name(key)), "rb", buffering=0) as file:
            return [system.read_at(file.fileno(), size, start) for start in starts]

    def read_into(self, key: str, out: memoryview) -> int:
        """Read the first bytes of an object into `out`; return how many were read.

        key : name of the object, its parts joined with ``/``. FileNotFoundError if it does not exist.
        """
        with open(open_regular(self._name(key)), "rb", buffering=0) as file:
            return system.read_into(file.fileno(), out, 0)

    def write(self, key: str, parts: list[bytes | memoryview]) -> None:
        """Write an object atomically, replacing an older one; its content is the concatenated `parts`.

        key : name of the object, its parts joined with ``/``.
        """
        name = self._name(key)
        beside = f"{name}.{os.getpid()}-{os.urandom(4).hex()}.part"
        try:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(beside, "xb", buffering=0) as file:
                at = 0
                for part in parts:
                    system.write_at(file.fileno(), memoryview(part), at)
                    at += len(part)
            os.replace(beside, name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise

    def size(self, key: str) -> int:
        """Return the size of an object in bytes, -1 if it does not exist.

        key : name of the object, its parts joined with ``/``.
        """
        try:
            return os.stat(self._name(key)).st_size
        except FileNotFoundError:
            return -1

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the size in bytes of every object whose key begins with ``prefix/``, by key; -1 if it is no file.

        Unfinished objects are left out.
        """
        pieces = (p for p in Path(self.path, prefix).rglob("*") if not UNFINISHED_NAME.fullmatch(p.name))
        found = {}
        for path in pieces:
            if path.is_symlink() or not path.is_dir():
                regular = path.is_file() and not path.is_symlink()
                found[path.relative_to(self.path).as_posix()] = path.stat().st_size if regular else -1
        return found

    def remove(self, *keys: str) -> None:
        """Remove objects, all objects in a folder ``key/``, and unfinished ones of both, then the folder if empty."""
        names = os.listdir(self.path) if os.path.isdir(self.path) else []
        for key in keys:
            for name in names:
                if name == key or (name.startswith(f"{key}.") and UNFINISHED_NAME.fullmatch(name)):
                    path = Path(self.path, name)
                    remove = shutil.rmtree if path.is_dir() and not path.is_symlink() else os.unlink
                    remove(path)
        with contextlib.suppress(OSError):  # something else is in it
            os.rmdir(self.path)

    def sweep(self) -> None:
        """Remove unfinished objects (`.part` files) left by killed writers, once every object is written."""
        for path in Path(self.path).rglob("*.part"):
            if UNFINISHED_NAME.fullmatch(path.name):
                path.unlink(missing_ok=True)


class Remote(Folder):
    """Objects at an fsspec address; `write` is as atomic as the file system's own."""

    def __init__(self, address: str) -> None:
        fsspec = extra("fsspec.core", f"{address}: stores at an address need fsspec", install_hint("cluster"))
        self.files, self.path = fsspec.url_to_fs(address)

    def _name(self, key: str) -> str:
        return f"{self.path.rstrip('/')}/{key}" if key else str(self.path)

    def read_parts(self, key: str, starts: list[int], size: int) -> list[bytes]:
        name = self._name(key)
        return [bytes(self.files.cat_file(name, start=start, end=start + size)) for start in starts]

    def read_into(self, key: str, out: memoryview) -> int:
        (data,) = self.read_parts(key, [0], len(out))
        out[: len(data)] = data
        return len(data)

    def sweep(self) -> None:
        """Do nothing: objects of an object store appear whole, so none is unfinished."""

    def write(self, key: str, parts: list[bytes | memoryview]) -> None:
        self.files.pipe_file(self._name(key), b"".join(parts))

    def size(self, key: str) -> int:
        self.files.invalidate_cache()
        name = self._name(key)
        return int(self.files.size(name)) if self.files.exists(name) else -1

    def sizes(self, prefix: str) -> dict[str, int]:
        self.files.invalidate_cache()
        top = self._name("") + "/"
        with contextlib.suppress(FileNotFoundError):
            found = self.files.find(self._name(prefix), detail=True)
            return {name[len(top) :]: int(facts["size"]) for name, facts in found.items()}
        return {}

    def remove(self, *keys: str) -> None:
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                self.files.rm(self._name(key), recursive=True)


def is_store_address(path: object) -> bool:
    """Return whether this is an address of an object store that fsspec opens, rather than a path or a web address."""
    return is_address(path) and not is_url(path)


class ChunkStore:
    """Chunks of arrays, by array name and index in the grid of chunks. Counts the bytes `read` and `written`."""

    def __init__(self, path: PathLike) -> None:
        self.name = os.fspath(path)
        self.places = Remote(self.name) if is_store_address(self.name) else Folder(self.name)
        self.read = self.written = 0

    def key(self, array: str, place: Place) -> str:
        """Return the key of a chunk, such as ``equities/c.0.2.0``: zarr's default encoding with a dot as separator.

        array, place : name of the array, and indices of the chunk in its grid.
        """
        return f"{array}/{'.'.join(['c', *map(str, place)])}"

    def write_chunk(self, array: str, place: Place, values: Array) -> int:
        """Store the numbers of a chunk with their CRC-32C; return that checksum.

        array, place : name of the array, and indices of the chunk in its grid.
        """
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
        total = crc32c(data)
        self.places.write(self.key(array, place), [data.data, total.to_bytes(CHECKSUM_BYTES, "little")])
        self.written += len(data) + CHECKSUM_BYTES
        return total

    def read_chunk(
        self, array: str, place: Place, dtype: Any, shape: tuple[int, ...], room: Array | None = None
    ) -> tuple[Array, int]:
        """Read a chunk and verify its CRC-32C; return the array and the checksum.

        Parameters
        ----------
        array, place
            Name of the array, and indices of the chunk in its grid.
        dtype, shape
            Of the chunk.
        room
            Buffer (uint8) for the data, one byte longer than the stored chunk; by default a new one.

        Raises
        ------
        TruncatedError
            If the chunk is missing or too short.
        CorruptError
            If the chunk is too long, or its checksum is wrong.
        """
        key = self.key(array, place)
        name = f"{self.name}/{key}"
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        data = np.empty(size + CHECKSUM_BYTES + 1, np.uint8) if room is None else room
        try:
            there = self.places.read_into(key, data.data)
        except FileNotFoundError:
            raise TruncatedError(name, size + CHECKSUM_BYTES, 0, "chunk") from None
        self.read += there
        if there < size + CHECKSUM_BYTES:
            raise TruncatedError(name, size + CHECKSUM_BYTES, there, "chunk")
        if there > size + CHECKSUM_BYTES:
            raise CorruptError(name, size + CHECKSUM_BYTES, "the end of the chunk", "more bytes")
        values = data[:size]
        said = int.from_bytes(data[size : size + CHECKSUM_BYTES].tobytes(), "little")
        found = crc32c(values)
        if said != found:
            raise CorruptError(name, size, f"the CRC-32C of the chunk, {found:08x}", f"{said:08x}")
        return values.view(dtype).reshape(shape), said

    def read_parts(self, array: str, place: Place, starts: list[int], size: int) -> bytes:
        """Read `size` bytes from each of the offsets `starts` of a chunk, concatenated; no checksum is verified.

        array, place : name of the array, and indices of the chunk in its grid. TruncatedError if bytes are missing.
        """
        key = self.key(array, place)
        try:
            data = b"".join(self.places.read_parts(key, starts, size))
        except FileNotFoundError:
            data = b""
        self.read += len(data)
        if len(data) < size * len(starts):
            raise TruncatedError(f"{self.name}/{key}", max(starts) + size, 0, "chunk")
        return data

    def size(self, array: str, place: Place) -> int:
        """Return the size of a stored chunk in bytes, -1 if it does not exist.

        array, place : name of the array, and indices of the chunk in its grid.
        """
        return self.places.size(self.key(array, place))

    def read_metadata(self, key: str) -> bytes:
        """Read a small object such as `zarr.json`; FileNotFoundError if it does not exist."""
        return self.places.read_parts(key, [0], MAX_METADATA_BYTES + 1)[0]


class StoreSource(MemorySource):
    """The description (`zarr.json`) of a store as a source; `store` holds the chunks that it describes."""

    def __init__(self, path: PathLike) -> None:
        self.store = ChunkStore(path)
        super().__init__(self.store.read_metadata(ROOT), os.fspath(path))
        self.path = None if is_store_address(path) else Path(path)


def open_store(path: PathLike) -> StoreSource | None:
    """Open a store of chunks; return None for a folder that is no store.

    FormatError for a folder that has arrays of a store but no `zarr.json` of its own.
    """
    if is_store_address(path) or os.path.isfile(os.path.join(path, ROOT)):
        return StoreSource(path)
    if next(Path(path).glob(f"*/{ROOT}"), None) is not None:
        raise FormatError(f"{os.fspath(path)}: not a store of chunks: it has no {ROOT}")
    return None


#: of folders, and of addresses that fsspec opens
STORE = Scheme(open_store)


def crc32c(data: Array) -> int:
    """Return the CRC-32C of uint8 values."""
    crc = extra("google_crc32c", "stores of chunks need google-crc32c", install_hint("large"))
    return int(crc.value(data))


def chunks_of(shape: tuple[int, ...], chunk: tuple[int, ...]) -> Iterator[Place]:
    """Iterate over the grid indices of all chunks, of shape `chunk`, of an array of this shape."""
    return np.ndindex(*(-(-size // step) for size, step in zip(shape, chunk, strict=True)))
