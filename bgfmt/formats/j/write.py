"""Write J component files exactly as J's own library does: create and append.

The size of a block is the smallest power of two that is enough. New blocks come from the first free block that is
large enough, or from the end of the file, where they are filled with blanks; a reused block keeps what was after its
new bytes. For equal nouns and calls, every byte equals the library's (version 1.0.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
HEADER_AREA_BYTES = 1024
MIN_DIRECTORY_BYTES = 512
FREE_LIST_BYTES = 256
MAX_GROUP_ENTRIES = 1000
MAX_GROUP_BYTES = 100_000
Row = tuple[int, int]
Store = Sink | Outlet


def block_size(size: int, least: int = 1) -> int:
    """Return the smallest power of two that is not below `size` (nor below `least`)."""
    return 1 << (max(size, least) - 1).bit_length()


@dataclass
class Writer:
    """Component file being written.

    store : sink for the bytes, by `write_at` and `skip`, empty for `create`; None to compute the layout only.
    version, form : of directory and nouns: V64B and e3 are those of a 64-bit J, V32L and e1 of a 32-bit J.
    """

    store: Store | None
    version: Version = V64B
    form: Form = E3
    entries: list[Row] = field(default_factory=list)
    free: list[Row] = field(default_factory=list)  # the free blocks, in the library's order
    calls: int = 0
    length: int = 0
    directory: Row = (0, 0)
    list_at: Row = (0, 0)
    #: called after each large piece of a noun, to release the pages it was read from
    release: Callable[[], None] = lambda: None

    @classmethod
    def create(cls, store: Store | None, version: Version = V64B, form: Form = E3, room: int = 0) -> Self:
        """Create a component file without components, as J's `room jcreate` does.

        store : sink for the bytes; None to compute the layout only. room : number of components for which the
        directory has space. version, form : of the directory and of the nouns.
        """
        writer = cls(store, version, form)
        size = block_size(max(MIN_DIRECTORY_BYTES, 8 * room))
        writer.directory = (HEADER_AREA_BYTES, size)
        writer.list_at = (HEADER_AREA_BYTES + size, FREE_LIST_BYTES)
        no = jn.boolean(False)
        length = HEADER_AREA_BYTES + size + FREE_LIST_BYTES
        pairs = [jn.integers(row) for row in (writer.directory, writer.list_at)]
        items = [jn.integers(version.number), no, no, jn.integers(length), *pairs, no, no]
        for block, pieces in (
            (HEADER_AREA_BYTES, jn.pieces(jn.boxes(items), form)),
            (size, []),
            (FREE_LIST_BYTES, writer.free_list_pieces()),
        ):
            writer._write_block(block, pieces)
        return writer

    def append(self, nouns: Sequence[Noun]) -> None:
        """Add these nouns as components at the end, as J's `nouns jappend` does."""
        first = len(self.entries)
        self.entries += [self._write_noun(noun) for noun in nouns]
        entry = self.version.dtype.itemsize
        if entry * (len(self.entries) - 1) < self.directory[1]:
            rows = directory_bytes(self.version, self.entries[first:])
            self._write_at(self.directory[0] + entry * first, rows)
            self._write_at(self.list_at[0], next(self.free_list_pieces()))
        else:
            self._release_blocks([self.directory, self.list_at])
            data = directory_bytes(self.version, self.entries)
            self.directory = self._write_block(block_size(len(data)), [data])
            self._move_free_list()
        self._write_header()

    # -- inner procedures -------------------------------------------------------------------------------

    def _take_free(self, size: int) -> int | None:
        """Return the position of the first free block of at least `size` bytes and remove its front, or None."""
        for k, (position, room) in enumerate(self.free):
            if room >= size:
                self.free[k : k + 1] = [(position + size, room - size)] if room > size else []
                return position
        return None

    def _release_blocks(self, blocks: Iterable[Row]) -> None:
        """Merge blocks with the free ones: adjacent ones are joined, then sorted by size, smallest first.

        Of two that overlap the later one determines the end of both, even before the end of the earlier. The
        library's upgrade of small directories relies on this.
        """
        merged: list[Row] = []
        for position, size in sorted([*blocks, *self.free]):
            if merged and position <= sum(merged[-1]):
                merged[-1] = (merged[-1][0], position + size - merged[-1][0])
            else:
                merged.append((position, size))
        self.free = sorted(merged, key=lambda row: row[1])

    def _write_at(self, at: int, data: jn.Piece) -> None:
        """Write data at offset `at` unless only the layout is computed."""
        if self.store is not None and len(data):
            self.store.write_at(at, data)

    def _write_block(self, size: int, pieces: Iterable[jn.Piece]) -> Row:
        """Write pieces into a free block of `size` bytes, or one at the end whose rest is blank; return the block."""
        position = self._take_free(size)
        new = position is None
        if position is None:
            position = self.length
            self.length = self.length + size
            if self.length > np.iinfo(self.version.dtype["position"]).max:
                name = self.version.name
                raise CapabilityError(f"{name} files end at 2 GiB; container=v64b has no such limit")
        if self.store is not None:
            if new:
                self.store.skip(size)
            at = position
            for piece in pieces:
                self._write_at(at, piece)
                at += size_of(piece)
                if len(piece) > 1 << 16:
                    self.release()
            for start in range(at, position + size * new, len(BLANKS)):
                self._write_at(start, BLANKS[: position + size - start])
        return position, size

    def _write_noun(self, noun: Noun) -> Row:
        """Write a noun into a new block; return the block."""
        return self._write_block(block_size(jn.measure(noun, self.form)), jn.pieces(noun, self.form))

    def free_list_pieces(self) -> Iterator[bytes]:
        """Yield the noun of the free list, as it is when the bytes are needed."""
        yield jn.encode(jn.integers(np.array(self.free, np.int64).reshape(-1, 2)), self.form)

    def _move_free_list(self) -> None:
        """Write the free list into a block taken from the list itself, which then no longer contains it."""
        size = block_size(len(next(self.free_list_pieces())), FREE_LIST_BYTES)
        self.list_at = self._write_block(size, self.free_list_pieces())

    def encode_header(self) -> bytes:
        """Return the header noun of a file to which something was appended."""
        values = (len(self.entries), self.length, self.directory, self.list_at, self.calls)
        items = [jn.integers(self.version.number), jn.boolean(False), *map(jn.integers, values)]
        return jn.encode(jn.boxes(items), self.form)

    def _write_header(self) -> None:
        """Count the call and write the header; bytes after it are left as they are."""
        self.calls += 1
        self._write_at(0, self.encode_header())


def groups(sizes: Iterable[int]) -> Iterator[int]:
    """Yield, for blocks of these sizes in bytes, how many J's `jdup` appends in each of its calls.

    A group takes up to 1000 blocks and 100,000 bytes, and at least one block.
    """
    members = total = 0
    for size in sizes:
        if members and (members >= MAX_GROUP_ENTRIES or total + size > MAX_GROUP_BYTES):
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
    room: int | None = None,
) -> Writer:
    """Write a new component file in the layout of J's `jdup`: a directory for all nouns, then appends in `groups`.

    Two large nouns give the same bytes as `jcreate` and two `jappend`.

    Parameters
    ----------
    store : sink for the bytes; None to compute the layout only
    version, form : of the directory and of the nouns
    release : called after large pieces, to release mapped pages of the source
    room : write as `room jcreate` and one `jappend` do instead
    """
    if not len(nouns) and version is not V64B:
        empty = f"a {version.name} file without components"
        raise CapabilityError(f"J's library cannot continue {empty}; container=v64b is safe")
    writer = Writer.create(store, version, form, len(nouns) if room is None else room)
    if release is not None:
        writer.release = release
    start = 0
    sizes = (block_size(jn.measure(noun, form)) for noun in nouns)
    for count in groups(sizes) if room is None else [len(nouns)]:
        writer.append([nouns[k] for k in range(start, start + count)])
        start += count
    return writer
