"""Writing J component files exactly as J's own library does: create, append, replace, upgrade.

A block takes the smallest power of two not below its bytes. New blocks come from the first free block that is
large enough, or from the end of the file, where they are filled with blanks; a reused block keeps what stood
behind its new bytes. Given equal nouns and calls, every byte equals the library's (version 1.0.8).

The library's own faults are refused, not repeated: a file whose header misstates its length, a directory of no
whole number of entries, an upgrade that gives back bytes still in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import HEAD, V64B, Container, Version, directory_bytes
from bgfmt.formats.j.noun import E3, Form, JType, Noun

BLANKS = b" " * (1 << 20)
AREA, DIRECTORY, FREE = 1024, 512, 256
GROUP_ENTRIES, GROUP_BYTES = 1000, 100_000
Row = tuple[int, int]


class Store(Protocol):
    """Where a file grows: `write_at` anywhere below its end, `skip` to make it longer, as a `storage.Sink`."""

    def write_at(self, offset: int, data: jn.Piece, /) -> None: ...
    def skip(self, size: int, /) -> None: ...
    def flush(self) -> None: ...


class Nowhere:
    """A store that keeps nothing, for the layout of a file alone."""

    def write_at(self, offset: int, data: jn.Piece, /) -> None:
        """Nothing is kept."""

    def skip(self, size: int, /) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing waits."""


def block_size(size: int, least: int = 1) -> int:
    """The smallest power of two that is not below `size` (nor below `least`)."""
    return 1 << (max(size, least) - 1).bit_length()


class FreeList:
    """The free blocks in memory, in the library's order."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = list(rows)

    def take(self, size: int) -> int | None:
        """Position of the front of the first block of at least `size` bytes; None when there is none."""
        for k, (position, found) in enumerate(self.rows):
            if found >= size:
                self.rows[k : k + 1] = [(position + size, found - size)] if found > size else []
                return position
        return None

    def give(self, blocks: Iterable[Row]) -> None:
        """Merge blocks with the free ones: neighbours joined, then the smallest first.

        Of two that overlap the later says where both end, even before the end of the earlier. The library's
        upgrade of small directories relies on this.
        """
        merged: list[Row] = []
        for position, size in sorted([*blocks, *self.rows]):
            if merged and position <= sum(merged[-1]):
                merged[-1] = (merged[-1][0], position + size - merged[-1][0])
            else:
                merged.append((position, size))
        self.rows = sorted(merged, key=lambda row: row[1])


class Writer:
    """A component file being made or changed.

    Parameters
    ----------
    store
        Where the bytes go; empty for `create`.
    version, form
        Directory and nouns: V64B and e3 are a 64-bit J's, V32L and e1 a 32-bit J's.
    """

    def __init__(self, store: Store, version: Version = V64B, form: Form = E3) -> None:
        self.store, self.version, self.form = store, version, form
        self.entries: list[Row] = []
        self.free = FreeList()
        self.calls = self.length = 0
        self.directory: Row = (0, 0)
        self.list_at: Row = (0, 0)
        #: called after each piece of a noun, to let go of the pages it was read from
        self.release: Callable[[], None] = lambda: None

    # -- the library's verbs ----------------------------------------------------------------------------

    @classmethod
    def create(cls, store: Store, version: Version = V64B, form: Form = E3, room: int = 0) -> Writer:
        """`room jcreate`: a file without components, its directory sized for `room` of them."""
        writer = cls(store, version, form)
        size = block_size(max(DIRECTORY, 8 * room))
        writer.directory, writer.list_at = (AREA, size), (AREA + size, FREE)
        no, length = jn.boolean(False), AREA + size + FREE
        items = [
            _atom(version.number),
            no,
            no,
            _atom(length),
            _pair(writer.directory),
            _pair(writer.list_at),
            no,
            no,
        ]
        writer._at_end(AREA, jn.encode(jn.boxes(items), form))
        writer._at_end(size, b"")
        writer._at_end(FREE, jn.encode(_table([]), form))
        store.flush()  # what is written behind must not overtake what is later written over it
        return writer

    @classmethod
    def over(cls, store: Store, file: Container, version: Version = V64B, form: Form = E3) -> Writer:
        """Go on with an existing file, upgraded first when it is of another version, as a 64-bit J would."""
        head = file.header
        if head.length != len(file.view):
            raise CapabilityError(
                f"{file.name}: the header says {head.length:,} bytes, the file has {len(file.view):,}; "
                "changing it would damage it"
            )
        if head.directory[1] % (2 * head.version.word):
            raise CapabilityError(f"{file.name}: the directory's size is no whole number of entries")
        writer = cls(store, head.version, form)
        writer.entries = [(int(p), int(s)) for p, s in file.entries]
        writer.free = FreeList(file.free_rows)
        writer.calls, writer.length = head.calls or 0, head.length
        writer.directory, writer.list_at = head.directory, head.free
        if head.version is not version:
            writer._upgrade(version, file.name)
        return writer

    def append(self, nouns: Sequence[Noun]) -> list[int]:
        """`nouns jappend`: new components at the end; their numbers."""
        new = [self._write(noun) for noun in nouns]
        self.entries += new
        entry = 2 * self.version.word
        if entry * (len(self.entries) - 1) < self.directory[1]:
            start = self.directory[0] + entry * (len(self.entries) - len(new))
            self.store.write_at(start, directory_bytes(self.version, new))
            self.store.write_at(self.list_at[0], jn.encode(_table(self.free.rows), self.form))
        else:
            self.free.give([self.directory, self.list_at])
            self._new_directory(b"")
        self._finish()
        return list(range(len(self.entries) - len(new), len(self.entries)))

    def replace(self, numbers: Sequence[int], nouns: Sequence[Noun]) -> None:
        """`nouns jreplace numbers`; nouns are repeated or cut to as many as there are numbers."""
        if len(set(numbers)) < len(numbers):
            raise CapabilityError("a component number given twice would lose the blocks of its first value")
        if not all(0 <= k < len(self.entries) for k in numbers):
            raise CapabilityError(f"component numbers lie in 0..{len(self.entries) - 1}")
        self.free.give([*(self.entries[k] for k in numbers), self.list_at])
        for i, k in enumerate(numbers):
            self.entries[k] = self._write(nouns[i % len(nouns)])
        entry = 2 * self.version.word
        for k in numbers:
            row = directory_bytes(self.version, [self.entries[k]])
            self.store.write_at(self.directory[0] + entry * k, row)
        self._new_list()
        self._finish()

    # -- inner procedures -------------------------------------------------------------------------------

    def _allocate(self, size: int) -> tuple[int, bool]:
        """A block of `size` bytes: its position, and whether it is new at the end of the file."""
        position = self.free.take(size)
        return (self.length, True) if position is None else (position, False)

    def _at_end(self, size: int, data: bytes) -> None:
        """A new block at the end, its rest blank."""
        position = self.length
        self._extend(size)
        if data:
            self.store.write_at(position, data)
        self._blank(position + len(data), position + size)

    def _extend(self, size: int) -> None:
        self.length += size
        if self.length >= 1 << (8 * self.version.word - 1):
            raise CapabilityError(f"{self.version.name} files end at 2 GiB; container=v64b has no such end")
        self.store.skip(size)

    def _blank(self, start: int, stop: int) -> None:
        for at in range(start, stop, len(BLANKS)):
            self.store.write_at(at, BLANKS[: min(len(BLANKS), stop - at)])

    def _write(self, noun: Noun) -> Row:
        measured = jn.measure(noun, self.form)
        size = block_size(measured.size)
        position, new = self._allocate(size)
        if new:
            self._extend(size)
        if isinstance(self.store, Nowhere):
            return position, size
        at = position
        for piece in jn.pieces(noun, self.form, measured):
            if len(piece):
                self.store.write_at(at, piece)
            at += len(piece) if isinstance(piece, bytes) else piece.nbytes
            if len(piece) > 1 << 16:
                self.release()
        if new:
            self._blank(at, position + size)
        return position, size

    def _new_directory(self, fill: bytes) -> None:
        """The whole directory into a block of its own, then the free list."""
        data = directory_bytes(self.version, self.entries)
        data += fill[len(data) :]
        size = block_size(len(data))
        position, new = self._allocate(size)
        self.directory = (position, size)
        if new:
            self._at_end(size, data)
        else:
            self.store.write_at(position, data)
        self._new_list()

    def _new_list(self) -> None:
        """The free list into a block that comes from the list itself."""
        size = block_size(jn.measure(_table(self.free.rows), self.form).size, FREE)
        position, new = self._allocate(size)
        self.list_at = (position, size)
        data = jn.encode(_table(self.free.rows), self.form)
        if new:
            self._at_end(size, data)
        else:
            self.store.write_at(position, data)

    def _finish(self, fill: int = 0) -> None:
        """Count the call and write the header; what stands behind it stays, unless `fill` zero bytes cover it."""
        self.calls += 1
        items = [
            _atom(self.version.number), jn.boolean(False), _atom(len(self.entries)), _atom(self.length),
            _pair(self.directory), _pair(self.list_at), _atom(self.calls),
        ]  # fmt: skip
        header = jn.encode(jn.boxes(items), self.form)
        self.store.write_at(0, header + bytes(max(0, fill - len(header))))
        self.store.flush()

    def _upgrade(self, version: Version, name: str) -> None:
        """To another version, as the library does it, unless that would give back bytes in use."""
        if not self.entries:
            raise CapabilityError(
                f"{name}: J's library cannot upgrade a {self.version.name} file without components"
            )
        self.version = version
        self.free.give([(max(HEAD, self.directory[0]), max(HEAD, self.directory[1])), self.list_at])
        for position, size in self.entries:
            for start, length in self.free.rows:
                if position < start + length and start < position + size:
                    raise CapabilityError(f"{name}: its upgrade would destroy the block at byte {position}")
        self._new_directory(bytes(HEAD))
        self._finish(HEAD)


def compact(
    nouns: Sequence[Noun],
    store: Store,
    version: Version = V64B,
    form: Form = E3,
    release: Callable[[], None] | None = None,
) -> Writer:
    """A new file of these nouns in the layout of `jdup`: a directory for all, then appends in groups.

    A group takes up to 1000 nouns and 100,000 bytes of blocks, and at least one noun. Two large nouns give the
    same bytes as `jcreate` and two `jappend`.
    """
    if not len(nouns) and version is not V64B:
        raise CapabilityError(
            f"J's library cannot go on with a {version.name} file without components; container=v64b is safe"
        )
    writer = Writer.create(store, version, form, len(nouns))
    if release is not None:
        writer.release = release
    group: list[Noun] = []
    total = 0
    for noun in nouns:
        size = block_size(jn.measure(noun, form).size)
        if group and (len(group) >= GROUP_ENTRIES or total + size > GROUP_BYTES):
            writer.append(group)
            group, total = [], 0
        group.append(noun)
        total += size
    if group:
        writer.append(group)
    return writer


def _atom(value: int) -> Noun:
    return Noun(JType.INTEGER, (), np.array(value, np.int64))


def _pair(row: Row) -> Noun:
    return jn.integers(np.array(row, np.int64))


def _table(rows: list[Row]) -> Noun:
    return jn.integers(np.array(rows, np.int64).reshape(-1, 2))
