"""Writing J component files exactly as J's own library does: create and append.

A block takes the smallest power of two not below its bytes. New blocks come from the first free block that is
large enough, or from the end of the file, where they are filled with blanks; a reused block keeps what stood
behind its new bytes. Given equal nouns and calls, every byte equals the library's (version 1.0.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.formats.base import Outlet
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import V64B, Version, directory_bytes
from bgfmt.formats.j.noun import E3, Form, Noun
from bgfmt.storage import Sink
from bgfmt.storage.sink import size_of

BLANKS = b" " * (1 << 20)
AREA = 1024
DIRECTORY = 512
FREE = 256
GROUP_ENTRIES = 1000
GROUP_BYTES = 100_000
Row = tuple[int, int]
Store = Sink | Outlet


def block_size(size: int, least: int = 1) -> int:
    """The smallest power of two that is not below `size` (nor below `least`)."""
    return 1 << (max(size, least) - 1).bit_length()


class Writer:
    """A component file that is made.

    store : where the bytes go, by `write_at` and `skip`, empty for `create`; None for the layout alone.
    version, form : directory and nouns: V64B and e3 are a 64-bit J's, V32L and e1 a 32-bit J's.
    """

    def __init__(self, store: Store | None, version: Version = V64B, form: Form = E3) -> None:
        self.store = store
        self.version = version
        self.form = form
        self.entries: list[Row] = []
        self.free: list[Row] = []  # the free blocks, in the library's order
        self.calls = self.length = 0
        self.directory: Row = (0, 0)
        self.list_at: Row = (0, 0)
        #: called after each piece of a noun, to let go of the pages it was read from
        self.release: Callable[[], None] = lambda: None

    @classmethod
    def create(cls, store: Store | None, version: Version = V64B, form: Form = E3, room: int = 0) -> Self:
        """`room jcreate`: a file without components, its directory sized for `room` of them."""
        writer = cls(store, version, form)
        size = block_size(max(DIRECTORY, 8 * room))
        writer.directory = (AREA, size)
        writer.list_at = (AREA + size, FREE)
        no = jn.boolean(False)
        length = AREA + size + FREE
        pairs = [jn.integers(row) for row in (writer.directory, writer.list_at)]
        items = [jn.integers(version.number), no, no, jn.integers(length), *pairs, no, no]
        for block, pieces in ((AREA, jn.pieces(jn.boxes(items), form)), (size, []), (FREE, writer._rows())):
            writer._place(block, pieces)
        return writer

    def append(self, nouns: Sequence[Noun]) -> None:
        """`nouns jappend`: new components at the end."""
        first = len(self.entries)
        self.entries += [self._write(noun) for noun in nouns]
        entry = 2 * self.version.word
        if entry * (len(self.entries) - 1) < self.directory[1]:
            rows = directory_bytes(self.version, self.entries[first:])
            self._put(self.directory[0] + entry * first, rows)
            self._put(self.list_at[0], next(self._rows()))
        else:
            self._give([self.directory, self.list_at])
            data = directory_bytes(self.version, self.entries)
            self.directory = self._place(block_size(len(data)), [data])
            self._new_list()
        self._finish()

    # -- inner procedures -------------------------------------------------------------------------------

    def _take(self, size: int) -> int | None:
        """Position of the front of the first free block of at least `size` bytes; None when there is none."""
        for k, (position, room) in enumerate(self.free):
            if room >= size:
                self.free[k : k + 1] = [(position + size, room - size)] if room > size else []
                return position
        return None

    def _give(self, blocks: Iterable[Row]) -> None:
        """Merge blocks with the free ones: neighbours joined, then the smallest first.

        Of two that overlap the later says where both end, even before the end of the earlier. The library's
        upgrade of small directories relies on this.
        """
        merged: list[Row] = []
        for position, size in sorted([*blocks, *self.free]):
            if merged and position <= sum(merged[-1]):
                merged[-1] = (merged[-1][0], position + size - merged[-1][0])
            else:
                merged.append((position, size))
        self.free = sorted(merged, key=lambda row: row[1])

    def _put(self, at: int, data: jn.Piece) -> None:
        if self.store is not None and len(data):
            self.store.write_at(at, data)

    def _place(self, size: int, pieces: Iterable[jn.Piece]) -> Row:
        """Pieces into a block of `size` bytes, a free one, or one at the end, whose rest is blank; the block."""
        position = self._take(size)
        new = position is None
        if position is None:
            position = self.length
            self.length = self.length + size
            if self.length >= 1 << (8 * self.version.word - 1):
                name = self.version.name
                raise CapabilityError(f"{name} files end at 2 GiB; container=v64b has no such end")
        if self.store is not None:
            if new:
                self.store.skip(size)
            at = position
            for piece in pieces:
                self._put(at, piece)
                at += size_of(piece)
                if len(piece) > 1 << 16:
                    self.release()
            for start in range(at, position + size * new, len(BLANKS)):
                self._put(start, BLANKS[: position + size - start])
        return position, size

    def _write(self, noun: Noun) -> Row:
        return self._place(block_size(jn.measure(noun, self.form)), jn.pieces(noun, self.form))

    def _rows(self) -> Iterator[bytes]:
        """The noun of the free list, as it is when the bytes are asked for."""
        yield jn.encode(jn.integers(np.array(self.free, np.int64).reshape(-1, 2)), self.form)

    def _new_list(self) -> None:
        """The free list into a block that comes from the list itself, and is no longer in it."""
        self.list_at = self._place(block_size(len(next(self._rows())), FREE), self._rows())

    def _header(self) -> bytes:
        """The header noun once something was appended."""
        values = (len(self.entries), self.length, self.directory, self.list_at, self.calls)
        items = [jn.integers(self.version.number), jn.boolean(False), *map(jn.integers, values)]
        return jn.encode(jn.boxes(items), self.form)

    def _finish(self) -> None:
        """Count the call and write the header; what stands behind it stays."""
        self.calls += 1
        self._put(0, self._header())


def groups(sizes: Iterable[int]) -> Iterator[int]:
    """How many blocks of these sizes `jdup` appends in each of its calls.

    A group takes up to 1000 blocks and 100,000 bytes, and at least one block.
    """
    members = total = 0
    for size in sizes:
        if members and (members >= GROUP_ENTRIES or total + size > GROUP_BYTES):
            yield members
            members = total = 0
        members = members + 1
        total = total + size
    if members:
        yield members


def compact(
    nouns: Sequence[Noun],
    store: Store | None,
    version: Version = V64B,
    form: Form = E3,
    release: Callable[[], None] | None = None,
) -> Writer:
    """A new file of these nouns in the layout of `jdup`: a directory for all, then appends in `groups`.

    Two large nouns give the same bytes as `jcreate` and two `jappend`.
    """
    if not len(nouns) and version is not V64B:
        empty = f"a {version.name} file without components"
        raise CapabilityError(f"J's library cannot go on with {empty}; container=v64b is safe")
    writer = Writer.create(store, version, form, len(nouns))
    if release is not None:
        writer.release = release
    start = 0
    for count in groups(block_size(jn.measure(noun, form)) for noun in nouns):
        writer.append([nouns[k] for k in range(start, start + count)])
        start += count
    return writer
